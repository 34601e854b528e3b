#include "run/tile_table.hpp"

#include "run/tile_loops.hpp"

namespace tutti::run {
namespace {

struct FieldTable {
    TileFunction steps[kTileSteps]{};
    CombineFunction combine[tensor::kReductionNames.size()]{};
};
constexpr FieldTable made_field_table() {
    FieldTable table;
    add_steps<Fields, Field>(table.steps);
    add_combinations<Fields, Field>(table.combine);
    return table;
}
constinit const FieldTable kFieldTable = made_field_table();

}  // namespace

std::vector<const TileTable*> tile_tables() {
    std::vector<const TileTable*> tables;
#if defined(TUTTI_AVX2_KERNELS)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        tables.push_back(&kAvx512Tiles);
    if (__builtin_cpu_supports("avx2")) tables.push_back(&kAvx2Tiles);
#endif
    tables.push_back(&kPortableTiles);
    return tables;
}

const TileTable& tile_table() {
    static const TileTable& table = *tile_tables().front();
    return table;
}

TileFunction field_step(tensor::Op op) {
    return kFieldTable.steps[static_cast<std::size_t>(op) - kFirstPointwise];
}

CombineFunction field_combine(tensor::Reduction reduction) {
    return kFieldTable.combine[static_cast<std::size_t>(reduction)];
}

}  // namespace tutti::run

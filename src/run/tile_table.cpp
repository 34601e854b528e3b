#include "run/tile_table.hpp"

#include "run/tile_loops.hpp"

namespace tutti::run {
namespace {

const TileTable& best_tiles() {
#if defined(TUTTI_AVX2_KERNELS)
    if (__builtin_cpu_supports("avx2")) return kAvx2Tiles;
#endif
    return kPortableTiles;
}

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

const TileTable& tile_table() {
    static const TileTable& table = best_tiles();
    return table;
}

TileFunction field_step(tensor::Op op) {
    return kFieldTable.steps[static_cast<std::size_t>(op) - kFirstPointwise];
}

CombineFunction field_combine(tensor::Reduction reduction) {
    return kFieldTable.combine[static_cast<std::size_t>(reduction)];
}

}  // namespace tutti::run

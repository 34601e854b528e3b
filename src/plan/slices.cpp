#include "plan/slices.hpp"

#include "core/expects.hpp"

#include <numeric>

namespace tutti::plan {

std::optional<std::int64_t> parts_per_chunk(const ExecutionPlan& plan) {
    std::int64_t parts = 1;
    const auto refine = [&](const Operation& op) {
        if (!op.slice || op.slice->parts < 1) return;
        for (const auto* operands : {&op.src, &op.dst}) {
            for (const Operand& operand : *operands) {
                const std::int64_t needed =
                    op.slice->parts / std::gcd<std::int64_t>(op.slice->parts, operand.size);
                if (parts <= kMostPartsPerChunk) parts = std::lcm<std::int64_t>(parts, needed);
            }
        }
    };
    for_each_operation(plan, refine);
    if (parts > kMostPartsPerChunk) return std::nullopt;
    return parts;
}

PartRange slice_of(const Operation& op, const Operand& operand, std::int64_t parts_per_chunk) {
    const GroupSlice slice = op.slice.value_or(GroupSlice{});
    expects(slice.parts >= 1);
    const std::int64_t count = operand.size * parts_per_chunk / slice.parts;
    return {operand.index * parts_per_chunk + slice.part * count, count};
}

}  // namespace tutti::plan

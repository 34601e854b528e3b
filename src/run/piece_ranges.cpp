#include "run/piece_ranges.hpp"

#include "run/exchange.hpp"

#include <algorithm>

namespace tutti::run {

using tensor::AxisId, tensor::Interval, tensor::Mesh, tensor::Program, tensor::Type, tensor::ValueId;

namespace {

void append(std::vector<Interval>& list, Interval range) {
    if (range.size() <= 0) return;
    if (!list.empty() && list.back().end == range.begin) {
        list.back().end = range.end;
    } else {
        list.push_back(range);
    }
}

/// The pieces of all parts that the plan's axes make of the dimension, in order.
std::vector<Interval> whole_cuts(const Mesh& mesh, const emit::PiecePlan& plan, const Type& value,
                                 std::size_t dim, std::int64_t piece) {
    Type type = value;
    for (std::size_t a = 0; a < type.layout.size(); ++a) type.layout[a] = tensor::Layout();
    for (const AxisId axis : plan.axes) type.layout[axis.index()] = tensor::Layout::sliced(dim);
    std::vector<Interval> cuts;
    for (const std::int64_t rank : group_of(mesh, plan.axes, 0)) {
        const Interval part = tensor::part(mesh, type, dim, mesh.coordinates(rank));
        append(cuts, {std::min(part.begin + piece * plan.piece, part.end),
                      std::min(part.begin + (piece + 1) * plan.piece, part.end)});
    }
    return cuts;
}

}  // namespace

PieceRanges piece_ranges(const Program& program, const std::optional<emit::PiecePlan>& cut, ValueId id,
                         std::int64_t rank, std::int64_t piece) {
    const Type& type = program[id].type;
    const std::vector<Interval> box = held_box(program.mesh(), type, program.mesh().coordinates(rank));
    const std::vector<std::int64_t> shape = sizes_of(box);
    PieceRanges ranges;
    if (!cut || !cut->has(id)) {
        ranges.count = product(shape);
        append(ranges.elements, {0, ranges.count});
        return ranges;
    }
    const std::size_t dim = cut->dim.at(id);
    ranges.dim = dim;
    std::int64_t outer = 1, inner = 1;
    for (std::size_t d = 0; d < dim; ++d) outer *= shape[d];
    for (std::size_t d = dim + 1; d < shape.size(); ++d) inner *= shape[d];
    for (const Interval whole : whole_cuts(program.mesh(), *cut, type, dim, piece)) {
        append(ranges.cuts, {std::max(whole.begin, box[dim].begin) - box[dim].begin,
                             std::min(whole.end, box[dim].end) - box[dim].begin});
    }
    for (std::int64_t row = 0; row < outer; ++row) {
        for (const Interval range : ranges.cuts) {
            const Interval elements{(row * shape[dim] + range.begin) * inner,
                                    (row * shape[dim] + range.end) * inner};
            append(ranges.elements, elements);
            ranges.count += elements.size();
        }
    }
    return ranges;
}

std::vector<Interval> share_of(std::span<const Interval> ranges, std::int64_t share, std::int64_t shares) {
    std::int64_t count = 0;
    for (const Interval range : ranges) count += range.size();
    const std::int64_t size = (count + shares - 1) / shares, begin = std::min(share * size, count),
                       end = std::min(begin + size, count);
    std::vector<Interval> own;
    std::int64_t before = 0;
    for (const Interval range : ranges) {
        append(own, {range.begin + std::clamp<std::int64_t>(begin - before, 0, range.size()),
                     range.begin + std::clamp<std::int64_t>(end - before, 0, range.size())});
        before += range.size();
    }
    return own;
}

}  // namespace tutti::run

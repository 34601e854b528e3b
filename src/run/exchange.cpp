#include "run/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::run {

using tensor::AxisId, tensor::Interval, tensor::Mesh, tensor::Op, tensor::Program, tensor::Type,
    tensor::Value, tensor::ValueId;

namespace {

using Box = std::vector<Interval>;

Box common(const Box& a, const Box& b) {
    Box result;
    for (std::size_t d = 0; d < a.size(); ++d) {
        const std::int64_t begin = std::max(a[d].begin, b[d].begin);
        result.push_back({begin, std::max(begin, std::min(a[d].end, b[d].end))});
    }
    return result;
}

/// Elements of `box`, in indices of the whole value: they lie in a part that begins at `own`, and in that of
/// another rank, which is `other`.
ExchangeSide side_of(std::int64_t rank, Box box, std::span<const std::int64_t> own, const Box& other) {
    ExchangeSide side{.rank = rank, .box = std::move(box), .strides = row_major_strides(sizes_of(other))};
    for (std::size_t d = 0; d < own.size(); ++d) {
        side.box[d] = {side.box[d].begin - own[d], side.box[d].end - own[d]};
        side.offset += (own[d] - other[d].begin) * side.strides[d];
    }
    return side;
}

/// A collective as one rank sees it.
class RankView {
  public:
    RankView(const Program& program, ValueId id, std::int64_t rank)
        : mesh_(program.mesh()),
          value_(program[id]),
          operand_(program[value_.args[0]].type),
          at_(mesh_.coordinates(rank)),
          members_(group_of(mesh_, value_.axes, rank)),
          box_(held_box(mesh_, value_.type, at_)) {}

    [[nodiscard]] std::vector<ExchangeSide> read() const {
        std::vector<ExchangeSide> sides;
        const auto take = [&](std::int64_t member) {
            const Box there = operand_box(member);
            sides.push_back(side_of(member, common(box_, there), begins_of(box_), there));
        };
        switch (value_.op) {
            case Op::BroadcastFrom:
                take(root());
                break;
            case Op::Shift:
                if (const std::int64_t from = place() - value_.by; from >= 0 && from < count())
                    take(members_[static_cast<std::size_t>(from)]);
                break;
            case Op::AllToAll:
                if (operand_.on(value_.axes.front()).is_local()) return read_parts();
                [[fallthrough]];
            default:
                std::ranges::for_each(members_, take);
        }
        return sides;
    }

    [[nodiscard]] std::vector<ExchangeSide> written() const {
        const Box own = held_box(mesh_, operand_, at_);
        std::vector<ExchangeSide> sides;
        for (const std::int64_t member : members_) {
            const Box there = held_box(mesh_, value_.type, mesh_.coordinates(member));
            sides.push_back(side_of(member, common(own, there), begins_of(own), there));
        }
        return sides;
    }

  private:
    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(members_.size()); }
    [[nodiscard]] std::int64_t place() const { return at_[value_.axes.front().index()]; }
    [[nodiscard]] Box operand_box(std::int64_t member) const {
        return held_box(mesh_, operand_, mesh_.coordinates(member));
    }
    [[nodiscard]] std::int64_t root() const {
        std::vector<std::int64_t> at = at_;
        for (const AxisId axis : value_.axes) at[axis.index()] = value_.root;
        return mesh_.rank_at(at);
    }

    /// all_to_all of values of their own: of every member the rank's part, one behind the other.
    [[nodiscard]] std::vector<ExchangeSide> read_parts() const {
        const auto split = static_cast<std::size_t>(value_.split),
                   concat = static_cast<std::size_t>(value_.concat);
        const std::int64_t part = operand_.shape[split] / count();
        std::vector<ExchangeSide> sides;
        for (std::int64_t from = 0; from < count(); ++from) {
            const std::int64_t member = members_[static_cast<std::size_t>(from)];
            const Box there = operand_box(member);
            Box box = there;
            std::vector<std::int64_t> own = begins_of(there);
            box[split] = {part * place(), part * (place() + 1)};
            own[split] = part * place();
            own[concat] -= (split == concat ? part : operand_.shape[concat]) * from;
            sides.push_back(side_of(member, std::move(box), own, there));
        }
        return sides;
    }

    const Mesh& mesh_;
    const Value& value_;
    const Type& operand_;
    std::vector<std::int64_t> at_, members_;
    Box box_;
};

void round_run(tensor::DType dtype, const Arithmetic& arithmetic, Storage storage, void* numbers,
               std::int64_t count) {
    const auto size = static_cast<std::size_t>(count);
    if (storage == Storage::Single)
        round_to(dtype, arithmetic.precision, std::span(static_cast<float*>(numbers), size));
    if (storage == Storage::Full) round_to(dtype, std::span(static_cast<double*>(numbers), size));
}

/// Calls `body(side, first, count)` for every run of neighbours among elements begin … end - 1: they begin at
/// element `first`, `at` in the side's part.
template <class Body>
void for_each_run(std::span<const std::int64_t> shape, std::span<const ExchangeSide> sides,
                  std::int64_t begin, std::int64_t end, const Body& body) {
    const std::int64_t row = shape.back();
    while (begin < end) {
        const std::int64_t column = begin % row, count = std::min(row - column, end - begin);
        for (std::size_t s = 0; s < sides.size(); ++s) {
            const ExchangeSide& side = sides[s];
            const std::int64_t low = std::max(column, side.box.back().begin),
                               high = std::min(column + count, side.box.back().end);
            std::int64_t at = side.offset + low, rest = begin / row;
            bool inside = low < high;
            for (std::size_t d = shape.size() - 1; d-- > 0 && inside;) {
                const std::int64_t index = rest % shape[d];
                rest /= shape[d];
                inside = index >= side.box[d].begin && index < side.box[d].end;
                at += index * side.strides[d];
            }
            if (inside) body(s, begin + low - column, at, high - low);
        }
        begin += count;
    }
}

}  // namespace

std::vector<Interval> held_box(const Mesh& mesh, const Type& type,
                               std::span<const std::int64_t> coordinates) {
    std::vector<Interval> box;
    for (std::size_t d = 0; d < type.rank(); ++d) box.push_back(part(mesh, type, d, coordinates));
    return box;
}

std::vector<std::int64_t> sizes_of(std::span<const Interval> box) {
    std::vector<std::int64_t> sizes;
    for (const Interval& range : box) sizes.push_back(range.size());
    return sizes;
}

std::vector<std::int64_t> begins_of(std::span<const Interval> box) {
    std::vector<std::int64_t> begins;
    for (const Interval& range : box) begins.push_back(range.begin);
    return begins;
}

std::vector<std::int64_t> group_of(const Mesh& mesh, std::span<const AxisId> axes, std::int64_t rank) {
    std::vector<std::int64_t> at = mesh.coordinates(rank), members;
    const std::int64_t size = mesh.group_size(axes);
    for (std::int64_t number = 0; number < size; ++number) {
        std::int64_t rest = number;
        for (std::size_t a = at.size(); a-- > 0;) {
            if (std::ranges::find(axes, AxisId(a)) == axes.end()) continue;
            at[a] = rest % mesh.size(AxisId(a));
            rest /= mesh.size(AxisId(a));
        }
        members.push_back(mesh.rank_at(at));
    }
    return members;
}

Exchange::Exchange(std::vector<std::int64_t> shape, std::vector<ExchangeSide> sides)
    : shape_(std::move(shape)), sides_(std::move(sides)) {
    if (shape_.empty()) {  // one element
        shape_ = {1};
        for (ExchangeSide& side : sides_) {
            side.box = {{0, 1}};
            side.strides = {1};
        }
    }
    join_dims();
}

/// Neighbouring dimensions of which every side has whole rows are one.
void Exchange::join_dims() {
    for (std::size_t d = shape_.size() - 1; d-- > 0;) {
        const std::int64_t row = shape_[d + 1];
        const bool joins =
            row > 0 && std::ranges::all_of(sides_, [&](const ExchangeSide& side) {
                return side.box[d + 1] == Interval{0, row} && side.strides[d] == side.strides[d + 1] * row;
            });
        if (!joins) continue;
        const auto after = static_cast<std::ptrdiff_t>(d) + 1;
        shape_[d] *= row;
        shape_.erase(shape_.begin() + after);
        for (ExchangeSide& side : sides_) {
            side.box[d] = {side.box[d].begin * row, side.box[d].end * row};
            side.box.erase(side.box.begin() + after);
            side.strides.erase(side.strides.begin() + after - 1);
        }
    }
}

Exchange Exchange::reading(const Program& program, ValueId collective, std::int64_t rank) {
    const Value& value = program[collective];
    const std::vector<std::int64_t> at = program.mesh().coordinates(rank);
    Exchange exchange(sizes_of(held_box(program.mesh(), value.type, at)),
                      RankView(program, collective, rank).read());
    exchange.dtype_ = value.type.dtype;
    if (value.op == Op::AllReduce || value.op == Op::ReduceScatter || value.op == Op::ReduceTo)
        exchange.reduction_ = value.reduction;
    return exchange;
}

Exchange Exchange::writing(const Program& program, ValueId collective, std::int64_t rank) {
    const Type& operand = program[program[collective].args[0]].type;
    const std::vector<std::int64_t> at = program.mesh().coordinates(rank);
    return {sizes_of(held_box(program.mesh(), operand, at)), RankView(program, collective, rank).written()};
}

std::vector<Interval> Exchange::read_of(std::size_t side, std::span<const Interval> elements) const {
    std::vector<Interval> runs;
    for (const Interval& range : elements) {
        if (range.begin >= range.end) continue;
        for_each_run(shape_, std::span(sides_).subspan(side, 1), range.begin, range.end,
                     [&](std::size_t, std::int64_t, std::int64_t at, std::int64_t count) {
                         if (!runs.empty() && runs.back().end == at) {
                             runs.back().end += count;
                         } else {
                             runs.push_back({at, at + count});
                         }
                     });
    }
    return runs;
}

void Exchange::read(std::span<const std::byte* const> others, std::byte* to, std::int64_t begin,
                    std::int64_t end, Storage storage, const Arithmetic& arithmetic) const {
    if (begin >= end) return;
    const auto bytes = static_cast<std::int64_t>(bytes_of(storage));
    if (sides_.empty())  // of a shift: nobody has anything for this rank
        std::memset(to, 0, static_cast<std::size_t>((end - begin) * bytes));
    for_each_run(shape_, sides_, begin, end,
                 [&](std::size_t side, std::int64_t first, std::int64_t at, std::int64_t count) {
                     const std::byte* const from = others[side] + at * bytes;
                     std::byte* const target = to + (first - begin) * bytes;
                     if (reduction_ && side > 0) {
                         combine(*reduction_, storage, arithmetic, target, from, count);
                     } else if (target != from) {
                         std::memcpy(target, from, static_cast<std::size_t>(count * bytes));
                     }
                 });
    if (reduction_) round_run(dtype_, arithmetic, storage, to, end - begin);
}

void Exchange::write(std::span<std::byte* const> others, const std::byte* from, std::int64_t begin,
                     std::int64_t end, Storage storage) const {
    if (begin >= end) return;
    const auto bytes = static_cast<std::int64_t>(bytes_of(storage));
    for_each_run(shape_, sides_, begin, end,
                 [&](std::size_t side, std::int64_t first, std::int64_t at, std::int64_t count) {
                     if (others[side] == nullptr) return;
                     std::byte* const target = others[side] + at * bytes;
                     const std::byte* const source = from + (first - begin) * bytes;
                     if (target != source)
                         std::memcpy(target, source, static_cast<std::size_t>(count * bytes));
                 });
}

}  // namespace tutti::run

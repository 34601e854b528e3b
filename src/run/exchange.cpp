#include "run/exchange.hpp"

#include <algorithm>

namespace tutti::run {

using tensor::AxisId, tensor::Interval, tensor::Mesh, tensor::Op, tensor::Program, tensor::Reduction,
    tensor::Type, tensor::Value, tensor::ValueId;

namespace {

using Box = std::vector<Interval>;
using Coordinates = std::vector<std::int64_t>;

/// The elements of `from`, whose first is at `from_begin`, that lie in `box`, into `to`, whose first is at
/// `to_begin`.
void place(const LocalTensor& from, std::span<const std::int64_t> from_begin, LocalTensor& to,
           std::span<const std::int64_t> to_begin, const Box& box, const Reduction* reduction,
           const Arithmetic& arithmetic) {
    if (std::ranges::any_of(box, [](const Interval& range) { return range.size() <= 0; })) return;
    const std::vector<std::int64_t> from_strides = row_major_strides(from.shape),
                                    to_strides = row_major_strides(to.shape), shape = sizes_of(box);
    std::int64_t from_offset = 0, to_offset = 0;
    for (std::size_t d = 0; d < box.size(); ++d) {
        from_offset += (box[d].begin - from_begin[d]) * from_strides[d];
        to_offset += (box[d].begin - to_begin[d]) * to_strides[d];
    }
    const std::int64_t row = shape.empty() ? 1 : shape.back();
    const std::size_t outer = shape.empty() ? 0 : shape.size() - 1;
    std::visit(
        [&](auto& target) {
            const auto& source = std::get<std::decay_t<decltype(target)>>(from.data);
            for_each_offset<2>(
                std::span(shape).first(outer),
                {std::span<const std::int64_t>(from_strides), std::span<const std::int64_t>(to_strides)},
                {from_offset, to_offset}, [&](const std::array<std::int64_t, 2>& at) {
                    if (reduction == nullptr) {
                        std::copy_n(source.data() + at[0], row, target.data() + at[1]);
                    } else {
                        combine(*reduction, from.storage(), arithmetic, target.data() + at[1],
                                source.data() + at[0], row);
                    }
                });
        },
        to.data);
}

std::vector<std::int64_t> begins(const Box& box) {
    std::vector<std::int64_t> result;
    for (const Interval& range : box) result.push_back(range.begin);
    return result;
}

Box common(const Box& a, const Box& b) {
    Box result;
    for (std::size_t d = 0; d < a.size(); ++d) {
        const std::int64_t begin = std::max(a[d].begin, b[d].begin);
        result.push_back({begin, std::max(begin, std::min(a[d].end, b[d].end))});
    }
    return result;
}

/// The members of a rank's group, in order.
std::vector<std::int64_t> group_of(const Mesh& mesh, std::span<const AxisId> axes, const Coordinates& at) {
    std::vector<std::int64_t> members;
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        const Coordinates other = mesh.coordinates(rank);
        bool same = true;
        for (std::size_t a = 0; a < at.size(); ++a)
            same = same && (other[a] == at[a] || std::ranges::find(axes, AxisId(a)) != axes.end());
        if (same) members.push_back(rank);
    }
    return members;
}

/// One collective as one rank sees it.
class RankCall {
  public:
    RankCall(const Program& program, ValueId id, std::int64_t rank, std::span<const LocalTensor* const> shown,
             const Arithmetic& arithmetic)
        : mesh_(program.mesh()),
          value_(program[id]),
          operand_(program[value_.args[0]].type),
          at_(mesh_.coordinates(rank)),
          shown_(shown),
          arithmetic_(arithmetic),
          members_(group_of(mesh_, value_.axes, at_)),
          box_(held_box(mesh_, value_.type, at_)),
          result_(value_.type.dtype, arithmetic.precision, sizes_of(box_)) {}

    LocalTensor made() {
        switch (value_.op) {
            case Op::AllReduce:
            case Op::ReduceScatter:
            case Op::ReduceTo:
                for (const std::int64_t member : members_)
                    take(member, box_, member == members_.front() ? nullptr : &value_.reduction);
                break;
            case Op::AllGather:
                for (const std::int64_t member : members_)
                    take(member, common(box_, box_of(member)), nullptr);
                break;
            case Op::BroadcastFrom:
                take(root(), box_, nullptr);
                break;
            case Op::Shift:
                if (const std::int64_t from = at_[axis()] - value_.by; from >= 0 && from < count()) {
                    take(members_[static_cast<std::size_t>(from)], box_, nullptr);
                } else {
                    fill(result_, 0, value_.type.dtype, arithmetic_);
                }
                break;
            default:
                take_from_all();
        }
        return std::move(result_);
    }

  private:
    [[nodiscard]] std::size_t axis() const { return value_.axes.front().index(); }
    [[nodiscard]] std::int64_t count() const { return mesh_.size(value_.axes.front()); }
    [[nodiscard]] Box box_of(std::int64_t member) const {
        return held_box(mesh_, operand_, mesh_.coordinates(member));
    }
    [[nodiscard]] std::int64_t root() const {
        Coordinates at = at_;
        for (const AxisId axis : value_.axes) at[axis.index()] = value_.root;
        return mesh_.rank_at(at);
    }

    void take(std::int64_t member, const Box& box, const Reduction* reduction) {
        place(*shown_[static_cast<std::size_t>(member)], begins(box_of(member)), result_, begins(box_), box,
              reduction, arithmetic_);
    }

    /// all_to_all: slices of another dimension, or the rank's part of every member's own value.
    void take_from_all() {
        if (!operand_.on(value_.axes.front()).is_local()) {
            for (const std::int64_t member : members_) take(member, common(box_, box_of(member)), nullptr);
            return;
        }
        const auto split = static_cast<std::size_t>(value_.split),
                   concat = static_cast<std::size_t>(value_.concat);
        const std::int64_t part = operand_.shape[split] / count(), length = operand_.shape[concat];
        for (std::int64_t place_in_group = 0; place_in_group < count(); ++place_in_group) {
            const std::int64_t member = members_[static_cast<std::size_t>(place_in_group)];
            Box box = box_of(member);
            std::vector<std::int64_t> to = begins(box);
            box[split] = {part * at_[axis()], part * (at_[axis()] + 1)};
            // Where an element of the member's value is in the result: both dimensions move.
            std::vector<std::int64_t> from = begins(box_of(member));
            to[split] = part * at_[axis()];
            const std::int64_t there = split == concat ? part * place_in_group : length * place_in_group;
            if (split == concat) {
                to[split] = part * at_[axis()] - there;
            } else {
                to[concat] = -there;
            }
            place(*shown_[static_cast<std::size_t>(member)], from, result_, to, box, nullptr, arithmetic_);
        }
    }

    const Mesh& mesh_;
    const Value& value_;
    const Type& operand_;
    Coordinates at_;
    std::span<const LocalTensor* const> shown_;
    Arithmetic arithmetic_;
    std::vector<std::int64_t> members_;
    Box box_;
    LocalTensor result_;
};

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

void Exchange::meet() {
    meeting_.arrive_and_wait();
    if (stopped_) throw Stopped{};
}

void Exchange::leave() {
    stopped_ = true;
    meeting_.arrive_and_drop();
}

LocalTensor Exchange::call(ValueId id, std::int64_t rank, const LocalTensor& operand,
                           const Arithmetic& arithmetic) {
    shown_[static_cast<std::size_t>(rank)] = &operand;
    meet();
    LocalTensor result = RankCall(program_, id, rank, shown_, arithmetic).made();
    round_to(program_[id].type.dtype, arithmetic.precision, result);
    meet();  // until then, others may read the operand
    return result;
}

}  // namespace tutti::run

#include "verify/tensor/rank_machine.hpp"

#include "core/error.hpp"
#include "tensor/kernels.hpp"
#include "verify/tensor/compute.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti::verify {
namespace {

using tensor::AxisId;
using tensor::Op;
using tensor::Program;
using tensor::Type;
using tensor::Value;
using tensor::ValueId;
using Coordinates = std::vector<std::int64_t>;
using Index = std::span<const std::int64_t>;

class Machine {
  public:
    Machine(const Program& program, const Arrays& inputs, const Numbers& numbers)
        : program_(program), mesh_(program.mesh()), inputs_(inputs), numbers_(numbers) {
        held_.resize(program.slots());
        for (std::int64_t rank = 0; rank < mesh_.ranks(); ++rank)
            coordinates_.push_back(mesh_.coordinates(rank));
    }

    RankResults run() {
        RankResults results;
        const tensor::Kernels kernels(program_);
        std::int64_t elements = 0;
        for (const tensor::Kernel& kernel : kernels.all()) {
            for (const ValueId id : kernel.values) {
                elements += program_[id].type.elements();
                if (elements > kMostElements / mesh_.ranks())
                    throw LimitError(fmt::format("the ranks need more than {} elements; choose smaller sizes",
                                                 kMostElements));
                execute(id);
            }
        }
        for (const ValueId id : program_.order()) {
            if (program_[id].op == Op::Update)
                results.states.push_back(
                    {program_[program_[id].args[0]].name, program_[id].type, held_[id.index()]});
        }
        for (const ValueId id : program_.outputs())
            results.outputs.push_back({program_[id].name, program_[id].type, held_[id.index()]});
        return results;
    }

  private:
    using Elements = std::vector<Element>;

    void execute(ValueId id) {
        const Value& value = program_[id];
        auto& of_rank = held_[id.index()];
        of_rank.assign(coordinates_.size(),
                       Elements(static_cast<std::size_t>(value.type.elements()), kPoison));
        if (value.op == Op::Update) {
            of_rank = held_[value.args[1].index()];
            held_[value.args[0].index()] = of_rank;  // the same storage
            return;
        }
        for (std::size_t rank = 0; rank < coordinates_.size(); ++rank) {
            if (!tensor::holds(value.type, coordinates_[rank])) continue;
            execute_on(value, rank, of_rank[rank]);
        }
    }

    void execute_on(const Value& value, std::size_t rank, Elements& out) const {
        const Box box = held_box(mesh_, value.type, coordinates_[rank]);
        switch (value.op) {
            case Op::Input:
                read(value, rank, box, out);
                break;
            case Op::AllReduce:
            case Op::ReduceScatter:
            case Op::ReduceTo:
                add_up(value, rank, box, out);
                break;
            case Op::Slice:
                copy(box, of(value, rank), value.type, out);
                break;
            case Op::AllGather:
                collect(value, rank, box, out);
                break;
            case Op::AllToAll:
                if (type(value).on(value.axes[0]).is_local()) {
                    exchange(value, rank, box, out);
                } else {
                    collect(value, rank, box, out);
                }
                break;
            case Op::BroadcastFrom: {
                Coordinates source = coordinates_[rank];
                for (const AxisId axis : value.axes) source[axis.index()] = value.root;
                copy(box, of(value, rank_at(source)), value.type, out);
                break;
            }
            case Op::Shift:
                shift(value, rank, box, out);
                break;
            case Op::Stack:
            case Op::Unstack:
                restack(value, rank, box, out);
                break;
            default: {
                std::vector<Operand> operands;
                for (const ValueId arg : value.args)
                    operands.push_back({held_[arg.index()][rank].data(), &program_[arg].type,
                                        held_box(mesh_, program_[arg].type, coordinates_[rank])});
                compute(value, operands, box, numbers_, out.data());
            }
        }
    }

    [[nodiscard]] const Type& type(const Value& value) const { return program_[value.args[0]].type; }
    [[nodiscard]] const Elements& of(const Value& value, std::size_t rank) const {
        return held_[value.args[0].index()][rank];
    }
    [[nodiscard]] std::size_t rank_at(const Coordinates& coordinates) const {
        return static_cast<std::size_t>(mesh_.rank_at(coordinates));
    }

    /// The ranks that differ from this one only on the value's axes.
    [[nodiscard]] std::vector<std::size_t> group(const Value& value, std::size_t rank) const {
        Box axes;
        for (const std::int64_t at : coordinates_[rank]) axes.push_back({at, at + 1});
        for (const AxisId axis : value.axes) axes[axis.index()] = {0, mesh_.size(axis)};
        std::vector<std::size_t> ranks;
        for_each_index(axes, [&](Index at) { ranks.push_back(static_cast<std::size_t>(mesh_.rank_at(at))); });
        return ranks;
    }

    void read(const Value& value, std::size_t rank, const Box& box, Elements& out) const {
        const Array& array = inputs_.at(value.name);
        const std::size_t begin = block_offset(mesh_, value.type, coordinates_[rank]);
        const auto strides = strides_of(value.type.shape);
        for_each_index(box, [&](Index index) {
            const std::size_t at = offset_of(index, strides);
            out[at] = array.elements[begin + at];
        });
    }

    static void copy(const Box& box, const Elements& from, const Type& type, Elements& out) {
        const auto strides = strides_of(type.shape);
        for_each_index(box, [&](Index index) {
            const std::size_t at = offset_of(index, strides);
            out[at] = from[at];
        });
    }

    void add_up(const Value& value, std::size_t rank, const Box& box, Elements& out) const {
        const std::vector<std::size_t> ranks = group(value, rank);
        const auto strides = strides_of(value.type.shape);
        for_each_index(box, [&](Index index) {
            const std::size_t at = offset_of(index, strides);
            Element sum = numbers_.nothing(value.reduction);
            for (const std::size_t other : ranks) {
                const Element x = of(value, other)[at];
                sum = sum == kPoison || x == kPoison
                          ? kPoison
                          : numbers_.combine(value.reduction, value.type.dtype, sum, x);
            }
            out[at] = sum;
        });
    }

    /// Every element from the rank of the group whose part it is in.
    void collect(const Value& value, std::size_t rank, const Box& box, Elements& out) const {
        const auto strides = strides_of(value.type.shape);
        for (const std::size_t other : group(value, rank)) {
            const Box part = held_box(mesh_, type(value), coordinates_[other]);
            Box both;
            for (std::size_t d = 0; d < box.size(); ++d)
                both.push_back({std::max(box[d].begin, part[d].begin), std::min(box[d].end, part[d].end)});
            for_each_index(both, [&](Index index) {
                const std::size_t at = offset_of(index, strides);
                out[at] = of(value, other)[at];
            });
        }
    }

    void exchange(const Value& value, std::size_t rank, const Box& box, Elements& out) const {
        const std::vector<std::size_t> ranks = group(value, rank);
        const auto split = static_cast<std::size_t>(value.split),
                   concat = static_cast<std::size_t>(value.concat);
        const auto count = static_cast<std::int64_t>(ranks.size());
        const std::int64_t own = coordinates_[rank][value.axes[0].index()];
        const std::int64_t block = value.type.shape[concat] / count;
        const auto strides = strides_of(value.type.shape), from_strides = strides_of(type(value).shape);
        for_each_index(box, [&](Index index) {
            Coordinates at(index.begin(), index.end());
            const auto sender = static_cast<std::size_t>(at[concat] / block);
            at[concat] %= block;
            at[split] += own * (type(value).shape[split] / count);
            out[offset_of(index, strides)] = of(value, ranks[sender])[offset_of(at, from_strides)];
        });
    }

    void shift(const Value& value, std::size_t rank, const Box& box, Elements& out) const {
        Coordinates source = coordinates_[rank];
        std::int64_t& stage = source[value.axes[0].index()];
        stage -= value.by;
        if (stage >= 0 && stage < mesh_.size(value.axes[0])) {
            copy(box, of(value, rank_at(source)), value.type, out);
            return;
        }
        const auto strides = strides_of(value.type.shape);
        for_each_index(box, [&](Index index) {
            out[offset_of(index, strides)] = numbers_.constant(0, value.type.dtype);
        });
    }

    /// The own part of the one is the own value of the other.
    void restack(const Value& value, std::size_t rank, const Box& box, Elements& out) const {
        const bool stacks = value.op == Op::Stack;
        const auto dim = static_cast<std::size_t>(value.dim);
        const Type& apart = stacks ? type(value) : value.type;
        const std::int64_t begin = coordinates_[rank][value.axes[0].index()] * apart.shape[dim];
        const auto strides = strides_of(value.type.shape), from_strides = strides_of(type(value).shape);
        for_each_index(box, [&](Index index) {
            Coordinates at(index.begin(), index.end());
            at[dim] += stacks ? -begin : begin;
            if (at[dim] < 0 || at[dim] >= type(value).shape[dim]) return;
            out[offset_of(index, strides)] = of(value, rank)[offset_of(at, from_strides)];
        });
    }

    const Program& program_;
    const tensor::Mesh& mesh_;
    const Arrays& inputs_;
    const Numbers& numbers_;
    std::vector<Coordinates> coordinates_{};     ///< by rank
    std::vector<std::vector<Elements>> held_{};  ///< by value and rank
};

bool agree(Element found, Element expected, const std::optional<Tolerance>& tolerance, double largest) {
    if (found == expected) return true;
    if (!tolerance || found == kPoison) return false;
    const double x = RealNumbers::number(found), y = RealNumbers::number(expected);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (std::isinf(x) || std::isinf(y)) return x == y;
    return std::abs(x - y) <= tolerance->relative * std::abs(y) + tolerance->of_largest * largest;
}

std::optional<Difference> compare(const tensor::Mesh& mesh, const RankValue& value, const Array& array,
                                  const std::optional<Tolerance>& tolerance) {
    double largest = 0;
    if (tolerance) {
        for (const Element x : array.elements) {
            if (const double size = std::abs(RealNumbers::number(x)); std::isfinite(size))
                largest = std::max(largest, size);
        }
    }
    const auto strides = strides_of(value.type.shape);
    std::optional<Difference> first;
    for (std::int64_t rank = 0; rank < mesh.ranks() && !first; ++rank) {
        const Coordinates coordinates = mesh.coordinates(rank);
        if (!tensor::holds(value.type, coordinates)) continue;
        const auto& held = value.of_rank[static_cast<std::size_t>(rank)];
        const std::size_t begin = block_offset(mesh, value.type, coordinates);
        for_each_index(held_box(mesh, value.type, coordinates), [&](Index index) {
            const std::size_t at = offset_of(index, strides);
            const Element found = held[at], expected = array.elements[begin + at];
            if (first || agree(found, expected, tolerance, largest)) return;
            first = Difference{value.name,       false, rank,    {index.begin(), index.end()},
                               found == kPoison, found, expected};
        });
    }
    return first;
}

}  // namespace

RankResults run_ranks(const Program& program, const Arrays& inputs, const Numbers& numbers) {
    return Machine(program, inputs, numbers).run();
}

std::optional<Difference> difference(const tensor::Mesh& mesh, const RankResults& ranks,
                                     const Results& meaning, const std::optional<Tolerance>& tolerance) {
    const auto other = [&](const RankValue& value, bool state) {
        return Difference{value.name, state, 0, {}, true, 0, 0};
    };
    for (std::size_t i = 0; i < ranks.outputs.size(); ++i) {
        const RankValue& output = ranks.outputs[i];
        if (i >= meaning.outputs.size() || array_shape(mesh, output.type) != meaning.outputs[i].shape)
            return other(output, false);
        if (auto found = compare(mesh, output, meaning.outputs[i], tolerance)) return found;
    }
    if (ranks.outputs.size() < meaning.outputs.size()) return Difference{"(an output that is missing)"};
    for (const RankValue& state : ranks.states) {
        const auto known = meaning.states.find(state.name);
        if (known == meaning.states.end() || array_shape(mesh, state.type) != known->second.shape)
            return other(state, true);
        if (auto found = compare(mesh, state, known->second, tolerance)) {
            found->state = true;
            return found;
        }
    }
    for (const auto& [name, unused] : meaning.states) {
        if (std::ranges::find(ranks.states, name, &RankValue::name) == ranks.states.end())
            return Difference{name, true, 0, {}, true, 0, 0};
    }
    return std::nullopt;
}

}  // namespace tutti::verify

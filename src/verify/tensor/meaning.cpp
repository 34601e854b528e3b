#include "verify/tensor/meaning.hpp"

#include "core/error.hpp"
#include "verify/tensor/compute.hpp"

#include <fmt/format.h>

#include <algorithm>

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

[[noreturn]] void refuse_size(const std::string& name) {
    throw LimitError(fmt::format("with '{}' a run needs more than {} elements; choose smaller sizes", name,
                                 kMostElements));
}

std::int64_t count_of(const std::vector<std::int64_t>& shape, const std::string& name) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
        if (size > kMostElements / count) refuse_size(name);
        count *= size;
    }
    return count;
}

class Evaluation {
  public:
    Evaluation(const Program& program, const Arrays& inputs, const Numbers& numbers)
        : program_(program), mesh_(program.mesh()), inputs_(inputs), numbers_(numbers) {
        arrays_.resize(program.slots());
    }

    Results run() {
        std::int64_t elements = 0;
        Results results;
        for (const ValueId id : program_.order()) {
            const Value& value = program_[id];
            Array& array = arrays_[id.index()];
            array.shape = array_shape(mesh_, value.type);
            const std::int64_t count = count_of(array.shape, value.name);
            elements += count;
            if (elements > kMostElements) refuse_size(value.name);
            evaluate(value, array, static_cast<std::size_t>(count));
            if (value.op == Op::Update) results.states[program_[value.args[0]].name] = array;
        }
        for (const ValueId id : program_.outputs()) results.outputs.push_back(arrays_[id.index()]);
        return results;
    }

  private:
    [[nodiscard]] const Array& array(const Value& value, std::size_t arg) const {
        return arrays_[value.args[arg].index()];
    }
    [[nodiscard]] const Type& type(const Value& value, std::size_t arg) const {
        return program_[value.args[arg]].type;
    }

    /// Calls `body` with coordinates for every array of the value; 0 on axes where it is not local.
    template <class Body>
    void for_each_block(const Type& type, const Body& body) const {
        Box axes;
        for (std::size_t a = 0; a < type.layout.size(); ++a)
            axes.push_back({0, type.layout[a].is_local() ? mesh_.axes()[a].size : 1});
        for_each_index(axes, body);
    }

    void evaluate(const Value& value, Array& array, std::size_t count) {
        switch (tensor::kind_of(value.op)) {
            case tensor::OpKind::Source:
                if (value.op == Op::Input) {
                    read(value, array, count);
                    return;
                }
                break;
            case tensor::OpKind::Update:
                array.elements = this->array(value, 1).elements;
                return;
            case tensor::OpKind::Placement:
            case tensor::OpKind::Collective:
                array.elements.resize(count);
                communicate(value, array);
                return;
            case tensor::OpKind::Pointwise:
            case tensor::OpKind::Compute:
                break;
        }
        array.elements.resize(count);
        for_each_block(value.type, [&](Index coordinates) {
            std::vector<Operand> operands;
            for (std::size_t i = 0; i < value.args.size(); ++i) {
                const Type& of = type(value, i);
                operands.push_back(
                    {this->array(value, i).elements.data() + block_offset(mesh_, of, coordinates), &of,
                     held_box(mesh_, of, coordinates)});
            }
            compute(value, operands, whole_box(value.type.shape), numbers_,
                    array.elements.data() + block_offset(mesh_, value.type, coordinates));
        });
    }

    void read(const Value& value, Array& array, std::size_t count) const {
        const auto found = inputs_.find(value.name);
        if (found == inputs_.end()) throw InputError(fmt::format("there is no input '{}'", value.name));
        if (found->second.shape != array.shape || found->second.elements.size() != count) {
            throw InputError(fmt::format("input '{}' has {} elements, expected {}", value.name,
                                         found->second.elements.size(), count));
        }
        array.elements = found->second.elements;
    }

    void communicate(const Value& value, Array& array) const {
        switch (value.op) {
            case Op::AllReduce:
            case Op::ReduceScatter:
            case Op::ReduceTo:
                add_up(value, array);
                break;
            case Op::BroadcastFrom:
                take_root(value, array);
                break;
            case Op::AllToAll:
                if (type(value, 0).on(value.axes[0]).is_local()) {
                    exchange(value, array);
                } else {
                    array.elements = this->array(value, 0).elements;
                }
                break;
            case Op::Shift:
                shift(value, array);
                break;
            case Op::Stack:
            case Op::Unstack:
                restack(value, array);
                break;
            default:  // all_gather, slice
                array.elements = this->array(value, 0).elements;
        }
    }

    [[nodiscard]] const Element* block(const Value& value, Index coordinates) const {
        return array(value, 0).elements.data() + block_offset(mesh_, type(value, 0), coordinates);
    }

    void add_up(const Value& value, Array& result) const {
        std::ranges::fill(result.elements, numbers_.nothing(value.reduction));
        const auto count = static_cast<std::size_t>(value.type.elements());
        for_each_block(type(value, 0), [&](Index coordinates) {
            const Element* from = block(value, coordinates);
            Element* to = result.elements.data() + block_offset(mesh_, value.type, coordinates);
            for (std::size_t i = 0; i < count; ++i)
                to[i] = numbers_.combine(value.reduction, value.type.dtype, to[i], from[i]);
        });
    }

    void take_root(const Value& value, Array& result) const {
        const auto count = static_cast<std::size_t>(value.type.elements());
        for_each_block(value.type, [&](Index coordinates) {
            Coordinates source(coordinates.begin(), coordinates.end());
            for (const AxisId axis : value.axes) source[axis.index()] = value.root;
            std::copy_n(block(value, source), count,
                        result.elements.data() + block_offset(mesh_, value.type, coordinates));
        });
    }

    /// Rank i's block b of the split dimension is what rank b has as its i-th along the other.
    void exchange(const Value& value, Array& result) const {
        const std::size_t axis = value.axes[0].index();
        const std::int64_t ranks = mesh_.axes()[axis].size;
        const auto split = static_cast<std::size_t>(value.split),
                   concat = static_cast<std::size_t>(value.concat);
        const Type& from = type(value, 0);
        const std::vector<std::int64_t> strides = strides_of(from.shape);
        const std::int64_t block_size = value.type.shape[concat] / ranks;
        for_each_block(value.type, [&](Index coordinates) {
            Element* to = result.elements.data() + block_offset(mesh_, value.type, coordinates);
            Coordinates source(coordinates.begin(), coordinates.end());
            for_each_index(whole_box(value.type.shape), [&](Index index) {
                Coordinates at(index.begin(), index.end());
                source[axis] = at[concat] / block_size;
                at[concat] %= block_size;
                at[split] += coordinates[axis] * (from.shape[split] / ranks);
                *to++ = block(value, source)[offset_of(at, strides)];
            });
        });
    }

    void shift(const Value& value, Array& result) const {
        const std::size_t axis = value.axes[0].index();
        const bool local = type(value, 0).on(value.axes[0]).is_local();
        const auto count = static_cast<std::size_t>(value.type.elements());
        for_each_block(value.type, [&](Index coordinates) {
            Element* to = result.elements.data() + block_offset(mesh_, value.type, coordinates);
            Coordinates source(coordinates.begin(), coordinates.end());
            source[axis] -= value.by;
            if (source[axis] < 0 || source[axis] >= mesh_.axes()[axis].size) {
                std::fill_n(to, count, numbers_.constant(0, value.type.dtype));
                return;
            }
            if (!local) source[axis] = 0;
            std::copy_n(block(value, source), count, to);
        });
    }

    /// Coordinates of the axis become the coarse part of the dimension, or the other way round.
    void restack(const Value& value, Array& result) const {
        const bool stacks = value.op == Op::Stack;
        const std::size_t axis = value.axes[0].index();
        const auto dim = static_cast<std::size_t>(value.dim);
        const Type& apart = stacks ? type(value, 0) : value.type;  // the side that is local
        const Type& joined = stacks ? value.type : type(value, 0);
        const std::int64_t size = apart.shape[dim];
        const std::vector<std::int64_t> apart_strides = strides_of(apart.shape),
                                        joined_strides = strides_of(joined.shape);
        for_each_block(apart, [&](Index coordinates) {
            const std::size_t one = block_offset(mesh_, apart, coordinates);
            const std::size_t other = block_offset(mesh_, joined, coordinates);
            for_each_index(whole_box(apart.shape), [&](Index index) {
                Coordinates at(index.begin(), index.end());
                at[dim] += coordinates[axis] * size;
                const std::size_t in_one = one + offset_of(index, apart_strides);
                const std::size_t in_other = other + offset_of(at, joined_strides);
                if (stacks) {
                    result.elements[in_other] = array(value, 0).elements[in_one];
                } else {
                    result.elements[in_one] = array(value, 0).elements[in_other];
                }
            });
        });
    }

    const Program& program_;
    const tensor::Mesh& mesh_;
    const Arrays& inputs_;
    const Numbers& numbers_;
    std::vector<Array> arrays_{};
};

}  // namespace

Arrays drawn_inputs(const Program& program, const Numbers& numbers) {
    Arrays inputs;
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        if (value.op != Op::Input) continue;
        Array& array = inputs[value.name];
        array.shape = array_shape(program.mesh(), value.type);
        const std::int64_t count = count_of(array.shape, value.name);
        for (std::int64_t i = 0; i < count; ++i)
            array.elements.push_back(numbers.drawn(value.name, i, value.type.dtype, value.positive));
    }
    return inputs;
}

Results meaning_of(const Program& program, const Arrays& inputs, const Numbers& numbers) {
    return Evaluation(program, inputs, numbers).run();
}

}  // namespace tutti::verify

#include "tests/oracle/tensor_machine.hpp"

#include <algorithm>
#include <set>

namespace tutti::oracle {
namespace {

using tensor::Layout;
using tensor::Op;
using tensor::Reduction;
using tensor::Type;
using tensor::Value;

std::size_t as_size(std::int64_t number) { return static_cast<std::size_t>(number); }

std::int64_t in_order(const std::vector<std::int64_t>& index, const std::vector<std::int64_t>& shape) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) number = number * shape[d] + index[d];
    return number;
}

std::vector<std::int64_t> out_of_order(std::int64_t number, const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t d = shape.size(); d > 0; --d) {
        index[d - 1] = number % shape[d - 1];
        number /= shape[d - 1];
    }
    return index;
}

/// The index in an operand that broadcasts to the result from the right.
std::vector<std::int64_t> right_aligned(const std::vector<std::int64_t>& index, const Type& operand) {
    std::vector<std::int64_t> own(index.end() - static_cast<std::ptrdiff_t>(operand.shape.size()),
                                  index.end());
    for (std::size_t d = 0; d < own.size(); ++d) {
        if (operand.shape[d] == 1) own[d] = 0;
    }
    return own;
}

}  // namespace

std::pair<std::int64_t, std::int64_t> TensorMachine::cut(const Type& type, std::size_t dim,
                                                         const Coordinates& rank) const {
    std::int64_t first = 0, end = type.shape[dim], part = type.shape[dim];
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (type.layout[a] != Layout::sliced(dim)) continue;
        part = part / ranks(a) + (part % ranks(a) == 0 ? 0 : 1);
        first += part * rank[a];
        end = std::min(end, first + part);
    }
    return {first, end};
}

bool TensorMachine::owns(const Type& type, const Coordinates& rank, const Index& index) const {
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (type.layout[a].is_root() && static_cast<std::int64_t>(type.layout[a].root()) != rank[a])
            return false;
    }
    for (std::size_t d = 0; d < index.size(); ++d) {
        const auto [first, end] = cut(type, d, rank);
        if (index[d] < first || index[d] >= end) return false;
    }
    return true;
}

std::vector<TensorMachine::Coordinates> TensorMachine::group(const Value& value,
                                                             const Coordinates& rank) const {
    std::vector<Coordinates> all{rank};
    for (const tensor::AxisId axis : value.axes) {
        std::vector<Coordinates> more;
        for (const Coordinates& one : all) {
            for (std::int64_t at = 0; at < ranks(axis.index()); ++at) {
                more.push_back(one);
                more.back()[axis.index()] = at;
            }
        }
        all = more;
    }
    return all;
}

TensorMachine::Maybe TensorMachine::element(bool on_ranks, tensor::ValueId id, const Coordinates& rank,
                                            const Index& index) {
    const Value& value = program_[id];
    if (on_ranks && !owns(value.type, rank, index)) return std::nullopt;
    const std::tuple key{on_ranks, id.value(), rank, index};
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const Maybe result = made(on_ranks, value, rank, index);
    known_.emplace(key, result);
    return result;
}

TensorMachine::Maybe TensorMachine::made(bool on_ranks, const Value& value, const Coordinates& rank,
                                         const Index& index) {
    const auto arg = [&](std::size_t i, const Coordinates& of, const Index& at) {
        return element(on_ranks, value.args[i], of, at);
    };
    Coordinates other = rank;
    Index at = index;
    switch (value.op) {
        case Op::Input:
            for (std::size_t a = 0; a < other.size(); ++a) {
                if (!value.type.layout[a].is_local()) other[a] = 0;
            }
            return arithmetic_.input(value, other, index);
        case Op::Constant:
        case Op::Uniform:
        case Op::Iota:
            return arithmetic_.source(value, index, in_order(index, value.type.shape));
        case Op::Update:
            return arg(1, rank, index);
        case Op::Einsum:
            return contracted(on_ranks, value, rank, index);
        case Op::Reduce:
            return reduced(on_ranks, value, rank, index);
        case Op::Transpose:
            for (std::size_t d = 0; d < at.size(); ++d) at[as_size(value.perm[d])] = index[d];
            return arg(0, rank, at);
        case Op::Broadcast: {
            const Type& from = type(value, 0);
            if (value.dims.empty()) return arg(0, rank, right_aligned(index, from));
            at.clear();
            for (std::size_t d = 0; d < from.shape.size(); ++d)
                at.push_back(from.shape[d] == 1 ? 0 : index[as_size(value.dims[d])]);
            return arg(0, rank, at);
        }
        case Op::Reshape:
            return arg(0, rank, out_of_order(in_order(index, value.type.shape), type(value, 0).shape));
        case Op::Slice:
            return arg(0, rank, index);
        case Op::AllReduce:
        case Op::ReduceScatter:
        case Op::ReduceTo:
            return total(on_ranks, value, rank, index);
        case Op::BroadcastFrom:
            for (const tensor::AxisId axis : value.axes) other[axis.index()] = value.root;
            return arg(0, other, index);
        case Op::Shift: {
            std::int64_t& stage = other[value.axes[0].index()];
            stage -= value.by;
            if (stage < 0 || stage >= ranks(value.axes[0].index())) return arithmetic_.zero(value.type.dtype);
            return arg(0, other, index);
        }
        case Op::Stack: {
            const std::int64_t size = type(value, 0).shape[as_size(value.dim)];
            if (!on_ranks) other[value.axes[0].index()] = index[as_size(value.dim)] / size;
            at[as_size(value.dim)] -= other[value.axes[0].index()] * size;
            if (at[as_size(value.dim)] < 0 || at[as_size(value.dim)] >= size) return std::nullopt;
            return arg(0, other, at);
        }
        case Op::Unstack:
            at[as_size(value.dim)] += rank[value.axes[0].index()] * value.type.shape[as_size(value.dim)];
            return arg(0, rank, at);
        case Op::AllToAll:
            if (type(value, 0).layout[value.axes[0].index()].is_local())
                return exchanged(on_ranks, value, rank, index);
            [[fallthrough]];
        case Op::AllGather:
            return on_ranks ? found_in_group(value, rank, index) : arg(0, rank, index);
        default:
            return pointwise(on_ranks, value, rank, index);
    }
}

TensorMachine::Maybe TensorMachine::pointwise(bool on_ranks, const Value& value, const Coordinates& rank,
                                              const Index& index) {
    std::vector<std::uint64_t> operands;
    for (std::size_t i = 0; i < value.args.size(); ++i) {
        const Maybe x = element(on_ranks, value.args[i], rank, right_aligned(index, type(value, i)));
        if (!x) return std::nullopt;
        operands.push_back(*x);
    }
    return arithmetic_.pointwise(value, type(value, 0).dtype, operands);
}

TensorMachine::Maybe TensorMachine::contracted(bool on_ranks, const Value& value, const Coordinates& rank,
                                               const Index& index) {
    std::vector<std::string> words(1);
    std::string result;
    for (std::size_t i = 0; i < value.spec.size(); ++i) {
        if (value.spec[i] == ',') {
            words.emplace_back();
        } else if (value.spec[i] == '-') {
            result = value.spec.substr(i + 2);
            break;
        } else {
            words.back() += value.spec[i];
        }
    }
    std::map<char, std::int64_t> at;
    for (std::size_t d = 0; d < result.size(); ++d) at[result[d]] = index[d];
    // Letters that are summed over: where every operand that the rank has in parts has this part.
    std::map<char, std::pair<std::int64_t, std::int64_t>> range;
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (std::size_t d = 0; d < words[i].size(); ++d) {
            if (at.contains(words[i][d])) continue;
            const auto own = cut(type(value, i), d, rank);
            auto& known = range.try_emplace(words[i][d], own).first->second;
            known = {std::max(known.first, own.first), std::min(known.second, own.second)};
        }
    }
    std::uint64_t sum = arithmetic_.nothing(Reduction::Sum);
    bool complete = true;
    const std::function<void(std::map<char, std::pair<std::int64_t, std::int64_t>>::const_iterator)> add =
        [&](auto letter) {
            if (letter != range.end()) {
                for (std::int64_t i = letter->second.first; i < letter->second.second; ++i) {
                    at[letter->first] = i;
                    add(std::next(letter));
                }
                return;
            }
            Maybe product;
            for (std::size_t i = 0; i < words.size() && complete; ++i) {
                Index own;
                for (const char c : words[i]) own.push_back(at[c]);
                const Maybe x = element(on_ranks, value.args[i], rank, own);
                complete = x.has_value();
                if (complete) product = product ? arithmetic_.multiply(value.type.dtype, *product, *x) : x;
            }
            if (complete) sum = arithmetic_.combine(Reduction::Sum, value.type.dtype, sum, *product);
        };
    add(range.begin());
    return complete ? Maybe(sum) : std::nullopt;
}

TensorMachine::Maybe TensorMachine::reduced(bool on_ranks, const Value& value, const Coordinates& rank,
                                            const Index& index) {
    const Type& from = type(value, 0);
    const std::set<std::int64_t> gone(value.dims.begin(), value.dims.end());
    std::vector<Index> all{{}};
    std::size_t next = 0;
    for (std::size_t d = 0; d < from.shape.size(); ++d) {
        std::vector<Index> longer;
        const bool reduces = gone.contains(static_cast<std::int64_t>(d));
        const auto [first, end] = reduces ? cut(from, d, rank) : std::pair(index[next], index[next] + 1);
        if (!reduces || value.keepdims) ++next;
        for (const Index& one : all) {
            for (std::int64_t i = first; i < end; ++i) {
                longer.push_back(one);
                longer.back().push_back(i);
            }
        }
        all = longer;
    }
    std::uint64_t sum = arithmetic_.nothing(value.reduction);
    for (const Index& one : all) {
        const Maybe x = element(on_ranks, value.args[0], rank, one);
        if (!x) return std::nullopt;
        sum = arithmetic_.combine(value.reduction, value.type.dtype, sum, *x);
    }
    return sum;
}

TensorMachine::Maybe TensorMachine::total(bool on_ranks, const Value& value, const Coordinates& rank,
                                          const Index& index) {
    std::uint64_t sum = arithmetic_.nothing(value.reduction);
    for (const Coordinates& other : group(value, rank)) {
        const Maybe x = element(on_ranks, value.args[0], other, index);
        if (!x) return std::nullopt;
        sum = arithmetic_.combine(value.reduction, value.type.dtype, sum, *x);
    }
    return sum;
}

TensorMachine::Maybe TensorMachine::found_in_group(const Value& value, const Coordinates& rank,
                                                   const Index& index) {
    for (const Coordinates& other : group(value, rank)) {
        if (const Maybe x = element(true, value.args[0], other, index)) return x;
    }
    return std::nullopt;
}

/// What a rank ends with are blocks of all ranks, joined along `concat`: of each its own block of `split`.
TensorMachine::Maybe TensorMachine::exchanged(bool on_ranks, const Value& value, const Coordinates& rank,
                                              const Index& index) {
    const std::size_t axis = value.axes[0].index();
    std::vector<std::int64_t> block = type(value, 0).shape;
    block[as_size(value.split)] /= ranks(axis);
    const std::int64_t joined = block[as_size(value.concat)];
    Coordinates sender = rank;
    sender[axis] = index[as_size(value.concat)] / joined;
    Index at = index;
    at[as_size(value.concat)] -= sender[axis] * joined;
    at[as_size(value.split)] += rank[axis] * block[as_size(value.split)];
    return element(on_ranks, value.args[0], sender, at);
}

}  // namespace tutti::oracle

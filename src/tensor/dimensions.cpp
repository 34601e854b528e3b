#include "tensor/dimensions.hpp"

#include "tensor/infer.hpp"

namespace tutti::tensor {
namespace {

std::vector<std::size_t> same_dims(std::size_t rank) {
    std::vector<std::size_t> dims(rank);
    for (std::size_t d = 0; d < rank; ++d) dims[d] = d;
    return dims;
}

std::vector<std::size_t> without(std::vector<std::size_t> dims, std::int64_t dim) {
    dims[static_cast<std::size_t>(dim)] = kNowhere;
    return dims;
}

std::vector<std::size_t> aligned_dims(const Type& operand, const Type& result) {
    std::vector<std::size_t> dims(operand.rank());
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const std::size_t to = aligned_dim(d, operand.rank(), result.rank());
        dims[d] = operand.shape[d] == result.shape[to] ? to : kNowhere;
    }
    return dims;
}

std::vector<std::size_t> lettered_dims(const EinsumSpec& spec, std::size_t arg) {
    std::vector<std::size_t> dims;
    for (const char letter : spec.operands[arg]) {
        const std::size_t to = spec.result.find(letter);
        dims.push_back(to == std::string::npos ? kNowhere : to);
    }
    return dims;
}

/// Cuts the operand along the axes that slice these letters in any operand.
void cut_by_letters(const Program& program, const Value& value, std::size_t arg, Type& type) {
    const EinsumSpec spec = parse_einsum(value.spec);
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (!type.layout[a].is_replicated()) continue;
        for (std::size_t other = 0; other < value.args.size(); ++other) {
            const Layout layout = program[value.args[other]].type.layout[a];
            if (!layout.is_sliced()) continue;
            const std::size_t dim = spec.operands[arg].find(spec.operands[other][layout.dim()]);
            if (dim != std::string::npos) type.layout[a] = Layout::sliced(dim);
        }
    }
}

}  // namespace

std::vector<std::size_t> dims_in_result(const Program& program, const Value& value, std::size_t arg) {
    const Type& operand = program[value.args[arg]].type;
    switch (value.op) {
        case Op::Einsum:
            return lettered_dims(parse_einsum(value.spec), arg);
        case Op::Reduce:
            return dims_after_reduce(value, operand.rank());
        case Op::Transpose: {
            std::vector<std::size_t> dims(operand.rank());
            for (std::size_t to = 0; to < dims.size(); ++to)
                dims[static_cast<std::size_t>(value.perm[to])] = to;
            return dims;
        }
        case Op::Broadcast: {
            std::vector<std::size_t> dims = dims_after_broadcast(value, operand.rank());
            for (std::size_t d = 0; d < dims.size(); ++d) {
                if (operand.shape[d] != value.type.shape[dims[d]]) dims[d] = kNowhere;
            }
            return dims;
        }
        case Op::Reshape: {
            const std::vector<std::size_t> dims = kept_dims(operand.shape, value.type.shape);
            return dims.empty() ? std::vector<std::size_t>(operand.rank(), kNowhere) : dims;
        }
        case Op::Stack:
        case Op::Unstack:
            return without(same_dims(operand.rank()), value.dim);
        case Op::AllToAll:
            if (!operand.on(value.axes.front()).is_local()) return same_dims(operand.rank());
            return without(without(same_dims(operand.rank()), value.split), value.concat);
        default:
            return is_pointwise(value.op) ? aligned_dims(operand, value.type) : same_dims(operand.rank());
    }
}

Type read_type(const Program& program, const Value& value, std::size_t arg) {
    Type type = program[value.args[arg]].type;
    if (value.op == Op::Einsum) {
        cut_by_letters(program, value, arg, type);
    } else if (is_pointwise(value.op)) {
        const std::vector<std::size_t> dims = aligned_dims(type, value.type);
        for (std::size_t d = 0; d < dims.size(); ++d) {
            if (dims[d] == kNowhere) continue;
            for (std::size_t a = 0; a < type.layout.size(); ++a) {
                if (type.layout[a].is_replicated() && value.type.layout[a].is_sliced(dims[d]))
                    type.layout[a] = Layout::sliced(d);
            }
        }
    }
    return type;
}

}  // namespace tutti::tensor

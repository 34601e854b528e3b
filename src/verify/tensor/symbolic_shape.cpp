#include "verify/tensor/symbolic_shape.hpp"

#include "tensor/infer.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tutti::verify {

SymbolicShapes::SymbolicShapes(const tensor::Program& program, Numbering number_of)
    : number_of_(std::move(number_of)), of_(program.slots()) {
    for (const tensor::ValueId id : program.order()) of_[id.index()] = made(program, program[id]);
}

SymbolicShape SymbolicShapes::written(const tensor::Value& value) const {
    SymbolicShape shape;
    for (const tensor::Size& size : value.shape)
        shape.push_back(size.name.empty() ? size.size : -1 - number_of_(size.name));
    return shape;
}

SymbolicShape SymbolicShapes::einsum(const tensor::Value& value) const {
    const tensor::EinsumSpec spec = tensor::parse_einsum(value.spec);
    SymbolicShape shape;
    for (const char letter : spec.result) {
        for (std::size_t i = 0; i < spec.operands.size(); ++i) {
            const std::size_t at = spec.operands[i].find(letter);
            if (at == std::string::npos) continue;
            shape.push_back((*this)[value.args[i]][at]);
            break;
        }
    }
    return shape;
}

SymbolicShape SymbolicShapes::made(const tensor::Program& program, const tensor::Value& value) const {
    switch (value.op) {
        case tensor::Op::Input:
        case tensor::Op::Constant:
        case tensor::Op::Uniform:
        case tensor::Op::Iota:
        case tensor::Op::Broadcast:
        case tensor::Op::Reshape:
            return written(value);
        case tensor::Op::Einsum:
            return einsum(value);
        case tensor::Op::Reduce: {
            const SymbolicShape& arg = (*this)[value.args[0]];
            const std::vector<std::size_t> to = tensor::dims_after_reduce(value, arg.size());
            SymbolicShape shape;
            for (std::size_t d = 0; d < to.size(); ++d) {
                if (to[d] != tensor::kNowhere) {
                    shape.push_back(arg[d]);
                } else if (value.keepdims) {
                    shape.push_back(1);
                }
            }
            return shape;
        }
        case tensor::Op::Transpose: {
            SymbolicShape shape;
            for (const std::int64_t from : value.perm)
                shape.push_back((*this)[value.args[0]][static_cast<std::size_t>(from)]);
            return shape;
        }
        // Where every rank has its own, these change sizes by the number of ranks, whatever that is here.
        case tensor::Op::Stack:
        case tensor::Op::Unstack: {
            SymbolicShape shape = (*this)[value.args[0]];
            shape[static_cast<std::size_t>(value.dim)] = kUnknownSize;
            return shape;
        }
        case tensor::Op::AllToAll: {
            SymbolicShape shape = (*this)[value.args[0]];
            if (program[value.args[0]].type.on(value.axes[0]).is_local()) {
                shape[static_cast<std::size_t>(value.split)] = kUnknownSize;
                shape[static_cast<std::size_t>(value.concat)] = kUnknownSize;
            }
            return shape;
        }
        default:
            break;
    }
    if (!tensor::is_pointwise(value.op)) return (*this)[value.args.back()];
    std::vector<const SymbolicShape*> shapes;
    for (const tensor::ValueId arg : value.args) shapes.push_back(&(*this)[arg]);
    return broadcast_shape(shapes).value_or(SymbolicShape(value.type.rank(), kUnknownSize));
}

std::optional<SymbolicShape> broadcast_shape(std::span<const SymbolicShape* const> shapes) {
    std::size_t rank = 0;
    for (const SymbolicShape* shape : shapes) rank = std::max(rank, shape->size());
    SymbolicShape result(rank, 1);
    for (const SymbolicShape* shape : shapes) {
        for (std::size_t d = 0; d < shape->size(); ++d) {
            const std::int64_t size = (*shape)[d];
            std::int64_t& known = result[tensor::aligned_dim(d, shape->size(), rank)];
            if (size == kUnknownSize || (size != 1 && known != 1 && known != size)) return std::nullopt;
            if (size != 1) known = size;
        }
    }
    return result;
}

}  // namespace tutti::verify

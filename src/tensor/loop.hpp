#pragma once

#include "tensor/program.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tutti::tensor {

/// Where an operand of a step of a loop comes from: what an earlier step made of the same element, a tensor
/// in memory, or a number.
struct LoopOperand {
    enum class Kind : std::uint8_t { Earlier, Tensor, Constant };
    Kind kind = Kind::Earlier;
    std::size_t index = 0;  ///< of the loop's steps, tensors or constants
    friend bool operator==(const LoopOperand&, const LoopOperand&) = default;
};

/// A pointwise value of a loop.
struct LoopStep {
    Op op = Op::Add;
    DType from = DType::F32;  ///< of the operands; of select: of those it chooses from
    DType to = DType::F32;
    std::vector<LoopOperand> operands{};
    std::optional<std::size_t>
        output{};  ///< none: only steps of this loop read it, and it is never in memory
    friend bool operator==(const LoopStep&, const LoopStep&) = default;
};

/// A value that the loop reads from memory, as `read`: the part that the loop's elements need of it.
struct LoopTensor {
    ValueId value{std::size_t{0}};
    Type read{};
    friend bool operator==(const LoopTensor&, const LoopTensor&) = default;
};
struct LoopConstant {
    double number = 0;
    DType dtype = DType::F32;
    friend bool operator==(const LoopConstant&, const LoopConstant&) = default;
};
struct LoopOutput {
    ValueId value{std::size_t{0}};
    DType dtype = DType::F32;
    friend bool operator==(const LoopOutput&, const LoopOutput&) = default;
};

/// Pointwise values over the same elements as one loop: what is computed for each element, without who holds
/// which elements and where they are.
struct Loop {
    Type type{};  ///< whose shape and layout all steps have
    std::vector<LoopStep> steps{};
    std::vector<LoopTensor> tensors{};  ///< each once for every part that is read of it
    std::vector<LoopConstant> constants{};
    std::vector<LoopOutput> outputs{};
    friend bool operator==(const Loop&, const Loop&) = default;
};

/// Preconditions: the values are pointwise, of the same shape and layout, each after those of them that it
/// reads. `leaves`: whether anything but these values needs a value.
[[nodiscard]] Loop loop_of(const Program& program, std::span<const ValueId> values,
                           const std::function<bool(ValueId)>& leaves);

}  // namespace tutti::tensor

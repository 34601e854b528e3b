#pragma once

#include "run/binding.hpp"
#include "run/kernels.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

namespace tutti::run {

/// The step for `elements` elements of its places, from element x on. `operands`: the addresses of its
/// operands, targets first.
inline void run_step(const Step& step, const Address* operands, const Kernels& kernels, std::size_t x,
                     std::size_t elements, std::size_t element_bytes) {
    const auto at = [&](std::size_t operand) { return operands[operand].base + x * operands[operand].scale; };
    if (step.sources == 1) {
        for (std::size_t target = 0; target < step.targets; ++target)
            std::memmove(at(target), at(step.targets), elements * element_bytes);
    } else if (step.targets == 1 && step.sources == 2) {
        kernels.reduce_two(at(0), at(1), at(2), elements);
    } else {
        constexpr std::size_t kFew = 64;
        const std::size_t count = std::size_t{step.targets} + step.sources;
        std::byte* few[kFew];
        std::vector<std::byte*> many(count > kFew ? count : 0);
        std::byte** const all = count > kFew ? many.data() : few;
        for (std::size_t operand = 0; operand < count; ++operand) all[operand] = at(operand);
        kernels.reduce(all, step.targets, all + step.targets, step.sources, elements);
    }
}

}  // namespace tutti::run

#pragma once

#include "tensor/program.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tutti::tensor {

using KernelId = Id<struct KernelTag>;  ///< a kernel of a program, by its place in the order

/// Whether the value is computed or communicated: not inputs, constants, random numbers, updates and
/// placements, which cost nothing of their own.
[[nodiscard]] bool does_work(const Value& value);

/// What is executed as one: a fused kernel, or a single value.
struct Kernel {
    std::string name{};             ///< of the fused kernel or of the value
    std::vector<ValueId> values{};  ///< in the order of the program
    bool fused = false;
};

/// Throws Refusal `cycle`, with the names on the circle, where Kernels would.
void check_kernel_order(const Program& program);

/// The kernels of a program in an order in which they can be executed: each after those that make what it
/// reads, and every reader of a state before its update, because storage is shared. Linear time.
class Kernels {
  public:
    /// Throws Refusal `cycle`, with the names on the circle, where there is no such order.
    explicit Kernels(const Program& program);

    /// In order. Single values that do no work are there too.
    [[nodiscard]] const std::vector<Kernel>& all() const { return kernels_; }
    [[nodiscard]] const Kernel& operator[](KernelId id) const { return kernels_[id.index()]; }
    [[nodiscard]] KernelId of(ValueId value) const { return of_[value.index()]; }
    /// The kernels that must be over before this one begins: they make what it reads, or read what it
    /// updates.
    [[nodiscard]] std::span<const KernelId> needs(KernelId id) const {
        return std::span(needs_).subspan(begin_[id.index()], begin_[id.index() + 1] - begin_[id.index()]);
    }
    /// By the name of a fused kernel or of a value outside them.
    [[nodiscard]] std::optional<KernelId> find(std::string_view name) const;
    /// How many kernels do work.
    [[nodiscard]] std::size_t working(const Program& program) const;

  private:
    std::vector<Kernel> kernels_;
    std::vector<KernelId> of_;        ///< by value
    std::vector<std::size_t> begin_;  ///< by kernel: where its needs_ begin
    std::vector<KernelId> needs_;
};

}  // namespace tutti::tensor

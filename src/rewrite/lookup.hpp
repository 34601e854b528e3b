#pragma once

#include "tensor/editor.hpp"
#include "tensor/program.hpp"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tutti::rewrite {

/// The value of that name. Refuses `name`.
[[nodiscard]] tensor::ValueId value_named(const tensor::Program& program, const std::string& name);
/// All of them, each once. Refuses `name`.
[[nodiscard]] std::vector<tensor::ValueId> values_named(const tensor::Program& program,
                                                        std::span<const std::string> names);
/// Refuses `axis`, also for no axis and for one named twice.
[[nodiscard]] std::vector<tensor::AxisId> axes_named(const tensor::Program& program,
                                                     std::span<const std::string> names,
                                                     const std::string& value);

/// Which kernel each value is in, and whether a kernel overlaps with others: what is there does not move.
class Grouping {
  public:
    explicit Grouping(const tensor::Program& program);
    /// The fused kernel of the value; null if it is in none.
    [[nodiscard]] const tensor::Fused* kernel_of(tensor::ValueId id) const { return kernel_of_[id.index()]; }
    /// Refuses `already-fused`, `already-overlapped`.
    void check_free(tensor::ValueId id) const;
    void check_not_overlapped(tensor::ValueId id) const;

  private:
    const tensor::Program& program_;
    std::vector<const tensor::Fused*> kernel_of_;
    std::vector<bool> overlapped_;
};

/// All users of a value, and the outputs, get another instead; the targets of updates stay.
void redirect(tensor::Editor& editor, std::span<const tensor::ValueId> users, tensor::ValueId from,
              tensor::ValueId to);

/// The program with one kernel (or call) more. Refuses `name` where the name is taken, and `cycle`.
[[nodiscard]] tensor::Program with_kernel(const tensor::Program& program, std::string name,
                                          std::span<const tensor::ValueId> values);

/// The end of every transformation: values that nothing needs go, gathers that are cut again go (cancel.hpp),
/// types are inferred, what is fused or overlapped must be as it was before, and kernels must have an order.
/// settled() does all but the typing.
[[nodiscard]] tensor::Program settled(tensor::Program changed, const tensor::Program& before);
[[nodiscard]] tensor::Program finished(tensor::Editor&& editor, const tensor::Program& before);

}  // namespace tutti::rewrite

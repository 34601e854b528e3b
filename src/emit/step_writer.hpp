#pragma once

#include "emit/pieces.hpp"
#include "tensor/kernels.hpp"
#include "tensor/program.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tutti::emit {

/// What a step returns: the outputs, and the next values of all states. Each once: a schedule can make two
/// outputs one value.
[[nodiscard]] std::vector<tensor::ValueId> results_of(const tensor::Program& program);

/// What those who write steps have in common: the order of kernels, and who reads what.
class StepWriter {
  public:
    explicit StepWriter(const tensor::Program& program);
    StepWriter(const StepWriter&) = delete;
    StepWriter& operator=(const StepWriter&) = delete;
    virtual ~StepWriter() = default;

  protected:
    /// Each kernel behind those that make what it reads, and those of an overlap together.
    void write_kernels();
    virtual void write(const tensor::Kernel& kernel) = 0;
    /// The kernels of an overlap, and how they are cut, if they are.
    virtual void write(const tensor::Overlap& overlap, std::span<const tensor::KernelId> chain,
                       const std::optional<PiecePlan>& plan) = 0;

    [[nodiscard]] bool is_output(tensor::ValueId id) const;
    [[nodiscard]] bool is_in_overlap(tensor::KernelId kernel) const {
        return chain_.contains(kernels_[kernel].name);
    }
    /// Whether anything but these values needs a value.
    [[nodiscard]] bool leaves(tensor::ValueId id, const std::set<tensor::ValueId>& among) const;
    /// The same of a value that is made in pieces, and the others that are.
    [[nodiscard]] bool leaves(tensor::ValueId id, const PiecePlan& pieces) const;
    /// Whether a step needs this input: not where it is only a state that takes its next value.
    [[nodiscard]] bool is_read(tensor::ValueId input) const;

    const tensor::Program& program_;
    const tensor::Kernels kernels_;
    const tensor::Users users_;

  private:
    void write_kernel(tensor::KernelId id);
    void write_operands(tensor::KernelId id);

    std::map<std::string, const tensor::Overlap*> chain_;  ///< by kernel
    std::vector<bool> written_;                            ///< by kernel
};

}  // namespace tutti::emit

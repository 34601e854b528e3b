#pragma once

#include "emit/cpp_names.hpp"
#include "emit/step_writer.hpp"
#include "tensor/program.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tutti::emit {

/// The type in which elements are in memory: "f32", "stored_f16".
[[nodiscard]] std::string cuda_stored(tensor::DType dtype);

/// Writes the body of `step`, and the kernels that it calls.
class CudaStep final : StepWriter {
  public:
    explicit CudaStep(const tensor::Program& program);

    /// All statements, four spaces in. Call once; then kernels() and groups() are complete.
    [[nodiscard]] std::string text();
    [[nodiscard]] const std::string& kernels() const { return kernels_text_; }
    /// The axes of each group whose ranks communicate.
    [[nodiscard]] const std::set<std::string>& groups() const { return groups_; }
    [[nodiscard]] const std::string& name(tensor::ValueId id) const { return names_[id.index()]; }

  private:
    void line(const std::string& text) { text_ += indent_ + text + "\n"; }

    void write(const tensor::Kernel& kernel) override;
    /// Values of one kernel, in order: pointwise ones become loops, with the reductions that end them, and
    /// collectives that follow each other become one call.
    void write_values(std::span<const tensor::ValueId> values, const std::string& kernel);
    void write_value(tensor::ValueId id);

    // cuda_loop.cpp
    void write_loop(std::span<const tensor::ValueId> loop, std::span<const tensor::ValueId> totals,
                    const std::string& kernel);

    // cuda_overlap.cpp
    void write(const tensor::Overlap& overlap, std::span<const tensor::KernelId> chain,
               const std::optional<PiecePlan>& plan) override;
    void write_level(std::size_t level);

    [[nodiscard]] std::string made(const tensor::Value& value, tensor::ValueId id);
    [[nodiscard]] std::string collective(const tensor::Value& value, tensor::ValueId id);
    /// The operand's part, as this value reads it.
    [[nodiscard]] std::string read(tensor::ValueId id, std::size_t arg);
    /// What holds a value where the text stands: an array, or its piece.
    [[nodiscard]] std::string array(tensor::ValueId id) const;
    /// Its type there: of a piece, with the size of the piece.
    [[nodiscard]] std::string type(tensor::ValueId id) const;
    [[nodiscard]] std::string type(const tensor::Type& type, std::size_t cut) const;
    /// The dimension of operand `arg` that is cut, if the text is within a chain; kNowhere if none is.
    [[nodiscard]] std::size_t cut_dim(tensor::ValueId id, std::size_t arg) const;

    [[nodiscard]] bool is_in_chain(tensor::ValueId id) const {
        return pieces_ != nullptr && pieces_->has(id);
    }
    /// Random and counted numbers that a loop makes as it goes.
    [[nodiscard]] bool is_made_in_loop(tensor::ValueId user, std::size_t arg) const;
    void check(tensor::ValueId id) const;

    CppNames unique_;
    std::vector<std::string> names_;     ///< by value
    const PiecePlan* pieces_ = nullptr;  ///< while a chain is written
    std::string indent_ = "    ", text_, kernels_text_;
    std::set<std::string> groups_;
};

}  // namespace tutti::emit

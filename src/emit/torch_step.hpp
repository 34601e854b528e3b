#pragma once

#include "emit/python_text.hpp"
#include "emit/step_writer.hpp"
#include "tensor/program.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti::emit {

/// Writes the body of `step`: a statement for each value, in an order of the kernels.
class TorchStep final : StepWriter {
  public:
    explicit TorchStep(const tensor::Program& program);

    /// All statements, four spaces in. Call once.
    [[nodiscard]] std::string text();

    /// After text(): the axes of each process group that it uses, in the order of the mesh.
    [[nodiscard]] const std::set<std::vector<tensor::AxisId>>& groups() const { return groups_; }

  private:
    /// Where a rank's part of a dimension begins and ends, and how many elements that is: as Python.
    struct Extent {
        std::string begin{}, end{}, size{};
    };

    void line(const std::string& text);
    /// Before the loop over pieces, if there is one around.
    void line_ahead(const std::string& text) { body_ += "    " + text + "\n"; }
    /// The variable that has the value of this expression, made before the loop.
    [[nodiscard]] std::string made_ahead(const std::string& expression, const std::string& name);

    void write_inputs();
    void write_results();
    void write(const tensor::Kernel& kernel) override;
    void write_value(tensor::ValueId id);
    void write_call(std::span<const tensor::ValueId> values);

    // torch_overlap.cpp
    void write(const tensor::Overlap& overlap, std::span<const tensor::KernelId> chain,
               const std::optional<PiecePlan>& plan) override;
    void write_loop(const PiecePlan& plan);
    void write_level(std::size_t level);
    void write_whole(tensor::ValueId id);
    [[nodiscard]] bool is_kept(tensor::ValueId id) const;
    [[nodiscard]] std::size_t first_read(tensor::ValueId id) const;
    [[nodiscard]] std::string read_piece(tensor::ValueId id, std::size_t arg, const tensor::Type& type);
    [[nodiscard]] std::string chunk(const std::string& text, std::size_t dim,
                                    std::span<const tensor::AxisId> axes) const;
    /// The axes that cut pieces' parts finer than these do.
    [[nodiscard]] std::span<const tensor::AxisId> finer(std::span<const tensor::AxisId> axes) const;

    [[nodiscard]] std::string compute(tensor::ValueId id);
    [[nodiscard]] std::string pointwise(const tensor::Value& value, std::span<const std::string> args) const;
    /// What was computed in 64 bits, in those that the value's type has.
    [[nodiscard]] static std::string word(const tensor::Value& value, const std::string& text);
    [[nodiscard]] std::string broadcast(tensor::ValueId id, const std::string& arg);

    // torch_calls.cpp. A collective: what goes into the call, the call, and what its result becomes;
    // `together`: with others in one call.
    [[nodiscard]] std::string packed(tensor::ValueId id, bool together);
    [[nodiscard]] std::string called(const tensor::Value& value, const std::string& packed);
    [[nodiscard]] std::string finished(tensor::ValueId id, const std::string& raw, bool together);
    [[nodiscard]] std::string spread(tensor::ValueId id, const std::string& text, const tensor::Type& type,
                                     std::size_t dim, std::span<const tensor::AxisId> axes) const;
    [[nodiscard]] std::string unspread(tensor::ValueId id, const std::string& text, const tensor::Type& type,
                                       std::size_t dim, std::span<const tensor::AxisId> axes);
    [[nodiscard]] std::string narrowed(tensor::ValueId id, const std::string& text, std::size_t dim);
    [[nodiscard]] std::string group(const tensor::Value& value);
    [[nodiscard]] std::vector<tensor::AxisId> sorted_axes(const tensor::Value& value) const;

    [[nodiscard]] std::string read(tensor::ValueId id, std::size_t arg);
    /// A value as this type has it: a part of what the rank has, or made anew.
    [[nodiscard]] std::string whole(tensor::ValueId id, const tensor::Type& type);
    [[nodiscard]] std::string source(tensor::ValueId id, const tensor::Type& type);
    /// What the rank has of `to`, taken out of its part of `from`; all dimensions but `except`.
    [[nodiscard]] std::string cut(std::string text, const tensor::Type& from, const tensor::Type& to,
                                  std::size_t except);

    [[nodiscard]] Extent extent(const tensor::Type& type, std::size_t dim);
    [[nodiscard]] std::string local_shape(const tensor::Type& type);
    [[nodiscard]] std::string local_shape(tensor::ValueId id);
    /// ((4, 250), (2, 125)): how many parts the axes make of `nominal` elements, and of which size.
    [[nodiscard]] std::string cuts(std::int64_t nominal, std::span<const tensor::AxisId> axes) const;
    [[nodiscard]] bool is_cut(tensor::ValueId id, std::size_t dim) const;
    [[nodiscard]] std::string place(tensor::AxisId axis) const;
    [[nodiscard]] std::string holder(const tensor::Type& type) const;

    PythonNames python_;
    std::vector<std::string> names_;                      ///< by value
    std::map<tensor::ValueId, std::string> piece_names_;  ///< while a chain is written
    std::map<std::string, std::string> made_ahead_;       ///< by expression
    std::map<std::pair<std::int64_t, std::vector<tensor::AxisId>>, Extent> extents_;
    std::set<std::vector<tensor::AxisId>> groups_;
    const PiecePlan* pieces_ = nullptr;  ///< while a loop is written
    std::size_t level_ = 0;
    std::string parts_, body_, loop_;
};

/// "f32", which a step gets as a variable, or "torch.int64".
[[nodiscard]] std::string torch_dtype(tensor::DType dtype);

}  // namespace tutti::emit

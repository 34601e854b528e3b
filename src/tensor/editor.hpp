#pragma once

#include "tensor/program.hpp"

#include <string>
#include <vector>

namespace tutti::tensor {

/// Changes to a program, of which finish() makes a program again: it orders the values, drops those that
/// nothing needs (inputs stay, and so do updates), and types anew what changed and what depends on it.
class Editor {
  public:
    explicit Editor(Program program) : program_(std::move(program)), changed_(program_.slots()) {}

    /// As changed so far. Types are those from before until finish().
    [[nodiscard]] const Program& program() const { return program_; }
    /// The name, or if a value has it, the name with the least number from 2 on that none has.
    [[nodiscard]] std::string free_name(const std::string& name) const;

    ValueId add(Value value);
    /// The value, to be changed; it keeps its id.
    [[nodiscard]] Value& change(ValueId id);
    /// `user` reads `to` wherever it read `from`; the target of an update stays.
    void replace_operand(ValueId user, ValueId from, ValueId to);
    void replace_output(ValueId from, ValueId to);

    [[nodiscard]] std::vector<Fused>& fused() { return program_.fused_; }
    [[nodiscard]] std::vector<Overlap>& overlaps() { return program_.overlaps_; }
    [[nodiscard]] std::vector<ValueId>& resharded() { return program_.resharded_; }

    /// Throws Refusal where the rules do not accept the result: `order` for a circle of values, and what
    /// infer() refuses. The order of kernels is not checked (kernels.hpp).
    [[nodiscard]] Program finish() &&;

  private:
    void sort();
    void type();

    Program program_;
    std::vector<bool> changed_;  ///< by value
};

}  // namespace tutti::tensor

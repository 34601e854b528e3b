#pragma once

#include "tensor/program.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::verify {

/// The sizes of a shape as they are written: a number, or -1 - the number of a name. kUnknownSize stands for
/// any.
using SymbolicShape = std::vector<std::int64_t>;
inline constexpr std::int64_t kUnknownSize = 0;

/// The shapes of a program's values for all sizes at once.
class SymbolicShapes {
  public:
    using Numbering = std::function<std::int64_t(const std::string& size)>;
    /// Names of sizes have these numbers.
    SymbolicShapes(const tensor::Program& program, Numbering number_of);
    [[nodiscard]] const SymbolicShape& operator[](tensor::ValueId id) const { return of_[id.index()]; }

  private:
    [[nodiscard]] SymbolicShape made(const tensor::Program& program, const tensor::Value& value) const;
    [[nodiscard]] SymbolicShape written(const tensor::Value& value) const;
    [[nodiscard]] SymbolicShape einsum(const tensor::Value& value) const;

    Numbering number_of_;
    std::vector<SymbolicShape> of_;  ///< by value
};

/// What operands of these shapes broadcast to; nothing where that depends on the sizes.
[[nodiscard]] std::optional<SymbolicShape> broadcast_shape(std::span<const SymbolicShape* const> shapes);

}  // namespace tutti::verify

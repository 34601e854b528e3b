#pragma once

#include "tensor/program.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::verify {

/// The sizes of a shape as they are written: a number, or -1 - the number of a name. kUnknownSize is equal to
/// no other.
using SymbolicShape = std::vector<std::int64_t>;
inline constexpr std::int64_t kUnknownSize = 0;

/// The shapes of a program's values for all sizes at once.
class SymbolicShapes {
  public:
    explicit SymbolicShapes(const tensor::Program& program);
    [[nodiscard]] const SymbolicShape& operator[](tensor::ValueId id) const { return of_[id.index()]; }

  private:
    [[nodiscard]] SymbolicShape made(const tensor::Value& value);
    [[nodiscard]] SymbolicShape written(const tensor::Value& value);
    [[nodiscard]] SymbolicShape einsum(const tensor::Value& value) const;

    std::map<std::string, std::int64_t> names_{};
    std::vector<SymbolicShape> of_;  ///< by value
};

/// What operands of these shapes broadcast to; nothing where that depends on the sizes.
[[nodiscard]] std::optional<SymbolicShape> broadcast_shape(std::span<const SymbolicShape* const> shapes);

}  // namespace tutti::verify

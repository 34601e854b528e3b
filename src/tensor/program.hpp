#pragma once

#include "tensor/mesh.hpp"
#include "tensor/refusal.hpp"
#include "tensor/value.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::tensor {

/// Values that are one kernel, or collectives that are one call.
struct Fused {
    std::string name{};
    std::vector<ValueId> values{};  ///< in the order of the program
    friend bool operator==(const Fused&, const Fused&) = default;
};

/// Kernels that work on pieces, each when the one before has made its piece.
struct Overlap {
    std::vector<std::string> chain{};  ///< names of kernels
    std::int64_t pieces = 0;
    friend bool operator==(const Overlap&, const Overlap&) = default;
};

/// A program under construction: any content is allowed here; Program's constructor checks it. Ids are
/// positions in `values`; types are ignored.
struct ProgramParts {
    std::string name{};
    std::string about{};
    Mesh mesh{};
    std::map<std::string, std::int64_t> sizes{};  ///< the named sizes
    std::vector<Value> values{};                  ///< each made before it is used
    std::vector<ValueId> outputs{};
    std::vector<Fused> fused{};
    std::vector<Overlap> overlaps{};
    std::vector<ValueId> resharded{};  ///< states that were stored in another layout before
};

/// A typed program. A value that is cheap to copy: values are shared between programs, so that a
/// transformation makes only what it changes.
class Program {
  public:
    /// Types all values. Throws Refusal: what infer() refuses, and `name` (two of one name, or none),
    /// `order` (used before it is made), `size` (names of sizes), `updated-twice`, `outputs`, `fused`,
    /// `pieces`, `resharded`, `cycle` (no order of kernels, kernels.hpp).
    explicit Program(ProgramParts parts);

    [[nodiscard]] const std::string& name() const { return header_->name; }
    [[nodiscard]] const std::string& about() const { return header_->about; }
    [[nodiscard]] const Mesh& mesh() const { return header_->mesh; }
    [[nodiscard]] const std::map<std::string, std::int64_t>& sizes() const { return header_->sizes; }

    /// All ids are below this; those of values that are gone have none.
    [[nodiscard]] std::size_t slots() const { return values_.size(); }
    /// The values, each made before it is used.
    [[nodiscard]] const std::vector<ValueId>& order() const { return order_; }
    [[nodiscard]] bool has(ValueId id) const { return values_[id.index()] != nullptr; }
    /// Precondition: has(id).
    [[nodiscard]] const Value& operator[](ValueId id) const { return *values_[id.index()]; }

    [[nodiscard]] const std::vector<ValueId>& outputs() const { return outputs_; }
    [[nodiscard]] const std::vector<Fused>& fused() const { return fused_; }
    [[nodiscard]] const std::vector<Overlap>& overlaps() const { return overlaps_; }
    [[nodiscard]] const std::vector<ValueId>& resharded() const { return resharded_; }

    /// Looks at every value: for many names make a map.
    [[nodiscard]] std::optional<ValueId> find(std::string_view name) const;

    /// The same program in parts, its ids 0, 1, … in order.
    [[nodiscard]] ProgramParts parts() const;

  private:
    friend class Editor;
    struct Header {
        std::string name, about;
        Mesh mesh;
        std::map<std::string, std::int64_t> sizes;
    };

    std::shared_ptr<const Header> header_;
    std::vector<std::shared_ptr<const Value>> values_;  ///< by id
    std::vector<ValueId> order_, outputs_;
    std::vector<Fused> fused_;
    std::vector<Overlap> overlaps_;
    std::vector<ValueId> resharded_;
};

/// Who reads what: the users of each value, in the order of the program; a user of two operands is there
/// twice.
class Users {
  public:
    explicit Users(const Program& program);
    [[nodiscard]] std::span<const ValueId> operator[](ValueId id) const {
        return std::span(users_).subspan(begin_[id.index()], begin_[id.index() + 1] - begin_[id.index()]);
    }

  private:
    std::vector<std::size_t> begin_;
    std::vector<ValueId> users_;
};

/// The same program at other sizes: of the axes, in the order of the mesh (empty: the same), and of named
/// sizes. Throws Refusal where it does not type there, or a size has no such name.
[[nodiscard]] Program at_sizes(const Program& program, std::span<const std::int64_t> axes,
                               const std::map<std::string, std::int64_t>& sizes);

}  // namespace tutti::tensor

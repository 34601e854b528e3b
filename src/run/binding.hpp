#pragma once

#include "run/element_type.hpp"
#include "run/executable.hpp"
#include "run/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tutti::run {

/// Where the elements of an operand are: element x of its place is at base + x·scale. Of temporary places the
/// base is that of their slot and the scale 0, so they hold the part that is worked on.
struct Address {
    std::byte* base = nullptr;
    std::size_t scale = 0;
};

/// An executable with the caller's memories: the address of each operand, for each stretch of the layout.
class Binding {
  public:
    /// `memories`: one for each memory of the executable, of at least layout.elements() elements; scratch
    /// too. `spares`: likewise of layout.spare_elements().
    Binding(const Executable& executable, const Layout& layout, ElementType type, Operator op,
            std::span<std::byte* const> memories, std::span<std::byte* const> spares);

    [[nodiscard]] const Executable& executable() const { return *executable_; }
    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] ElementType type() const { return type_; }
    [[nodiscard]] Operator op() const { return op_; }
    [[nodiscard]] std::size_t element_bytes() const { return size_of(type_); }
    /// By operand. Those of temporary places have no base yet.
    [[nodiscard]] std::span<const Address> addresses(std::size_t stretch) const {
        return addresses_[stretch];
    }
    /// Of an average: divides those elements of all results by the number of ranks.
    void divide(std::size_t stretch, std::size_t x, std::size_t elements) const;

  private:
    void find_results(const Layout::Stretch& stretch, std::span<std::byte* const> memories);

    const Executable* executable_;
    Layout layout_;
    ElementType type_;
    Operator op_;
    std::vector<std::vector<Address>> addresses_;
    std::vector<std::vector<Address>> results_;  ///< places that are divided; empty: it is no average
};

}  // namespace tutti::run

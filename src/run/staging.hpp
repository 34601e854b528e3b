#pragma once

#include "run/element_type.hpp"
#include "run/executable.hpp"
#include "run/layout.hpp"
#include "run/operand_numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::run {

/// Where a place is during a call with arrays of one's own: in a slot of the memory of all, in the arrays of
/// the rank that looks, or in memory that only who works on a piece needs. `at` is in bytes: of a slot, or
/// from the first element of the array.
struct Location {
    enum In : std::uint8_t { Slot, Input, Output, Temporary };
    In in = Slot;
    std::size_t at = 0;
};

/// How the elements of one rank go from its arrays through slots and back, for one stretch of a layout.
struct StagedStretch {
    struct Copy {
        std::size_t slot = 0, array = 0;  ///< bytes
        /// The output is what the input was, from this byte on.
        bool kept = false;
        std::size_t input = 0;
    };
    std::vector<Copy> in{}, out{};
    /// By operand: when everything is in slots; and when this rank's own places are in its arrays.
    std::vector<Location> staged{}, direct{};
    /// Places of all outputs, which an average divides; likewise.
    std::vector<Location> staged_results{}, direct_results{};
};

/// All of it. A slot has a part of `place_bytes` for each place that is used at all.
class Staging {
  public:
    Staging(const Executable& executable, const Layout& layout, ElementType type, Operator op, Rank rank);

    /// Places that a slot has room for.
    [[nodiscard]] std::size_t places() const { return used_; }
    /// Once it is known how long they are.
    void lay_out(std::size_t place_bytes);
    [[nodiscard]] const StagedStretch& stretch(std::size_t at) const { return stretches_[at]; }
    /// Whether this rank's arrays are one buffer as the plan has it in place, or have nothing in common: then
    /// it may work in them.
    [[nodiscard]] bool may_be_direct(const std::byte* input, const std::byte* output) const;

  private:
    /// How the steps use a place, in their order.
    struct Use {
        bool read_first = false, written = false;
    };
    struct Own;

    void find_uses();
    void add_copies(const Own& own, const Use& use, StagedStretch& stretch) const;
    void add_locations(const Layout::Stretch& of, StagedStretch& stretch) const;
    void add_results(const Layout::Stretch& of, StagedStretch& stretch) const;
    [[nodiscard]] Own own(std::uint32_t memory, std::int64_t place) const;
    [[nodiscard]] std::size_t number(std::uint32_t memory, std::int64_t place) const {
        return numbers_.of({memory, static_cast<std::uint32_t>(place)});
    }
    [[nodiscard]] std::size_t slot_of(std::uint32_t memory, std::int64_t place) const {
        return slots_[number(memory, place)] * place_bytes_;
    }

    const Executable* executable_;
    const Layout* layout_;
    OperandNumbers numbers_;
    std::size_t size_;
    bool averages_;
    Rank rank_;
    std::size_t place_bytes_ = 0, used_ = 0;
    std::vector<Use> uses_;           ///< by place
    std::vector<std::size_t> slots_;  ///< by place: which part of a slot
    std::vector<StagedStretch> stretches_;
};

}  // namespace tutti::run

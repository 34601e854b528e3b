#pragma once

#include "run/binding.hpp"
#include "run/element_type.hpp"
#include "run/executable.hpp"
#include "run/layout.hpp"
#include "run/staging.hpp"
#include "run/team.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::run {

/// A call of a plan by a team in which each process is one rank and has its arrays for itself: each copies
/// its input into the memory of all, piece by piece, whoever's turn it is works on a piece of all ranks, and
/// each copies its output from there. Who works on a piece has its own part of it where it is, if it can. The
/// three overlap, and what is passed on stays in caches. The arrays may be in place or not, whatever the plan
/// is made for.
///
/// Pieces are numbered through all calls of the team, in counters that only grow. A piece has a slot, which
/// is used again when this process has copied the last one in it out; whoever works on a piece has waited
/// until all have brought it, and so until all are done with the slot's last one.
class PrivateCall {
  public:
    /// Throws LimitError if so many chunks do not fit. Process p is rank (p + shift) modulo their number.
    /// Precondition: the plan has as many ranks as the team has processes.
    PrivateCall(Team& team, const Executable& executable, const Layout& layout, ElementType type, Operator op,
                std::uint32_t shift = 0);
    PrivateCall(const PrivateCall&) = delete;
    PrivateCall& operator=(const PrivateCall&) = delete;

    /// What all processes say of a call, to see that they mean the same.
    struct Terms {
        std::uint64_t fingerprint = 0;  ///< of all that they must agree on
        bool willing = true;            ///< false: this process cannot take part
    };
    /// By all processes. `input`: the first element of this rank's input, `output` that of its output.
    /// Returns false, and does nothing, if the terms differ or one is not willing: all get the same answer.
    [[nodiscard]] bool run(Terms terms, const std::byte* input, std::byte* output);

    /// The same answer for a process that has no call to run.
    static void decline(Team& team);

  private:
    struct Piece {
        std::size_t stretch = 0, first = 0, elements = 0;
    };
    /// This process's arrays in a call.
    struct Arrays {
        const std::byte* input = nullptr;
        std::byte* output = nullptr;
        bool direct = false;  ///< own places of own pieces are in them
    };

    void choose_pieces();
    [[nodiscard]] bool is_direct(std::size_t piece, const Arrays& arrays) const {
        return arrays.direct && piece % team_->processes() == team_->process();
    }
    void bring(std::size_t piece, const Arrays& arrays) const;
    void work(std::size_t piece, const Arrays& arrays);
    void fetch(std::size_t piece, const Arrays& arrays) const;
    void run_overlapped(const Arrays& arrays);
    [[nodiscard]] std::byte* address(const Location& at, std::size_t piece, const Arrays& arrays);
    /// Two halves take turns: a process may begin with the next call while others finish the last one.
    [[nodiscard]] std::byte* half() const;
    [[nodiscard]] std::byte* slot_of(std::size_t piece) const {
        return half() + piece % slots_ * slot_bytes_;
    }
    static bool agreed(const Team& team);

    Team* team_;
    Executable executable_;  ///< what is executed of the plan
    Layout layout_;
    ElementType type_;
    Operator op_;
    Staging staging_;
    std::size_t slot_bytes_ = 0, slots_ = 0;
    bool alone_ = false;
    std::vector<Piece> pieces_;
    std::vector<Address> addresses_;  ///< by operand, of the piece that is worked on
    std::vector<std::byte> temporary_;
};

}  // namespace tutti::run

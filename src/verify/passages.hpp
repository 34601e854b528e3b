#pragma once

#include "verify/lanes.hpp"

#include <optional>
#include <vector>

namespace tutti::verify {

/// A send that has entered a cut-through switch and is due onward. Of a reduction also what it carries.
struct Passage {
    NodeId at;
    ChunkId chunk;
    Ticks due{-1};  ///< negative: an empty place of the table
    Ticks start;
    std::uint64_t position = 0;
    LinkId link;
    NodeId origin{};           ///< the NPU whose value it is
    std::uint32_t weight = 0;  ///< how many contributions; 0: the full sum, or a plain chunk
};

/// What is inside cut-through switches that neither copy nor reduce, as far as no two sends of one chunk are
/// due at one switch at one tick: a hash table by switch, chunk and due tick, with open addressing. O(1)
/// each. Where sends are due at the tick at which they enter, one may have left when the second comes; so it
/// is remembered for that tick what has left.
class Passages {
  public:
    /// `transits`: of the lanes, no less than the latency of a hop. They must outlive this. `at_once`:
    /// whether some sends are due at the tick at which they enter.
    Passages(const std::vector<Ticks>& transits, bool at_once) : entered_(transits), at_once_(at_once) {}

    [[nodiscard]] bool contains(NodeId at, ChunkId chunk, Ticks due) const {
        return count_ > 0 && places_[find(at, chunk, due)].due >= Ticks(0);
    }
    /// Whether it contains it, or may have contained it at the tick at which it was due. Then another one
    /// cannot be told from it.
    [[nodiscard]] bool has_met(NodeId at, ChunkId chunk, Ticks due) const {
        return contains(at, chunk, due) || (due == left_at_ && left_[find_left(at, chunk)].since == due);
    }
    /// Precondition: has_met() is false of it; starts do not decrease.
    void enter(const Passage& passage, std::uint32_t lane);
    /// Takes out what is due now; none if nothing is.
    [[nodiscard]] std::optional<Passage> take(NodeId at, ChunkId chunk, Ticks now);
    /// Undoes the last take().
    void put_back();

    /// Takes back what entered at `start`, the latest start of all, of one chunk or of all, and what was
    /// taken at that tick. Calls `act` for each that had entered.
    template <class Act>
    void undo(Ticks start, std::optional<ChunkId> only, Act&& act) {
        const auto leave = [&](const Entered& entered) {
            if (const auto passage = remove(entered)) act(*passage);
        };
        // First, because what entered at that tick may have been taken at it.
        restore(start, only);
        if (!only) {
            entered_.undo(start, leave);
        } else {
            entered_.remove_if([&](const Entered& entered, Ticks) {
                if (entered.start != start || entered.chunk != *only) return false;
                leave(entered);
                return true;
            });
        }
    }

    /// Removes what was due before `tick` and has not been taken; some of it perhaps later than it could.
    [[nodiscard]] std::vector<Passage> expired(Ticks tick);
    /// Removes everything of one chunk, or of all.
    [[nodiscard]] std::vector<Passage> extract(std::optional<ChunkId> only);

  private:
    struct Entered {
        NodeId at;
        ChunkId chunk;
        Ticks due, start;
        LinkId link;
    };
    /// Its place, or the empty place where it would be. Precondition: there is an empty place.
    [[nodiscard]] std::size_t find(NodeId at, ChunkId chunk, Ticks due) const;
    void insert(const Passage& passage);
    void erase(std::size_t place);
    [[nodiscard]] std::optional<Passage> remove(const Entered& entered);
    void restore(Ticks start, std::optional<ChunkId> only);
    struct Left {
        NodeId at;
        ChunkId chunk;
        Ticks since{-1};  ///< empty unless it is left_at_
    };
    [[nodiscard]] std::size_t find_left(NodeId at, ChunkId chunk) const;
    void remember(NodeId at, ChunkId chunk, Ticks now);

    std::vector<Passage> places_;  ///< a power of two, at most half full
    std::size_t count_ = 0;
    Lanes<Entered> entered_;      ///< to find what was not taken
    std::vector<Passage> taken_;  ///< at taken_at_
    Ticks taken_at_;
    bool at_once_;
    std::vector<Left> left_;  ///< a power of two, at most half full of what left at left_at_
    Ticks left_at_{-1};
    std::size_t left_count_ = 0;
};

}  // namespace tutti::verify

#pragma once

#include "plan/round_plan.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tutti::compile {

/// A place that a value is in: a chunk of a rank's input or output, or a value in scratch, which gets its
/// chunk at the end.
using Location = std::uint32_t;
inline constexpr Location kNowhere = ~Location{0};

/// Puts messages and local steps, told one after the other, into rounds (rounds.cpp says how). Each call says
/// what happens next; a message is begun where its value is read and ended where it is stored, and others may
/// happen in between.
class Rounds {
  public:
    /// `plan` has everything but steps, scratch and rounds; if it is for calls in place, their order is kept.
    explicit Rounds(plan::RoundPlan plan);

    [[nodiscard]] Location input(std::uint32_t rank, std::uint32_t chunk);
    /// Precondition: input and output of all that is stored there are pieces of the same size (fits).
    [[nodiscard]] Location output(std::uint32_t rank, std::uint32_t chunk);
    /// A value that nothing was stored in yet.
    [[nodiscard]] Location scratch(std::uint32_t rank);
    [[nodiscard]] bool is_scratch(Location location) const {
        return cells_[location].place.buffer == plan::Buffer::Scratch;
    }
    /// Whether the value is as large as that chunk of an output.
    [[nodiscard]] bool fits(Location value, std::uint32_t chunk) const {
        return cells_[value].piece == chunk % plan_.block_chunks;
    }

    /// A message leaves for rank `to`, not before round `earliest`. Returns its number.
    std::uint32_t begin(Location from, std::uint32_t to, std::uint32_t earliest = 0);
    [[nodiscard]] std::uint32_t round(std::uint32_t message) const { return messages_[message].round; }
    /// It is stored.
    void store(std::uint32_t message, Location to);
    /// It is added to `with`, and the sum is stored; to kNowhere: where the message was put. Returns where.
    /// Throws InputError where the two have different sizes.
    Location add(std::uint32_t message, Location with, Location to);
    /// A value is copied within a rank, or added to another one there.
    void copy(Location from, Location to);
    void add_local(Location from, Location with, Location to);

    /// The plan with everything that was told.
    [[nodiscard]] plan::RoundPlan take();

  private:
    /// Rounds and waves as one number.
    using Time = std::int64_t;

    struct Cell {
        std::uint32_t rank = 0;
        plan::RoundPlace place{};    ///< of scratch only when the plan is taken
        std::uint32_t piece = 0;     ///< of the value that is in it
        std::uint32_t timeline = 0;  ///< in times_
        Location head = kNowhere;    ///< of scratch: the value that it lies behind, if any
        std::uint32_t behind = 0;    ///< that many chunks
    };
    struct Times {
        Time written = -1, read = -1;
        Time first_written = -1;
    };
    struct LocalStep {
        std::uint32_t rank = 0;
        Time time = 0;
        Location to = kNowhere, from = kNowhere, with = kNowhere;  ///< no `with`: a copy
        std::uint32_t piece = 0;
        std::uint32_t chunks = 1;
    };
    struct Message {
        std::uint32_t round = 0, from_rank = 0, to_rank = 0;
        Location from = kNowhere, to = kNowhere;
        std::uint32_t piece = 0;
        std::uint32_t chunks = 1;
        std::uint32_t local = ~std::uint32_t{0};  ///< the local step that takes what was put in scratch
    };

    [[nodiscard]] Location cell(std::uint32_t rank, plan::RoundPlace place);
    [[nodiscard]] Times& times(Location location) { return times_[cells_[location].timeline]; }
    void read(Location location, Time time);
    void write(Location location, Time time, std::uint32_t piece);
    std::uint32_t local(std::uint32_t rank, Time not_before, Location from, Location with, Location to);
    Location stage(Message& message);

    [[nodiscard]] bool follows(Location first, Location second, std::uint32_t by) const;
    [[nodiscard]] bool joins(const Message& first, const Message& second) const;
    [[nodiscard]] bool joins(const LocalStep& first, const LocalStep& second) const;
    void join_messages();
    void join_local_steps();
    void give_scratch();
    void write_steps();

    plan::RoundPlan plan_;
    std::vector<Cell> cells_;
    std::vector<Times> times_;
    std::vector<std::unordered_map<std::uint64_t, Location>> known_;  ///< by rank
    std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> timelines_;
    std::vector<Message> messages_;
    std::vector<LocalStep> locals_;
};

}  // namespace tutti::compile

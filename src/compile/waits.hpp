#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::compile {

/// A step of a rank: the number of its thread block, and its position among that block's steps.
struct StepOf {
    std::uint32_t block = 0;
    std::uint32_t step = 0;
    friend bool operator==(const StepOf&, const StepOf&) = default;
};

/// What the steps of one rank have to wait for, where its thread blocks share memory. A step that reads a
/// place waits for its last writer; one that writes waits for the readers since, and for the writer. Within a
/// thread block that is so anyway. Of several steps of one other block only the last counts, and none that is
/// known to be over: each block keeps, for every other, the last step that it knows has ended, learnt from
/// those it waited for (a vector clock).
///
/// Steps that do not wait share the clock of the step before, so the memory is blocks times waits: most
/// blocks of an all-to-all never wait, and have no clock at all.
class Waits {
  public:
    Waits(std::size_t blocks, std::size_t places) : blocks_(blocks), places_(places) {}

    /// The next step, in the order of the rank, is the next one of that block. Returns what it waits for, the
    /// latest first. What a block waits for of one other block are ever later steps.
    [[nodiscard]] std::vector<StepOf> next(std::uint32_t block, std::span<const std::size_t> reads,
                                           std::span<const std::size_t> writes);

  private:
    /// By block how many of its first steps are known to have ended.
    using Clock = std::vector<std::uint32_t>;

    struct Block {
        std::vector<Clock> clocks{};            ///< each the one after another wait
        std::vector<std::uint32_t> clock_of{};  ///< by step how many there were; 0: nothing was known
    };
    struct Moment {
        StepOf step{};
        std::size_t when = 0;  ///< in the order of the rank
    };
    /// Who touched a place last.
    struct Place {
        bool written = false;
        Moment writer{};
        std::vector<Moment> readers{};  ///< since; the last one of each block
    };

    [[nodiscard]] std::vector<Moment> touched(std::uint32_t block, std::span<const std::size_t> reads,
                                              std::span<const std::size_t> writes) const;

    std::vector<Block> blocks_;
    std::vector<Place> places_;
    std::size_t steps_ = 0;
};

}  // namespace tutti::compile

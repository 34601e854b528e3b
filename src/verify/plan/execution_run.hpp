#pragma once

#include "verify/plan/execution_steps.hpp"
#include "verify/plan/place_index.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tutti::verify {

/// The immutable data of runs.
class ExecutionRules {
  public:
    ExecutionRules(const ExecutionSteps& steps, const PlaceIndex& places);

    [[nodiscard]] const ExecutionSteps& steps() const { return steps_; }
    [[nodiscard]] const PlaceIndex& places() const { return places_; }
    /// Whether several thread blocks lower a counter; any counter.
    [[nodiscard]] bool competes(std::uint32_t counter) const { return competes_[counter]; }
    [[nodiscard]] bool competes() const { return any_competes_; }
    /// Whether a step has more competing uses than a run can represent.
    [[nodiscard]] bool too_wide() const { return too_wide_; }
    /// The value of initial + raises at which a use (of ExecutionSteps::uses) is sure of a token, whichever
    /// blocks came before.
    [[nodiscard]] std::int64_t cautious_need(std::uint32_t use) const { return need_[use]; }
    /// The steps that raise a counter, in order of their numbers.
    [[nodiscard]] const std::vector<std::uint32_t>& raisers(std::uint32_t counter) const {
        return raisers_[counter];
    }

  private:
    const ExecutionSteps& steps_;
    const PlaceIndex& places_;
    std::vector<bool> competes_;
    bool any_competes_ = false, too_wide_ = false;
    std::vector<std::int64_t> need_;
    std::vector<std::vector<std::uint32_t>> raisers_;
};

/// A state of a run: how far each thread block is. Copies are independent.
class ExecutionRun {
  public:
    /// Cautious: a competing acquire waits until it is sure of a token. Chosen: it waits for take().
    enum class Acquires { Cautious, Chosen };
    ExecutionRun(const ExecutionRules& rules, Acquires acquires);

    /// Executes all steps that can run.
    void advance();
    [[nodiscard]] bool ended() const { return running_ == 0; }
    [[nodiscard]] bool done(std::uint32_t block) const {
        return position_[block] == rules_->steps().block_begin[block + 1];
    }

    struct Choice {
        std::uint32_t block = 0, use = 0;
    };
    /// The competing acquires that could be done next. Call after advance().
    [[nodiscard]] std::vector<Choice> choices() const;
    void take(const Choice& choice);
    /// Equal for equal states.
    [[nodiscard]] std::vector<std::uint32_t> key() const;
    /// The approximate cost of a copy.
    [[nodiscard]] std::size_t weight() const {
        return position_.size() + raised_.size() + first_writer_.size();
    }

    /// Why a block waits, and a pending step that would wake it; kNone: there is none.
    struct Blocked {
        enum class Cause { Counter, Barrier, Packet };
        Cause cause = Cause::Counter;
        std::uint32_t step = 0, what = 0, provider = 0;
    };
    /// Precondition: not done(block), after advance().
    [[nodiscard]] Blocked blocked(std::uint32_t block) const;
    [[nodiscard]] std::int64_t packet_chunk(std::uint32_t place) const;
    [[nodiscard]] Rank packet_gpu(std::uint32_t place) const;

    [[nodiscard]] const std::vector<std::uint32_t>& first_writers() const { return first_writer_; }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Obstacle {
        Blocked::Cause cause = Blocked::Cause::Counter;
        std::uint32_t what = 0;
    };

    void run(std::uint32_t block);
    [[nodiscard]] std::optional<Obstacle> obstacle(std::uint32_t block) const;
    [[nodiscard]] bool satisfied(std::uint32_t block, std::uint32_t use) const;
    [[nodiscard]] std::optional<std::uint32_t> missing_packet(const ExecutionStep& step) const;
    void perform(std::uint32_t step);
    /// Moves the block to its next step.
    void step_on(std::uint32_t block);
    void wake(const Obstacle& obstacle);
    [[nodiscard]] std::uint32_t provider_of(const Obstacle& obstacle) const;
    [[nodiscard]] std::uint32_t writer_of(std::uint32_t place) const;

    const ExecutionRules* rules_;
    Acquires acquires_;
    std::vector<std::uint32_t> position_;  ///< the step that each block is at
    std::vector<std::uint64_t> taken_;     ///< Chosen: bits of the uses of that step that have their token
    std::vector<std::int64_t> raised_;     ///< initial + raises of each counter
    std::vector<std::int64_t> lowered_;    ///< Chosen: of each counter that competes
    std::vector<std::uint32_t> arrived_;   ///< blocks at each meeting
    std::vector<std::uint32_t> first_writer_;  ///< step, by place number
    std::uint32_t running_ = 0;                ///< blocks not done
    std::vector<std::uint32_t> ready_;         ///< blocks to look at
    /// Blocks that wait, by what they wait for.
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> waiting_;
};

}  // namespace tutti::verify

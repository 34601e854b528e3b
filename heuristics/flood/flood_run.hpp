#pragma once

#include "heuristics/event_queue.hpp"
#include "heuristics/flood/bit_rows.hpp"
#include "heuristics/flood/flood_matcher.hpp"
#include "heuristics/flood/flood_rarest.hpp"

#include <array>

namespace tutti::heuristics {

/// The immutable input of a run.
struct FloodTask {
    const SpreadProblem& problem;
    const FloodNetwork& network;
    const std::vector<ClusterLevel>& levels;
    const std::vector<ClusterDetours>& detours;  ///< for as many levels as the options ask for
    const Heights* heights;                      ///< may be none if the options do not ask for them
    FloodOptions options;
    Ticks least;  ///< FloodMatcher's
};

/// One simulation of the matcher (flood_matcher.cpp), from the first release to the last arrival.
class FloodRun {
  public:
    FloodRun(const FloodTask& task, Rng& rng, const Stop& stop);
    std::optional<SpreadSolution> run();

  private:
    enum class State : std::uint8_t { Busy, Idle, Woken };  ///< woken: idle, and among the ready
    static constexpr std::uint32_t kBrings = 1;             ///< the chunk arrives over the hop
    static constexpr std::uint32_t kFrees = 2;              ///< the hop is free
    static constexpr std::uint32_t kFlags = 2;              ///< bits
    /// Without flags the chunk is released.
    struct Event {
        std::int64_t time;
        std::uint32_t what;  ///< the hop, or the node of a release; then the flags
        std::uint32_t spread;
    };
    /// The chunks that a cluster lacks: a member wants them and no member has claimed them.
    struct LevelState {
        BitRows claimed;  ///< per cluster
        std::vector<std::size_t> missing;
        std::vector<std::uint8_t> held;  ///< whether the rule may have left an entrance idle
    };

    void set_up_claims();
    void set_up_clusters();
    void set_up_releases();
    void advance();
    void order_by_lane();
    [[nodiscard]] std::uint32_t lane(const Event& event) const;
    void arrive(std::size_t node, std::size_t spread);
    void wake(std::size_t hop);
    void wake_all();
    bool relax();
    void order_ready();
    void prefetch(std::size_t hop) const;
    bool serve();
    void send(std::size_t hop, std::size_t spread);
    void claim_for_clusters(std::size_t node, std::size_t spread);
    [[nodiscard]] bool is_tight(std::size_t level, std::size_t cluster) const;
    [[nodiscard]] unsigned tight_levels(std::size_t hop);
    template <class RowAt>
    void add_some(std::size_t size, RowList& rows, RowAt&& row_at);
    [[nodiscard]] bool look(std::size_t hop, unsigned tight, std::size_t window, Choice& choice);
    [[nodiscard]] std::optional<std::size_t> choose(std::size_t hop);
    [[nodiscard]] std::size_t any_of(const Choice& choice);
    [[nodiscard]] std::size_t highest_of(const Choice& choice, std::size_t first, std::size_t node);

    const FloodTask task_;
    const FloodNetwork& net_;
    Rng& rng_;
    const Stop& stop_;
    BitRows has_, claimed_;
    std::vector<LevelState> levels_;
    std::vector<State> states_;  ///< per hop
    std::vector<std::uint32_t> ready_, batch_;
    std::vector<std::uint64_t> keys_;
    EventQueue<Event> events_;
    std::vector<Event> happening_, sorted_;        ///< the events of a tick; scratch
    std::vector<std::uint32_t> lanes_, lane_end_;  ///< scratch
    std::size_t first_window_ = 0;  ///< where all look first at this tick, so that it stays in the cache
    Ticks now_;
    double target_ = 0;
    bool use_clusters_ = false;
    Ticks deadline_ = Ticks::max();
    Ticks last_start_;  ///< of the fastest hop, to arrive by the deadline
    std::size_t missing_ = 0;
    std::uint32_t served_ = 0;
    SpreadSolution solution_;
};

}  // namespace tutti::heuristics

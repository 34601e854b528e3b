#pragma once

#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "heuristics/levels/round_pattern.hpp"

#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace tutti::heuristics {

/// All-gathers, reduce-scatters and all-reduces on clusters, level by level in rounds, as a schedule that is
/// generated while it is read and never held. Memory O(chunks + rounds * NPUs * links of a path).
class LevelRounds final : public SendSource {
  public:
    /// Plans all rounds. The instance must outlive this.
    LevelRounds(const Instance& instance, const Stop& stop);

    /// Why there is no such schedule; empty if there is one.
    [[nodiscard]] const std::string& why_none() const { return why_none_; }

    [[nodiscard]] std::span<const Send> next() override;
    [[nodiscard]] Ticks makespan() const override { return makespan_; }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return given_ + i; }
    [[nodiscard]] bool consecutive() const override { return true; }

    /// After next() returned none: whether that was the end, and not the stop.
    [[nodiscard]] bool is_complete() const { return why_none_.empty() && cursors_.empty(); }

  private:
    /// Collectives of one shape: their members in positions, one group after the other, and their chunks by
    /// the position of their roots.
    struct Task {
        std::vector<NodeId> members;
        std::uint32_t size = 0;              ///< of each group
        std::vector<std::uint32_t> radices;  ///< of a position's digits, lowest first
        std::vector<ChunkId> by_root;        ///< equally many for each position
        std::uint32_t per_root = 0;
        bool reduces = false, distributes = false;
        Ticks release;
    };
    /// One round, with the chunks of all roots that it serves, one after the other.
    struct Run {
        std::uint32_t task;
        std::uint32_t pattern;
        std::uint32_t count;   ///< how many times the pattern is sent
        std::uint32_t stride;  ///< of roots from one time to the next
        Ticks start, period;
        Op op;
    };
    /// Where a run is: the next sends of one of its times.
    struct Cursor {
        Ticks time;
        std::uint32_t run, turn, group;
        friend bool operator<(const Cursor& a, const Cursor& b) {
            return std::tie(a.time, a.run, a.turn, a.group) > std::tie(b.time, b.run, b.turn, b.group);
        }
    };

    [[nodiscard]] std::string plan();
    [[nodiscard]] std::string add_task(CollectiveId collective, std::span<const ChunkId> chunks);
    /// Joins the last task to an earlier one of its shape, if there is one.
    void join_last_task();
    [[nodiscard]] std::string plan_task(std::uint32_t task);
    [[nodiscard]] std::string plan_phase(std::uint32_t task, std::size_t digit, Op op, Ticks& ready);
    /// The first tick from `start` on at which the links of a pattern are free.
    [[nodiscard]] Ticks when_free(const RoundPattern& pattern, Ticks start) const;
    /// Whether the run's chunks meet themselves in a switch if it starts then.
    [[nodiscard]] bool meets_earlier(const Run& run, std::size_t first_run) const;
    void give(const Cursor& cursor);
    void merge_tick();

    const Instance& instance_;
    const Stop stop_;
    std::optional<Cluster> cluster_;
    std::vector<Task> tasks_;
    std::vector<RoundPattern> patterns_;
    std::size_t entries_ = 0;  ///< of all patterns
    std::vector<Run> runs_;
    std::vector<Ticks> free_;  ///< by link, after the runs planned so far
    std::string why_none_;
    std::priority_queue<Cursor> cursors_;
    std::vector<Send> sends_, tick_, merged_;
    std::vector<std::size_t> ends_;  ///< in tick_: of the sends of each cursor
    std::uint64_t given_ = 0;
    Ticks makespan_;
};

/// Its sends as a schedule in memory; none where there is none, or when stopped.
[[nodiscard]] std::optional<Schedule> level_rounds(const Instance& instance, const Stop& stop);
/// Why there is none; empty if there may be one.
[[nodiscard]] std::string why_no_level_rounds(const Instance& instance);

}  // namespace tutti::heuristics

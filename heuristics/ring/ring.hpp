#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "heuristics/event_queue.hpp"
#include "heuristics/ring/ring_plan.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::heuristics {

/// A schedule that is generated while it is read and never held: ring algorithms for all collectives at once.
/// Time O(sends), memory O(chunks + hops of the rings); where contributions pass through NPUs, also one bit
/// per chunk and NPU. Not the best schedule, but one for every size.
class RingSchedule final : public SendSource {
  public:
    /// Plans the rings. The instance must outlive this.
    RingSchedule(const Instance& instance, const Stop& stop);

    /// Why there is no such schedule; empty if there is one.
    [[nodiscard]] const std::string& why_none() const { return why_none_; }

    [[nodiscard]] std::span<const Send> next() override;
    [[nodiscard]] Ticks makespan() const override { return makespan_; }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return given_ + i; }
    [[nodiscard]] bool consecutive() const override { return true; }

    /// After next() returned none: whether that was the end, and not the stop.
    [[nodiscard]] bool is_complete() const { return why_none_.empty() && events_.empty(); }

  private:
    /// A copy or a partial sum of a chunk, on its way from NPU to NPU.
    struct Token {
        ChunkId chunk;
        RingStep step;          ///< the path that it is on, and where that leads
        std::uint32_t hop = 0;  ///< its position on the path
        bool is_sum = false;
    };
    /// A token arrives at the end of a hop, or a booked send starts.
    struct Event {
        std::int64_t time;
        std::uint32_t token;
        bool is_send = false;
        Op op = Op::Copy;
        ChunkId chunk{};
        LinkId link{};
    };

    void add_token(const Token& token, Ticks time);
    void distribute(ChunkId chunk, Ticks time);
    void take(const Event& event);
    void go_on(std::uint32_t number, Ticks now);
    void start_hop(std::uint32_t number, Ticks now);
    [[nodiscard]] Op op_of_arrival(const Token& token, NodeId node);
    void book(const Send& send, Ticks now);
    /// Moves the sends of one time to those that next() returns.
    void give_in_order();

    const Instance& instance_;
    const Stop stop_;
    RingPlan plan_;
    std::string why_none_;
    std::vector<bool> is_added_;  ///< by chunk and NPU: the contribution is in the sum
    std::vector<Token> tokens_;
    std::vector<std::uint32_t> unused_;  ///< places in tokens_
    EventQueue<Event> events_;
    std::vector<Event> batch_;
    std::vector<Ticks> free_;  ///< by link: the end of its last booking
    std::vector<LegTime> legs_;
    std::vector<Send> at_once_;  ///< sends that start at the current time
    std::vector<Send> sends_;
    std::uint64_t given_ = 0;
    Ticks makespan_;
};

/// Its sends as a schedule in memory; none where there is none, or when stopped.
[[nodiscard]] std::optional<Schedule> ring_schedule(const Instance& instance, const Stop& stop);
/// Why there is none; empty if there is one.
[[nodiscard]] std::string why_no_ring(const Instance& instance);

}  // namespace tutti::heuristics

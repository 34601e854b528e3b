#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tutti::heuristics {

/// Local search on all-gathers, and backwards reduce-scatters, through switches: the messages of two-levels
/// and crossbar-rounds in other orders, over other paths, from other senders.
class MessageOrders {
  public:
    /// Makes the plans that it starts from. The instance must outlive this.
    MessageOrders(const Instance& instance, std::uint64_t seed, const Stop& stop);
    ~MessageOrders();
    MessageOrders(const MessageOrders&) = delete;
    MessageOrders& operator=(const MessageOrders&) = delete;

    /// Goes on until the makespan is at most `target`, so many messages were placed, or `stop`.
    void improve(Ticks target, std::uint64_t work, const Stop& stop);
    /// The best so far. None: it does not apply, or there was no time for a plan.
    [[nodiscard]] std::optional<Schedule> schedule() const;

  private:
    struct State;
    std::unique_ptr<State> state_;  ///< null: there is no plan
};

/// With the usual effort.
[[nodiscard]] std::optional<Schedule> message_orders(const Instance& instance, const Stop& stop);
/// Why there is none; empty if there may be one. O(chunks).
[[nodiscard]] std::string why_no_message_orders(const Instance& instance);

}  // namespace tutti::heuristics

#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tutti::timing {

/// The common form of plans for timing: tasks, each with at most one transfer over a fixed route, and the
/// dependencies among them. One front end per format writes it (msccl_tasks, execution_tasks, …); the
/// simulator takes nothing else.
///
/// A task has three moments. It is **ready** when all its dependencies are satisfied; it **starts** when the
/// first link of its route takes its data; it **arrives** when the last byte is at the other end. For a task
/// without a route the three coincide.

using TaskId = std::uint32_t;
using RouteId = std::uint32_t;
using SizeId = std::uint32_t;
using CounterId = std::uint32_t;

inline constexpr RouteId kNoRoute = std::numeric_limits<RouteId>::max();
/// The most tasks of a program; a simulation takes some 70 bytes for each.
inline constexpr std::uint64_t kMaxTasks = 10'000'000;

enum class Moment : std::uint8_t { Ready, Start, Arrive };

enum class TaskKind : std::uint8_t {
    Step,      ///< takes no time
    First,     ///< takes no time, and waits only for the first of its edges
    Transfer,  ///< data over a route
    Signal,    ///< takes the latencies of its route's links, and does not keep them busy
    Raise,     ///< increments a counter
    Take       ///< waits until the counter is positive and decrements it; first come, first served
};

struct TimedTask {
    TaskKind kind = TaskKind::Step;
    bool follows = false;      ///< also waits for the start of the task with the previous number
    RouteId route = kNoRoute;  ///< of Transfer and Signal
    std::uint32_t number = 0;  ///< the size of a Transfer, the counter of Raise and Take

    [[nodiscard]] static TimedTask transfer(RouteId route, SizeId size) {
        return {TaskKind::Transfer, false, route, size};
    }
    [[nodiscard]] static TimedTask signal(RouteId route) { return {TaskKind::Signal, false, route, 0}; }
    [[nodiscard]] static TimedTask raise(CounterId counter) {
        return {TaskKind::Raise, false, kNoRoute, counter};
    }
    [[nodiscard]] static TimedTask take(CounterId counter) {
        return {TaskKind::Take, false, kNoRoute, counter};
    }
};

/// `to` waits for that moment of `from`.
struct TimedEdge {
    TaskId from = 0, to = 0;
    Moment moment = Moment::Arrive;
};

struct TimedProgram {
    std::vector<TimedTask> tasks{};  ///< if two request a link at one tick, the lower number is served first
    std::vector<TimedEdge> edges{};
    std::vector<Bytes> sizes{};
    std::vector<std::int64_t> counters{};  ///< initial values
    std::vector<LinkId> route_links{};
    std::vector<std::uint32_t> route_begin{0};
    std::vector<TaskId> part_begin{};  ///< for several programs in one: the first task of each, ascending

    [[nodiscard]] std::size_t routes() const { return route_begin.size() - 1; }
    [[nodiscard]] std::span<const LinkId> route(RouteId id) const {
        return std::span(route_links).subspan(route_begin[id], route_begin[id + 1] - route_begin[id]);
    }
    RouteId add_route(std::span<const LinkId> links) {
        route_links.insert(route_links.end(), links.begin(), links.end());
        route_begin.push_back(static_cast<std::uint32_t>(route_links.size()));
        return static_cast<RouteId>(routes() - 1);
    }
    SizeId add_size(Bytes bytes) {
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (sizes[i] == bytes) return static_cast<SizeId>(i);
        }
        sizes.push_back(bytes);
        return static_cast<SizeId>(sizes.size() - 1);
    }
    /// Throws InputError beyond kMaxTasks.
    TaskId add_task(const TimedTask& task) {
        expect_room_for(1);
        tasks.push_back(task);
        return static_cast<TaskId>(tasks.size() - 1);
    }
    void expect_room_for(std::uint64_t more) const {
        if (more > kMaxTasks || tasks.size() + more > kMaxTasks) {
            throw InputError("the plan moves more than 10 million chunks, which is all that tutti times");
        }
    }
};

}  // namespace tutti::timing

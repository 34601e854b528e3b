// When sends start and arrive.
//
// TACCL's times are truncated to whole units, so two written times may be up to one unit closer than the
// exact ones: an arrival less than one unit after a send's start counts as in time.
//
// TACCL builds an all-reduce from a reduce-scatter (sends that add) and an all-gather (sends that replace),
// and starts the second one unit of the topology after the last send of the first has *started*; its own
// lowering goes by steps and so separates them. Times within each phase are right, so the second phase is
// delayed until the first has ended.

#include "verify/plan/send_flights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tutti::verify {
namespace {

using plan::kFinePerTime;
using plan::NodeSend;
using plan::ScclLink;
using plan::ScclPlan;
using plan::SendClock;
using plan::SendProgram;

constexpr std::int64_t kSlack = kFinePerTime - 1;

const ScclLink* link_of(const ScclPlan& plan, const NodeSend& send) {
    const auto ends = std::pair(send.src, send.dst);
    const auto found = std::ranges::lower_bound(
        plan.links, ends, {}, [](const ScclLink& link) { return std::pair(link.src, link.dst); });
    return found != plan.links.end() && std::pair(found->src, found->dst) == ends ? &*found : nullptr;
}

void check_links(const SendProgram& plan, const ScclPlan* network, Findings& violations) {
    for (const NodeSend& send : plan.sends) {
        std::string problem;
        if (!joins_nodes(plan, send)) {
            problem = fmt::format("there are only nodes 0 to {}", plan.nodes - 1);
        } else if (network != nullptr && network->has_links) {
            const ScclLink* link = link_of(*network, send);
            if (link == nullptr) {
                problem = "there is no such link";
            } else if (plan.clock == SendClock::Times && send.lane >= link->capacity) {
                problem = fmt::format("that link has no lane {}, only {} of them", send.lane, link->capacity);
            }
        }
        if (problem.empty()) continue;
        if (violations.open()) {
            violations.add("link", fmt::format("{}, but {}", send_text(plan, send), problem), place_of(send));
        } else {
            violations.count_one();
        }
    }
}

/// Sends that leave together over one lane, as TACCL counts them.
struct Batch {
    const ScclLink* link = nullptr;
    std::int32_t lane = 0;
    std::int64_t start = 0;
    std::size_t first = 0, last = 0;  ///< in the sorted order
};

class TimedFlights {
  public:
    TimedFlights(const ScclPlan& plan, Findings& warnings) : plan_(plan), warnings_(warnings) {}

    std::vector<Flight> run() {
        flights_.resize(plan_.sends.size());
        for (std::size_t i = 0; i < flights_.size(); ++i) {
            const std::int64_t start = plan_.sends[i].when * kFinePerTime;
            flights_[i] = {start, start + 1, start + 1};
        }
        if (!plan_.has_latencies) {
            warnings_.add("lacks",
                          "sends have times, but the topology has no latencies: a send is taken to arrive "
                          "before any later one starts");
            return std::move(flights_);
        }
        find_batches();
        for (const Batch& batch : batches_) settle(batch);
        warn_of_overlap();
        part_phases();
        return std::move(flights_);
    }

  private:
    void find_batches() {
        order_.resize(plan_.sends.size());
        std::iota(order_.begin(), order_.end(), 0U);
        const auto key = [&](std::uint32_t i) {
            const NodeSend& send = plan_.sends[i];
            return std::tuple(send.src, send.dst, send.lane, send.when);
        };
        std::ranges::stable_sort(order_, {}, key);
        for (std::size_t begin = 0; begin < order_.size();) {
            std::size_t end = begin;
            while (end < order_.size() && key(order_[end]) == key(order_[begin])) ++end;
            const NodeSend& send = plan_.sends[order_[begin]];
            if (const ScclLink* link = link_of(plan_, send)) {
                batches_.push_back({link, send.lane, flights_[order_[begin]].start, begin, end});
            }
            begin = end;
        }
    }

    /// Saturates, so that times can be added.
    [[nodiscard]] static std::int64_t duration(const Batch& batch) {
        __extension__ using Wide = __int128;
        constexpr Wide kAge = Wide{1} << 60U;
        const Wide chunks = batch.last - batch.first;
        return static_cast<std::int64_t>(std::min(kAge, batch.link->alpha + chunks * batch.link->beta));
    }

    void settle(const Batch& batch) {
        for (std::size_t i = batch.first; i < batch.last; ++i) {
            Flight& flight = flights_[order_[i]];
            flight.arrival = flight.start + duration(batch);
            flight.usable = std::max(flight.start + 1, flight.arrival - kSlack);
        }
    }

    void warn_of_overlap() {
        std::uint64_t overlaps = 0;
        std::string first;
        plan::Place place;
        for (std::size_t i = 1; i < batches_.size(); ++i) {
            const Batch &before = batches_[i - 1], &batch = batches_[i];
            if (before.link != batch.link || before.lane != batch.lane) continue;
            const std::int64_t free = before.start + duration(before);
            if (free - kSlack <= batch.start) continue;
            if (overlaps++ > 0) continue;
            const NodeSend& send = plan_.sends[order_[batch.first]];
            first = fmt::format("{}, while the link is busy until {} with what started at {}",
                                send_text(plan_, send), free / kFinePerTime, before.start / kFinePerTime);
            place = place_of(send);
        }
        if (overlaps == 0) return;
        warnings_.add("bandwidth",
                      fmt::format("{} transfers start while their link is busy, so that the times cannot all "
                                  "be kept; the first: {}",
                                  overlaps, first),
                      place);
    }

    void part_phases() {
        std::int64_t last_sum = -1, sums_end = 0;
        std::int64_t first_copy = std::numeric_limits<std::int64_t>::max();
        for (std::size_t i = 0; i < flights_.size(); ++i) {
            if (plan_.sends[i].replaces) {
                first_copy = std::min(first_copy, flights_[i].start);
            } else {
                last_sum = std::max(last_sum, flights_[i].start);
                sums_end = std::max(sums_end, flights_[i].arrival);
            }
        }
        if (last_sum < 0 || last_sum >= first_copy || sums_end - kSlack <= first_copy ||
            first_copy == std::numeric_limits<std::int64_t>::max()) {
            return;
        }
        const std::int64_t shift = sums_end - first_copy;
        for (std::size_t i = 0; i < flights_.size(); ++i) {
            if (!plan_.sends[i].replaces) continue;
            flights_[i].start += shift;
            flights_[i].usable += shift;
            flights_[i].arrival += shift;
        }
        warnings_.add(
            "early",
            fmt::format("the sends that only copy begin at time {}, before the last sum has "
                        "arrived at {}; they are judged {} later",
                        first_copy / kFinePerTime, sums_end / kFinePerTime, (shift + kSlack) / kFinePerTime));
    }

    const ScclPlan& plan_;
    Findings& warnings_;
    std::vector<Flight> flights_;
    std::vector<std::uint32_t> order_;
    std::vector<Batch> batches_;
};

}  // namespace

std::vector<Flight> flights_of(const SendProgram& program, const ScclPlan* network, Findings& violations,
                               Findings& warnings) {
    check_links(program, network, violations);
    if (program.clock == SendClock::Times && network != nullptr)
        return TimedFlights(*network, warnings).run();
    std::vector<Flight> flights;
    flights.reserve(program.sends.size());
    for (const NodeSend& send : program.sends) {
        const std::int64_t end = std::max(send.arrives.value_or(send.when), send.when + 1);
        flights.push_back({send.when, end, end});
    }
    return flights;
}

plan::Place place_of(const NodeSend& send) {
    plan::Place place{.gpu = rank_of(send.src), .step = plan::StepId(static_cast<std::size_t>(send.list))};
    if (send.position) place.inner = plan::StepId(static_cast<std::size_t>(*send.position));
    return place;
}

std::string when_text(const SendProgram& plan, const NodeSend& send) {
    switch (plan.clock) {
        case SendClock::Steps:
            return fmt::format("in step {}", send.when);
        case SendClock::Times:
            return fmt::format("at time {}", send.when);
        case SendClock::Epochs:
            return fmt::format("in epoch {}", send.when);
        case SendClock::Queues:
            return fmt::format("as number {} of its link's queue", send.position.value_or(0));
    }
    return {};
}

std::string send_text(const SendProgram& plan, const NodeSend& send) {
    return fmt::format("{} sends {} to {} {}", node_name(plan, send.src), address_name(plan, send.address),
                       node_name(plan, send.dst), when_text(plan, send));
}

}  // namespace tutti::verify

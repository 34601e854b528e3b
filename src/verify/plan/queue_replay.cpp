// Whether queues run empty does not depend on how long transfers take: nodes only gain chunks, so a link that
// can send now can send for ever. Times decide only the makespan, and which of two copies comes first. One
// replay in order of time gives both. O(sends log sends); memory that of the sends, whatever the file says
// there are of nodes and chunks.

#include "verify/plan/queue_replay.hpp"

#include "verify/plan/send_flights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace tutti::verify {
namespace {

using plan::NodeSend;
using plan::SendPlan;

class QueueReplay {
  public:
    QueueReplay(const SendPlan& plan, const QueueStart& start, Findings& violations, Findings& warnings)
        : plan_(plan), start_(start), violations_(violations), warnings_(warnings) {}

    std::int64_t run() {
        // Sends of one link lie side by side, in order.
        queues_.resize(plan_.links.size());
        for (std::uint32_t i = 0; i < plan_.sends.size(); ++i) {
            Queue& queue = queues_[static_cast<std::size_t>(plan_.sends[i].list)];
            if (queue.end == 0) queue.next = i;
            queue.end = i + 1;
        }
        for (std::uint32_t link = 0; link < queues_.size(); ++link) try_to_send(link, 0);
        while (!flights_.empty()) {
            const auto [arrival, link] = flights_.top();
            flights_.pop();
            arrive(link, arrival);
        }
        for (const Queue& queue : queues_) report_stop(queue);
        judge_end();
        return last_;
    }

  private:
    struct Queue {
        std::uint32_t next = 0, end = 0;  ///< in plan_.sends
    };
    struct Place {
        std::int32_t node = 0;
        std::int64_t chunk = 0;
        friend bool operator==(const Place&, const Place&) = default;
    };
    struct PlaceHash {
        std::size_t operator()(const Place& place) const noexcept {
            const auto node = static_cast<std::uint64_t>(static_cast<std::uint32_t>(place.node));
            return std::hash<std::uint64_t>{}(
                (node << 40U) ^ (static_cast<std::uint64_t>(place.chunk) * 0x9E3779B97F4A7C15U));
        }
    };

    [[nodiscard]] bool holds(const Place& place) const {
        return start_.holder(place.chunk, plan_.nodes) == place.node || received_.contains(place);
    }

    /// Times stop at the end of time.
    [[nodiscard]] static std::int64_t later(std::int64_t now, const plan::NodeLink& link) {
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
        const std::int64_t duration = link.alpha + link.beta;
        return now > kMost - duration ? kMost : now + duration;
    }

    void try_to_send(std::uint32_t link, std::int64_t now) {
        const Queue& queue = queues_[link];
        if (queue.next == queue.end) return;
        const NodeSend& send = plan_.sends[queue.next];
        const Place place{send.src, send.address};
        if (holds(place)) {
            flights_.emplace(later(now, plan_.links[link]), link);
        } else {
            waiting_[place].push_back(link);
        }
    }

    void arrive(std::uint32_t link, std::int64_t now) {
        const std::uint32_t index = queues_[link].next++;
        const NodeSend& send = plan_.sends[index];
        const Place place{send.dst, send.address};
        last_ = now;
        if (!holds(place)) {
            received_.insert(place);
            if (const auto found = waiting_.find(place); found != waiting_.end()) {
                const std::vector<std::uint32_t> woken = std::move(found->second);
                waiting_.erase(found);
                for (const std::uint32_t other : woken) try_to_send(other, now);
            }
        } else if (redundant_++ == 0) {
            first_redundant_ = index;
        }
        try_to_send(link, now);
    }

    void report_stop(const Queue& queue) {
        if (queue.next == queue.end) return;
        if (!violations_.open()) {
            violations_.count_one();
            return;
        }
        const NodeSend& send = plan_.sends[queue.next];
        const auto bringer = std::ranges::find_if(plan_.sends, [&](const NodeSend& other) {
            return other.dst == send.src && other.address == send.address;
        });
        if (bringer == plan_.sends.end()) {
            violations_.add("not-held", send_text(plan_, send) + ", but no link ever brings it there",
                            place_of(send));
            return;
        }
        violations_.add(
            "deadlock",
            fmt::format("{}, which waits for ever: {} should send it there {}, but that queue has "
                        "stopped too",
                        send_text(plan_, send), node_name(plan_, bringer->src), when_text(plan_, *bringer)),
            place_of(send), {place_of(*bringer)});
    }

    void judge_end() {
        std::vector<std::int64_t> has(static_cast<std::size_t>(plan_.nodes));
        for (std::int32_t node = 0; node < plan_.nodes; ++node)
            has[static_cast<std::size_t>(node)] = started(node);
        for (const Place& place : received_) ++has[static_cast<std::size_t>(place.node)];
        for (std::int32_t node = 0; node < plan_.nodes; ++node) {
            const std::int64_t lacks = plan_.addresses - has[static_cast<std::size_t>(node)];
            if (lacks > 0) report_lack(node, lacks);
        }
        if (redundant_ > 0) {
            const NodeSend& send = plan_.sends[first_redundant_];
            warnings_.add("redundant",
                          fmt::format("{} sends bring a chunk to a node that already has it; the first: {}",
                                      redundant_, send_text(plan_, send)),
                          place_of(send));
        }
    }

    /// How many chunks a node has at the start.
    [[nodiscard]] std::int64_t started(std::int32_t node) const {
        if (start_.goal == CollectiveKind::Broadcast) return node == start_.root ? plan_.addresses : 0;
        return plan_.addresses / plan_.nodes + (node < plan_.addresses % plan_.nodes ? 1 : 0);
    }

    void report_lack(std::int32_t node, std::int64_t lacks) {
        if (!violations_.open()) {
            violations_.count_one();
            return;
        }
        std::int64_t chunk = 0;
        while (holds({node, chunk})) ++chunk;
        plan::Place place;
        place.gpu = Rank(static_cast<std::size_t>(node));
        violations_.add("value",
                        fmt::format("{} never gets {} of the {} chunks; the first is chunk {}",
                                    node_name(plan_, node), lacks, plan_.addresses, chunk),
                        place);
    }

    const SendPlan& plan_;
    const QueueStart& start_;
    Findings &violations_, &warnings_;
    std::vector<Queue> queues_;
    std::unordered_set<Place, PlaceHash> received_;
    std::unordered_map<Place, std::vector<std::uint32_t>, PlaceHash> waiting_;  ///< links by what they lack
    using Arrival = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> flights_;  ///< when, over which link
    std::int64_t last_ = 0;
    std::uint64_t redundant_ = 0;
    std::uint32_t first_redundant_ = 0;
};

}  // namespace

std::int64_t replay_queues(const SendPlan& plan, const QueueStart& start, Findings& violations,
                           Findings& warnings) {
    return QueueReplay(plan, start, violations, warnings).run();
}

}  // namespace tutti::verify

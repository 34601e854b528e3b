// Whether all queues become empty does not depend on transfer times: nodes only gain chunks, so a link that
// can send now can send later. Times determine only the makespan, and which of two copies comes first. One
// replay in order of time gives both. O(sends log sends); memory O(sends), whatever numbers of nodes and
// chunks the file declares.

#include "verify/plan/queue_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace tutti::verify {
namespace {

using plan::PlanNode;
using plan::QueueStart;
using plan::TacosLink;
using plan::TacosPlan;

class QueueReplay {
  public:
    QueueReplay(const TacosPlan& plan, const QueueStart& start, Findings& violations, Findings& warnings)
        : plan_(plan), start_(start), violations_(violations), warnings_(warnings) {}

    std::int64_t run() {
        next_.resize(plan_.links.size());
        for (std::uint32_t link = 0; link < next_.size(); ++link) try_to_send(link, 0);
        while (!flights_.empty()) {
            const auto [arrival, link] = flights_.top();
            flights_.pop();
            arrive(link, arrival);
        }
        for (std::uint32_t link = 0; link < next_.size(); ++link) report_stop(link);
        judge_end();
        return last_;
    }

  private:
    /// A send: a place in a link's queue.
    struct Send {
        std::uint32_t link = 0;
        std::size_t number = 0;
    };
    struct Place {
        PlanNode node{};
        std::int64_t chunk = 0;
        friend bool operator==(const Place&, const Place&) = default;
    };
    struct PlaceHash {
        std::size_t operator()(const Place& place) const noexcept {
            const std::uint64_t node = place.node.value();
            return std::hash<std::uint64_t>{}(
                (node << 40U) ^ (static_cast<std::uint64_t>(place.chunk) * 0x9E3779B97F4A7C15U));
        }
    };

    [[nodiscard]] bool holds(const Place& place) const {
        return start_.holder(place.chunk, plan_.nodes) == place.node || received_.contains(place);
    }

    /// Saturates at the largest time.
    [[nodiscard]] static std::int64_t later(std::int64_t now, const TacosLink& link) {
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
        const std::int64_t duration = link.alpha + link.beta;
        return now > kMost - duration ? kMost : now + duration;
    }

    void try_to_send(std::uint32_t link, std::int64_t now) {
        const TacosLink& of = plan_.links[link];
        if (next_[link] == of.queue.size()) return;
        const Place place{of.src, of.queue[next_[link]]};
        if (holds(place)) {
            flights_.emplace(later(now, of), link);
        } else {
            waiting_[place].push_back(link);
        }
    }

    void arrive(std::uint32_t link, std::int64_t now) {
        const Send send{link, next_[link]++};
        const Place place{plan_.links[link].dst, chunk_of(send)};
        last_ = now;
        if (!holds(place)) {
            received_.insert(place);
            if (const auto found = waiting_.find(place); found != waiting_.end()) {
                const std::vector<std::uint32_t> woken = std::move(found->second);
                waiting_.erase(found);
                for (const std::uint32_t other : woken) try_to_send(other, now);
            }
        } else if (redundant_++ == 0) {
            first_redundant_ = send;
        }
        try_to_send(link, now);
    }

    [[nodiscard]] std::int64_t chunk_of(const Send& send) const {
        return plan_.links[send.link].queue[send.number];
    }
    [[nodiscard]] static std::string when_text(const Send& send) {
        return fmt::format("as number {} of its link's queue", send.number);
    }
    /// "node 0 sends chunk 2 to node 1 as number 0 of its link's queue".
    [[nodiscard]] std::string text_of(const Send& send) const {
        const TacosLink& link = plan_.links[send.link];
        return fmt::format("node {} sends chunk {} to node {} {}", link.src, chunk_of(send), link.dst,
                           when_text(send));
    }
    [[nodiscard]] plan::Place place_of(const Send& send) const {
        return {.gpu = rank_of(plan_.links[send.link].src),
                .step = plan::StepId(send.link),
                .inner = plan::StepId(send.number)};
    }
    /// The first send, in the file's order, that brings the chunk to the node.
    [[nodiscard]] std::optional<Send> bringer_of(const Place& place) const {
        for (std::uint32_t link = 0; link < plan_.links.size(); ++link) {
            if (plan_.links[link].dst != place.node) continue;
            const auto& queue = plan_.links[link].queue;
            const auto found = std::ranges::find(queue, place.chunk);
            if (found != queue.end()) return Send{link, static_cast<std::size_t>(found - queue.begin())};
        }
        return std::nullopt;
    }

    void report_stop(std::uint32_t link) {
        const TacosLink& of = plan_.links[link];
        if (next_[link] == of.queue.size()) return;
        if (!violations_.open()) {
            violations_.count_one();
            return;
        }
        const Send send{link, next_[link]};
        const auto bringer = bringer_of({of.src, chunk_of(send)});
        if (!bringer) {
            violations_.add("not-held", text_of(send) + ", but no link ever brings it there", place_of(send));
            return;
        }
        violations_.add(
            "deadlock",
            fmt::format("{}, which waits for ever: node {} should send it there {}, but that queue has "
                        "stopped too",
                        text_of(send), plan_.links[bringer->link].src, when_text(*bringer)),
            place_of(send), {place_of(*bringer)});
    }

    void judge_end() {
        std::vector<std::int64_t> has(static_cast<std::size_t>(plan_.nodes));
        for (const PlanNode node : plan::nodes_below(plan_.nodes)) has[node.index()] = started(node);
        for (const Place& place : received_) ++has[place.node.index()];
        for (const PlanNode node : plan::nodes_below(plan_.nodes)) {
            const std::int64_t lacks = plan_.chunks - has[node.index()];
            if (lacks > 0) report_lack(node, lacks);
        }
        if (redundant_ > 0) {
            warnings_.add("redundant",
                          fmt::format("{} sends bring a chunk to a node that already has it; the first: {}",
                                      redundant_, text_of(first_redundant_)),
                          place_of(first_redundant_));
        }
    }

    /// How many chunks a node has at the start.
    [[nodiscard]] std::int64_t started(PlanNode node) const {
        if (start_.goal == CollectiveKind::Broadcast) return node == start_.root ? plan_.chunks : 0;
        return plan_.chunks / plan_.nodes + (node.value() < plan_.chunks % plan_.nodes ? 1 : 0);
    }

    void report_lack(PlanNode node, std::int64_t lacks) {
        if (!violations_.open()) {
            violations_.count_one();
            return;
        }
        std::int64_t chunk = 0;
        while (holds({node, chunk})) ++chunk;
        plan::Place place;
        place.gpu = rank_of(node);
        violations_.add("value",
                        fmt::format("node {} never gets {} of the {} chunks; the first is chunk {}", node,
                                    lacks, plan_.chunks, chunk),
                        place);
    }

    const TacosPlan& plan_;
    const QueueStart& start_;
    Findings &violations_, &warnings_;
    std::vector<std::size_t> next_;  ///< each link's next in its queue
    std::unordered_set<Place, PlaceHash> received_;
    std::unordered_map<Place, std::vector<std::uint32_t>, PlaceHash> waiting_;  ///< links by what they lack
    using Arrival = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> flights_;  ///< when, over which link
    std::int64_t last_ = 0;
    std::uint64_t redundant_ = 0;
    Send first_redundant_{};
};

}  // namespace

std::int64_t replay_queues(const TacosPlan& plan, const QueueStart& start, Findings& violations,
                           Findings& warnings) {
    return QueueReplay(plan, start, violations, warnings).run();
}

}  // namespace tutti::verify

// Timed lengths: weights on windows of links; in each window at most one transfer starts. A chunk that starts
// at t pays the weights of all windows of that link that contain t. If all chunks together must pay more than
// the sum of all weights, some window is used twice: there is no schedule within the horizon.
//
// The cheapest time-expanded path of a chunk is found by processing events in order of time. The least price
// at a node only falls with time, and the price of a link is a step function of time. So a start needs to be
// considered only when a cheaper path has just reached its source, or when the link's price has just fallen.
// The running time does not depend on the number of ticks. Waiting is free at every node, even at switches
// that cannot store: that can only make paths cheaper.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_messages.hpp"
#include "verify/certificate_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

namespace tutti::verify {
namespace {

/// What a start on a link costs, as steps: from `tick` on, `price`.
struct TimedStep {
    Wide tick, price;
};

class PricesThroughTime {
  public:
    PricesThroughTime(const Instance& instance, const TimedLengthsCertificate& timed, Bytes bytes)
        : instance_(instance), horizon_(timed.horizon.count()), steps_(instance.topology().links().size()) {
        for (const auto& [link, window, weight] : timed.weights) {
            auto& steps = steps_[link.index()];
            steps.push_back({window.count(), weight});
            steps.push_back({Wide{window.count()} + busy(instance, link, bytes).count(), -Wide{weight}});
        }
        for (std::size_t e = 0; e < steps_.size(); ++e) add_up(LinkId(e));
        std::ranges::stable_sort(falls_, {}, &Fall::tick);
    }

    /// Per node the least price of being there by the horizon.
    std::vector<Wide> from(ChunkId chunk, std::span<const NodeId> starts) const {
        std::vector<Wide> best(instance_.topology().nodes(), kNever);
        std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
        const CollectiveId collective = instance_.demand(chunk).collective;
        Wide release = kNever;
        for (const NodeId node : starts) {
            const Wide own = instance_.release_of(collective, node).count();
            arrivals.push({own, 0, node});
            release = std::min(release, own);
        }
        const auto start = [&](LinkId link, Wide tick, Wide paid) {
            // A cut-through switch forwards the chunk before it has arrived, but the arrival must be in time
            // too.
            if (tick + arrival(instance_, link, chunk).count() > horizon_) return;
            if (!may_use(instance_, link, collective)) return;
            const NodeId dst = instance_.topology().link(link).dst;
            const Wide price = paid + price_at(link, tick);
            if (price >= best[dst.index()]) return;
            arrivals.push({tick + transit(instance_, link, chunk).count(), price, dst});
        };
        auto fall = std::ranges::lower_bound(falls_, release, {}, &Fall::tick);
        while (!arrivals.empty() || fall != falls_.end()) {
            if (arrivals.empty() || (fall != falls_.end() && fall->tick < arrivals.top().tick)) {
                const Wide paid = best[instance_.topology().link(fall->link).src.index()];
                if (paid < kNever) start(fall->link, fall->tick, paid);
                ++fall;
                continue;
            }
            const auto [tick, price, node] = arrivals.top();
            arrivals.pop();
            if (price >= best[node.index()]) continue;
            best[node.index()] = price;
            for (const LinkId link : instance_.topology().out_links(node)) start(link, tick, price);
        }
        return best;
    }

  private:
    struct Arrival {
        Wide tick, price;
        NodeId node;
        auto operator<=>(const Arrival&) const = default;
    };
    struct Fall {
        Wide tick;
        LinkId link;
    };

    /// Turns the changes of a link's price into its price from each change on.
    void add_up(LinkId link) {
        auto& steps = steps_[link.index()];
        std::ranges::sort(steps, {}, &TimedStep::tick);
        std::vector<TimedStep> sums;
        Wide price = 0;
        for (std::size_t i = 0; i < steps.size();) {
            const Wide tick = steps[i].tick, before = price;
            for (; i < steps.size() && steps[i].tick == tick; ++i) price += steps[i].price;
            sums.push_back({tick, price});
            if (price < before && tick <= horizon_) falls_.push_back({tick, link});
        }
        steps = std::move(sums);
    }

    Wide price_at(LinkId link, Wide tick) const {
        const auto& steps = steps_[link.index()];
        const auto after = std::ranges::upper_bound(steps, tick, {}, &TimedStep::tick);
        return after == steps.begin() ? Wide{0} : std::prev(after)->price;
    }

    const Instance& instance_;
    Wide horizon_;
    std::vector<std::vector<TimedStep>> steps_;  ///< per link
    std::vector<Fall> falls_;                    ///< when a link's price falls, in order of time
};

/// So that 2^26 chunks on paths of 2^24 links with 2^25 weights each can be added up in 127 bits.
constexpr std::int64_t kMaxWeight = std::int64_t{1} << 48;

Objection check_form(const Instance& instance, const TimedLengthsCertificate& timed, Ticks value) {
    if (timed.horizon < Ticks(0) || timed.horizon >= value || timed.horizon + Ticks(1) != value) {
        return "the horizon is not the bound - 1";
    }
    if (timed.target && timed.target->index() >= instance.topology().nodes()) {
        return fmt::format("there is no node {}", timed.target->value());
    }
    if (timed.target && timed.messages) return "messages are counted to all receivers, not to one node";
    for (const auto& [link, window, weight] : timed.weights) {
        if (link.index() >= instance.topology().links().size())
            return fmt::format("there is no link {}", link.value());
        if (weight < 0) return "a weight is negative";
        if (weight > kMaxWeight) return "a weight is above 2^48, too large to add up";
    }
    return std::nullopt;
}

}  // namespace

Objection check_timed_lengths(const Instance& instance, const TimedLengthsCertificate& timed, Ticks value) {
    expects(value > Ticks(0));
    if (auto objection = check_form(instance, timed, value)) return objection;
    auto needs = needs_of(instance);
    if (timed.target) {
        std::erase_if(needs, [&](const Need& need) {
            return !std::ranges::binary_search(instance.demand(need.chunk).receivers, *timed.target);
        });
    }
    if (needs.empty()) return "no chunk has to move";
    // A window is as long as the link's busy time for the smallest chunk that may use it: larger chunks leave
    // even less room.
    Bytes bytes = instance.demand(needs.front().chunk).bytes;
    for (const Need& need : needs) bytes = std::min(bytes, instance.demand(need.chunk).bytes);
    const PricesThroughTime through(instance, timed, bytes);
    MinimumPrices prices(
        instance, [&](ChunkId chunk, std::span<const NodeId> starts) { return through.from(chunk, starts); },
        timed.target);
    MessagePrices messages(instance, timed, bytes);
    Wide needed = 0, allowed = 0;
    for (const Need& need : needs) {
        const bool by_message = timed.messages && messages.counts(need);
        const Wide each = by_message ? messages.of(need) : prices.of(need);
        if (each >= kNever) return std::nullopt;  // this chunk alone cannot be there by the horizon
        needed += each * need.count;
    }
    for (const auto& weight : timed.weights) allowed += weight.weight;
    if (needed <= allowed) {
        return fmt::format("the chunks must pay {}, which is not more than the weights' sum {}",
                           text_of(needed), text_of(allowed));
    }
    return std::nullopt;
}

}  // namespace tutti::verify

// All-to-alls where latency counts. A chunk from one NPU to one other starts at s, is on its way for at least
// the least time d between the two, and has arrived a time l before the end: T >= s + d + l. Add that up
// over all K chunks: K * T >= sum of s + sum of d + sum of l.
//
// The starts at one NPU: on each of its links they are at least the link's busy time apart, so their sum is
// at least that of the earliest slots 0, busy, 2 busy, … of all its links, after the first release. The times
// left at one NPU likewise, from the end. A chunk that leaves early or arrives late is paid for by others;
// `ingress` and `egress` see one NPU, and only one end of the way.
//
// It holds with every kind of switch: the start, the way and the arrival are those of the chain of sends that
// brings the chunk. Other chunks only take slots away. Sizes may differ: slots are those of the smallest.
//
// Complexity: a search per sending NPU, then O(chunks log ports).

#include "bounds/families.hpp"
#include "bounds/link_window.hpp"
#include "bounds/paced_paths.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostSumWork = 40'000'000;  ///< links relaxed
constexpr std::size_t kMostSumSizes = 3;

/// The least sum of so many different slots: multiples of the gaps.
Wide least_slots(const std::vector<Ticks>& gaps, std::uint64_t count) {
    using Slot = std::pair<std::int64_t, std::int64_t>;
    std::priority_queue<Slot, std::vector<Slot>, std::greater<>> next;
    for (const Ticks gap : gaps) next.emplace(0, gap.count());
    Wide sum = 0;
    for (std::uint64_t i = 0; i < count && !next.empty(); ++i) {
        const auto [slot, gap] = next.top();
        next.pop();
        sum += slot;
        next.emplace(slot + gap, gap);
    }
    return sum;
}

class Sum {
  public:
    Sum(const Traffic& traffic, Bytes bytes)
        : traffic_(traffic), topology_(traffic.topology()), bytes_(bytes) {
        for (const ChunkClass& c : traffic.classes()) {
            const Demand demand = traffic.demand(c);
            const bool counts = demand.bytes >= bytes && demand.holders.size() == 1 &&
                                demand.receivers.size() == 1 && demand.holders[0] != demand.receivers[0];
            if (counts) by_sender_[{&traffic.passage(c), demand.holders[0]}].push_back(&c);
        }
    }

    [[nodiscard]] std::size_t work(const PacedNetwork& network) const {
        return by_sender_.size() * network.work() + traffic_.classes().size();
    }

    Bound bound(const PacedNetwork& network) {
        Wide total = 0;
        std::map<NodeId, Ticks> release;
        std::map<NodeId, std::uint64_t> sent, received;
        std::uint64_t chunks = 0;
        for (const auto& [sender, classes] : by_sender_) {
            const auto times = network.times({{sender.second, Ticks(0)}}, Direction::Forwards,
                                             [&](NodeId node) { return sender.first->admits(node); });
            Ticks& first = release.try_emplace(sender.second, kNever).first->second;
            for (const ChunkClass* c : classes) {
                const NodeId to = traffic_.demand(*c).receivers[0];
                const Ticks way = times.stored[to.index()];
                if (way == kNever) return {"sum", Ticks(0), {}, 0};
                total += Wide{way.count()} * Wide{c->count};
                chunks += c->count;
                sent[sender.second] += c->count;
                received[to] += c->count;
                first = std::min(first, traffic_.release(*c));
            }
        }
        for (const auto& [npu, count] : sent)
            total +=
                Wide{release[npu].count()} * Wide{count} + least_slots(gaps(topology_.out_links(npu)), count);
        for (const auto& [npu, count] : received) total += least_slots(gaps(topology_.in_links(npu)), count);
        if (chunks == 0) return {"sum", Ticks(0), {}, 0};
        const Wide average = (total + Wide{chunks} - 1) / Wide{chunks};
        return {"sum", Ticks(static_cast<std::int64_t>(average)), SumCertificate{bytes_}, 0};
    }

  private:
    [[nodiscard]] std::vector<Ticks> gaps(std::span<const LinkId> links) const {
        std::vector<Ticks> all;
        for (const LinkId id : links) all.push_back(traffic_.instance().busy(id, topology_.beta(id, bytes_)));
        return all;
    }

    const Traffic& traffic_;
    const Topology& topology_;
    Bytes bytes_;
    std::map<std::pair<const Passage*, NodeId>, std::vector<const ChunkClass*>> by_sender_;
};

}  // namespace

std::optional<Bound> sum_of_times(Traffic& traffic, const Stop& stop) {
    Bound best{"sum", Ticks(0), {}, 0};
    std::set<Bytes> sizes;
    for (const ChunkClass& c : traffic.classes()) sizes.insert(traffic.demand(c).bytes);
    Effort effort(kMostSumWork, stop);
    std::size_t tried = 0;
    for (const Bytes bytes : sizes) {
        if (++tried > kMostSumSizes) break;
        Sum sum(traffic, bytes);
        const PacedNetwork network(traffic.instance(), bytes);
        if (!effort.spend(sum.work(network)))
            return best.value > Ticks(0) ? std::optional(best) : std::nullopt;
        Bound found = sum.bound(network);
        if (found.value > best.value) best = std::move(found);
    }
    return best;
}

}  // namespace tutti::bounds

// A sum cannot be larger than what has been put into it. Where no switch adds, contributions merge at NPUs
// only. Let W(s) bound how many contributions to one chunk any NPU can have s ticks after the first release:
// its own, and what has arrived. A message that arrives by s has started lambda earlier at the least, and
// carries at most what its sender had then; over one port the arrivals before are a gap h apart:
//
//     W(s) = min(n, 1 + sum over ports j and k >= 0 of W(s - lambda - k h_j)),  W = 0 for negative times.
//
// The ports are those of an NPU that has the fastest port of any, the second fastest of any, and so on. One
// NPU x must receive all contributions of others to all chunks that it wants, so by T the sum of W(T -
// lambda_p - k h_p) over its own ports must be that many; no message brings it more than there are others.
//
// `ingress` lets one message bring everything from the first tick on. This tells where few chunks must be
// summed up in few rounds: a small all-reduce.
//
// W is computed from the end by recursion and kept in a table; beyond the time at which it is n there is
// nothing to compute. Complexity: a search per NPU, then O(log T) tables of at most the rounds it takes to
// reach n, squared.

#include "bounds/contribution_sums.hpp"
#include "bounds/families.hpp"
#include "bounds/message_ports.hpp"
#include "core/least_tick.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostContributionWork = 20'000'000;  ///< links relaxed
constexpr std::size_t kMostReceiversTried = 3;

/// What one NPU must receive.
struct Receiver {
    std::int64_t needed = 0, others = 0, holders = 0;  ///< in sum, and at most for one chunk
    Ticks release = kNever;
    std::set<const Passage*> passages;
};

class Contributions {
  public:
    Contributions(const Traffic& traffic, Bytes bytes)
        : traffic_(traffic),
          topology_(traffic.topology()),
          network_(traffic.instance(), bytes),
          bytes_(bytes) {
        for (const ChunkClass& c : traffic.classes()) {
            const Demand demand = traffic.demand(c);
            if (!demand.reduction || demand.bytes < bytes) continue;
            const auto holders = std::ssize(demand.holders);
            for (const NodeId npu : demand.receivers) {
                const bool own = std::ranges::binary_search(demand.holders, npu);
                const std::int64_t others = holders - (own ? 1 : 0);
                if (others == 0) continue;
                Receiver& receiver = receivers_[npu];
                receiver.needed += others * static_cast<std::int64_t>(c.count);
                receiver.others = std::max(receiver.others, others);
                receiver.holders = std::max<std::int64_t>(receiver.holders, holders);
                receiver.release = std::min(receiver.release, traffic.release(c));
                receiver.passages.insert(&traffic.passage(c));
            }
        }
    }

    void improve(Bound& best) {
        find_ports();
        std::vector<std::pair<double, NodeId>> order;
        for (const auto& [npu, receiver] : receivers_) {
            double speed = 0;
            for (const MessagePort& port : ports_[npu.index()]) speed += 1 / static_cast<double>(port.gap);
            if (speed > 0) order.emplace_back(static_cast<double>(receiver.needed) / speed, npu);
        }
        std::ranges::stable_sort(order, std::ranges::greater{},
                                 [](const auto& entry) { return entry.first; });
        for (std::size_t i = 0; i < std::min(order.size(), kMostReceiversTried); ++i)
            try_receiver(order[i].second, best);
    }

  private:
    /// Where messages from anybody else can end, for each NPU.
    void find_ports() {
        std::set<const Passage*> all;
        for (const auto& [npu, receiver] : receivers_)
            all.insert(receiver.passages.begin(), receiver.passages.end());
        ports_ = message_ports(network_, carriers(topology_, {all.begin(), all.end()}), Direction::Forwards);
        paces_ = FastestPorts(ports_);
    }

    void try_receiver(NodeId npu, Bound& best) {
        const Receiver& receiver = receivers_[npu];
        std::size_t work_left = Sums::kMostEntries;
        Sums sums(paces_, receiver.holders, work_left);
        const auto enough = [&](Ticks end) {
            return received(ports_[npu.index()], receiver, sums, end.count());
        };
        const Ticks more = std::max(Ticks(0), best.value - receiver.release + Ticks(1));
        if (enough(more)) return;
        const auto end = least_tick(enough, more);
        if (end) best = {"contributions", receiver.release + *end, ContributionsCertificate{npu, bytes_}, 0};
    }

    /// Whether all can have come by then.
    static bool received(const std::vector<MessagePort>& ports, const Receiver& receiver, Sums& sums,
                         std::int64_t end) {
        std::int64_t left = receiver.needed;
        for (const MessagePort& port : ports) {
            std::int64_t time = end - port.time;
            if (time >= sums.full()) {
                const std::int64_t many = (time - sums.full()) / port.gap + 1;
                if (many >= (left + receiver.others - 1) / receiver.others) return true;
                left -= many * receiver.others;
                time -= many * port.gap;
            }
            for (; time >= 0 && left > 0; time -= port.gap) left -= std::min(sums.at(time), receiver.others);
            if (left <= 0) return true;
        }
        return false;
    }

    const Traffic& traffic_;
    const Topology& topology_;
    PacedNetwork network_;
    Bytes bytes_;
    std::map<NodeId, Receiver> receivers_;
    std::vector<std::vector<MessagePort>> ports_;  ///< per NPU
    FastestPorts paces_;
};

}  // namespace

std::optional<Bound> contributions(Traffic& traffic, const Stop& stop) {
    Bound best{"contributions", Ticks(0), {}, 0};
    bool copies = false;
    for (const SwitchRule& rule : traffic.topology().parts().switches) {
        if (rule.reduce) return best;
        copies = copies || rule.copy;
    }
    std::set<Bytes> sizes;
    std::size_t counting = 0;
    for (const ChunkClass& c : traffic.classes()) {
        const Demand demand = traffic.demand(c);
        if (demand.reduction) sizes.insert(demand.bytes);
        counting += demand.reduction ? demand.receivers.size() : 0;
    }
    Effort effort(kMostContributionWork, stop);
    for (const Bytes bytes : sizes) {
        const std::size_t npus = traffic.topology().npus();
        const std::size_t search = PacedNetwork(traffic.instance(), bytes).work() + npus;
        if (!effort.spend(counting + npus * search)) break;
        Contributions(traffic, bytes).improve(best);
        if (!copies) improve_by_sharing(traffic, bytes, best);
    }
    if (effort.ended() && best.value == Ticks(0)) return std::nullopt;
    return best;
}

}  // namespace tutti::bounds

// Two waves over the border of a part. `cut` says when the last chunk enters a node; `ingress` how long its
// NPUs take to receive. Here one follows the other.
//
// Forwards. S is a set of NPUs, C the chunks that must enter it (a receiver inside; plain: no holder inside;
// a reduction: a holder outside), R(c) the receivers of c inside. Let E(t) bound how many chunks of C can
// have come to any NPU of S from outside by t. For any tick t0, at least left = |C| - E(t0 - 1) chunks come
// from outside at t0 or later. Before that, none of their receivers inside has them (of a reduction: has the
// contributions from outside). So each of these R(c) receivers gets an arrival at t0 or later: from outside,
// or from an NPU of S that has it, a message later. Arrivals over the last link p of a message are at least
// its busy time apart, so by T there are at most floor((T - s_p) / busy) + 1 of them. Which chunks are left
// is not known, so those with the fewest receivers are assumed.
//
// E(t) counts arrivals over the ports of S that messages from outside can end at, or transfers over the links
// into S with its switches, whichever is less.
//
// The same split also bounds all arrivals. Every receiver inside needs one of every chunk of C. Up to t0 - 1
// there are at most E(t0 - 1) of those that come straight from outside (no NPU of S was on their way). Any
// other has been in S before, so it ends at port p no sooner than the first entry and the least way from an
// NPU of S to p. Where the border is narrow, ports stand idle until then: everything else is for later. Here
// E counts arrivals, not chunks, so a switch that copies must not stand behind the links that are counted.
//
// Backwards, for reductions with a holder in S and a receiver outside, in time left to the end. On the way of
// each contribution of S to one receiver outside look at the last message that leaves S; tau is the latest of
// their starts. E(t) bounds how many chunks can have tau >= T - t. So at least left chunks have tau <= T -
// t0, and each of their R(c) holders inside has started a first message by then: one that leaves S, or, a
// way earlier, one that comes back to an NPU of S. Starts on one link are its busy time apart. And of the
// first messages of all holders inside, few can start late: those that leave S for good.
//
// The way from an NPU of S to a port of S may lead over NPUs outside: only messages between NPUs of S would
// miss arrivals that have left S and come back.
//
// Otherwise nothing here asks what switches do: a switch that copies or adds still ends messages at ports,
// one arrival each. Sizes and releases may differ: times are those of the smallest counted chunk and the
// first release.
//
// Tried is every t0 at which E grows or a port can have its first message from inside, for the worst parts of
// each natural partition. Complexity: some searches per part, then O(ticks * ports log T).

#include "bounds/families.hpp"
#include "bounds/link_window.hpp"
#include "bounds/paced_paths.hpp"
#include "bounds/parts.hpp"

#include <algorithm>
#include <map>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostWaveWork = 50'000'000;
constexpr std::size_t kMostSizes = 4;

class Wave {
  public:
    /// `inside` per node: the NPUs of S and the switches on its side.
    Wave(const Traffic& traffic, const PacedNetwork& network, const std::vector<bool>& inside,
         Direction direction, Effort& effort)
        : traffic_(traffic),
          topology_(traffic.topology()),
          network_(network),
          inside_(inside),
          forwards_(direction == Direction::Forwards),
          effort_(effort) {}

    /// The best bound above `best`, if any.
    void improve(Bytes bytes, Bound& best) {
        if (!count(bytes) || !effort_.spend(4 * network_.work())) return;
        find_windows();
        for (const Ticks split : splits()) {
            if (!effort_.spend(1 + 2 * ports_.size())) return;
            try_split(split, bytes, best);
        }
    }

  private:
    /// The last link of messages to an NPU inside (backwards: the first of messages from one).
    struct Port {
        Ticks outer, inner;  ///< the least time from outside; from an NPU inside
        Ticks busy;          ///< how far apart messages are
        Ticks inner_busy;    ///< those from inside
    };

    [[nodiscard]] bool is_inside(NodeId node) const { return inside_[node.index()]; }

    /// How many of a set are inside; sets that chunks share are looked at once.
    struct Ends {
        const NodeId* set = nullptr;
        std::int64_t inside = 0;
    };
    bool look_at(std::span<const NodeId> set, Ends& ends) {
        if (set.data() == ends.set) return true;
        if (!effort_.spend(set.size())) return false;
        ends = {set.data(), std::ranges::count_if(set, [&](NodeId node) { return is_inside(node); })};
        return true;
    }

    /// The chunks that count, by their receivers (backwards: holders) inside, and where they are outside.
    bool count(Bytes bytes) {
        std::vector<Ticks> far(topology_.npus(), kNever);
        Ends here, there;
        const NodeId* marked = nullptr;  // the last set that is in far
        for (const ChunkClass& c : traffic_.classes()) {
            const Demand demand = traffic_.demand(c);
            if (demand.bytes < bytes || (!forwards_ && !demand.reduction)) continue;
            const auto& near = forwards_ ? demand.receivers : demand.holders;
            const auto& others = forwards_ ? demand.holders : demand.receivers;
            if (!look_at(near, here) || !look_at(others, there)) return false;
            const bool must = demand.reduction ? there.inside < std::ssize(others) : there.inside == 0;
            if (here.inside == 0 || !must) continue;
            if (others.data() != marked) {  // sets belong to one collective, so releases are the same
                if (!effort_.spend(others.size())) return false;
                for (const NodeId node : others) {
                    if (is_inside(node)) continue;
                    const Ticks since = forwards_ ? traffic_.release(c, node) : Ticks(0);
                    far[node.index()] = std::min(far[node.index()], since);
                }
                marked = others.data();
            }
            chunks_ += c.count;
            by_receivers_[static_cast<std::uint64_t>(here.inside)] += c.count;
            release_ = std::min(release_, traffic_.release(c));
            if (passages_.empty() || passages_.back() != &traffic_.passage(c))
                passages_.push_back(&traffic_.passage(c));
        }
        for (std::size_t n = 0; n < far.size(); ++n) {
            if (far[n] != kNever) far_.push_back({NodeId(n), far[n]});
        }
        std::ranges::sort(passages_);
        passages_.erase(std::ranges::unique(passages_).begin(), passages_.end());
        carriers_ = carriers(topology_, passages_);
        return chunks_ > 0;
    }

    [[nodiscard]] bool carries(NodeId node) const { return carriers_[node.index()]; }

    void find_windows() {
        const Direction on = forwards_ ? Direction::Forwards : Direction::Backwards;
        const Direction back = forwards_ ? Direction::Backwards : Direction::Forwards;
        std::vector<TimedNode> near;
        for (std::size_t n = 0; n < topology_.npus(); ++n) {
            if (inside_[n] && carries(NodeId(n))) near.push_back({NodeId(n), Ticks(0)});
        }
        const auto is_npu_inside = [&](NodeId n) { return topology_.is_npu(n) && is_inside(n); };
        const auto from_far =
            network_.times(far_, on, [&](NodeId n) { return carries(n) && !is_npu_inside(n); });
        const auto from_near = network_.times(near, on, [&](NodeId n) { return carries(n); });
        const auto to_near = network_.times(near, back, [&](NodeId n) { return carries(n); });
        for (std::size_t l = 0; l < topology_.links().size(); ++l) {
            const LinkId id(l);
            const Link& link = topology_.link(id);
            if (!carries(link.src) || !carries(link.dst)) continue;
            const NodeId end = forwards_ ? link.dst : link.src, other = forwards_ ? link.src : link.dst;
            if (is_inside(end) && !is_inside(other)) {
                const auto over =
                    forwards_ ? network_.over(from_far, to_near, id) : network_.over(to_near, from_far, id);
                if (over.pace != kNever)
                    border_.push_back({over.before, over.after, network_.busy(id, over.pace)});
            }
            if (is_npu_inside(end)) add_port(id, on, from_far, from_near);
        }
    }

    void add_port(LinkId id, Direction on, const PacedTimes& from_far, const PacedTimes& from_near) {
        const EndLink outer = network_.at_end(from_far, id, on);
        const EndLink inner = network_.at_end(from_near, id, on);
        if (outer.time != kNever)
            outer_ports_.push_back({outer.time, Ticks(0), network_.busy(id, outer.pace)});
        const Ticks pace = std::min(outer.pace, inner.pace);
        if (pace == kNever) return;
        const Ticks inner_busy = inner.pace == kNever ? kNever : network_.busy(id, inner.pace);
        ports_.push_back({outer.time, inner.time, network_.busy(id, pace), inner_busy});
        entry_ = std::min(entry_, outer.time);
    }

    [[nodiscard]] static std::uint64_t sum_of_sends(const std::vector<LinkWindow>& windows, Ticks end) {
        std::uint64_t sends = 0;
        for (const LinkWindow& window : windows) sends += static_cast<std::uint64_t>(window.sends(end));
        return sends;
    }
    [[nodiscard]] std::uint64_t crossed(Ticks end) const {
        return std::min(sum_of_sends(outer_ports_, end), sum_of_sends(border_, end));
    }

    /// How many messages of counted chunks can have ended at NPUs inside.
    [[nodiscard]] std::uint64_t arrived(Ticks end) const {
        const std::uint64_t over_ports = sum_of_sends(outer_ports_, end);
        std::uint64_t count =
            splits_messages() ? over_ports : std::min(over_ports, sum_of_sends(border_, end));
        for (const Port& port : ports_) {
            const LinkWindow window{sum(entry_, port.inner), Ticks(0), port.inner_busy};
            count += static_cast<std::uint64_t>(window.sends(end));
        }
        return count;
    }

    /// Whether one transfer over the border can be the beginning (backwards: the end) of several messages.
    [[nodiscard]] bool splits_messages() const {
        return std::ranges::any_of(topology_.parts().switches, [&](const SwitchRule& rule) {
            return forwards_ ? rule.copy : rule.reduce;
        });
    }

    /// The ticks at which one more chunk may have crossed, while some are left or messages inside have not
    /// begun to arrive; and those at which they begin to.
    [[nodiscard]] std::vector<Ticks> splits() {
        std::vector<Ticks> ticks;
        Ticks idle = kNever;
        for (const Port& port : ports_) {
            if (entry_ == kNever || port.inner == kNever) continue;
            ticks.push_back(entry_ + port.inner);
            idle = std::min(idle, ticks.back());
        }
        std::vector<std::pair<Ticks, Ticks>> known;
        for (const auto* windows : {&outer_ports_, &border_}) {
            for (const LinkWindow& window : *windows)
                known.emplace_back(window.first + window.last, window.busy);
        }
        std::ranges::sort(known);
        known.erase(std::ranges::unique(known).begin(), known.end());
        for (const auto& [first, busy] : known) {
            Ticks tick = first;
            for (std::uint64_t i = 0; i < chunks_; ++i, tick += busy) {
                if (!effort_.spend(1 + outer_ports_.size() + border_.size())) return ticks;
                if (crossed(tick - Ticks(1)) >= chunks_ && tick >= idle) break;
                ticks.push_back(tick);
            }
        }
        std::ranges::sort(ticks);
        ticks.erase(std::ranges::unique(ticks).begin(), ticks.end());
        return ticks;
    }

    /// How many arrivals (backwards: starts) the chunks that are left need at the least.
    [[nodiscard]] std::uint64_t needed(std::uint64_t left) const {
        std::uint64_t sum = 0;
        for (const auto& [receivers, chunks] : by_receivers_) {
            const std::uint64_t some = std::min(left, chunks);
            sum += some * receivers;
            left -= some;
        }
        return sum;
    }

    void try_split(Ticks split, Bytes bytes, Bound& best) {
        try_left(split, bytes, best);
        try_all(split, bytes, best);
    }

    /// The chunks that have not crossed before the split.
    void try_left(Ticks split, Bytes bytes, Bound& best) const {
        const std::uint64_t before = crossed(split - Ticks(1));
        if (before >= chunks_) return;
        std::vector<LinkWindow> windows;
        for (const Port& port : ports_) {
            const Ticks outer = port.outer == kNever ? kNever : std::max(split, port.outer);
            windows.push_back(window_of(port, std::min(outer, sum(split, port.inner))));
        }
        prove(windows, needed(chunks_ - before), split, bytes, best);
    }

    /// All messages that have not ended before the split.
    void try_all(Ticks split, Bytes bytes, Bound& best) const {
        const std::uint64_t before = arrived(split - Ticks(1)), all = needed(chunks_);
        if (before >= all) return;
        std::vector<LinkWindow> windows;
        for (const Port& port : ports_) {
            const Ticks first = std::min(port.outer, sum(entry_, port.inner));
            windows.push_back(window_of(port, first == kNever ? kNever : std::max(split, first)));
        }
        prove(windows, all - before, split, bytes, best);
    }

    [[nodiscard]] LinkWindow window_of(const Port& port, Ticks since) const {
        return {since, forwards_ ? Ticks(0) : release_, port.busy};
    }

    void prove(const std::vector<LinkWindow>& windows, std::uint64_t messages, Ticks split, Bytes bytes,
               Bound& best) const {
        const Wide need{messages};
        if (enough(windows, need, best.value)) return;
        const auto end = least_end(windows, need);
        if (!end) return;
        WaveCertificate certificate{{}, !forwards_, split, bytes};
        for (std::size_t n = 0; n < inside_.size(); ++n) {
            if (inside_[n]) certificate.inside.emplace_back(n);
        }
        best = {"wave", *end, std::move(certificate), 0};
    }

    const Traffic& traffic_;
    const Topology& topology_;
    const PacedNetwork& network_;
    const std::vector<bool>& inside_;
    const bool forwards_;
    Effort& effort_;
    std::uint64_t chunks_ = 0;
    std::map<std::uint64_t, std::uint64_t> by_receivers_;  ///< chunks with so many ends inside
    Ticks release_ = kNever;
    std::vector<TimedNode> far_;
    std::vector<const Passage*> passages_;
    std::vector<bool> carriers_;  ///< per node: whether it may carry any of the chunks
    std::vector<LinkWindow> outer_ports_, border_;
    std::vector<Port> ports_;
    Ticks entry_ = kNever;  ///< when the first message from outside can have ended inside
};

}  // namespace

Bound wave(Traffic& traffic, const Stop& stop) {
    Bound best{"wave", Ticks(0), {}, 0};
    if (traffic.classes().empty()) return best;
    const Suspects parts = suspects(traffic, stop);
    if (parts.entered.empty() && parts.left.empty()) return best;
    std::vector<Bytes> sizes;
    for (const ChunkClass& c : traffic.classes()) {
        const Bytes bytes = traffic.demand(c).bytes;
        if (std::ranges::find(sizes, bytes) == sizes.end() && sizes.size() < kMostSizes)
            sizes.push_back(bytes);
    }
    Effort effort(kMostWaveWork, stop);
    for (const Bytes bytes : sizes) {
        const PacedNetwork network(traffic.instance(), bytes);
        for (const auto& part : parts.entered)
            Wave(traffic, network, part, Direction::Forwards, effort).improve(bytes, best);
        for (const auto& part : parts.left)
            Wave(traffic, network, part, Direction::Backwards, effort).improve(bytes, best);
    }
    return best;
}

}  // namespace tutti::bounds

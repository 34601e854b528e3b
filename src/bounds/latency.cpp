// A chunk needs at least the time of the fastest path from its nearest holder to each receiver; of a
// reduction every contribution must travel, so the farthest holder counts. The certificate gives every node
// its distance as a potential: that no link beats it can be seen link by link, without looking for ways.
//
// A probe is one search through the network: from the holders of chunks, or of a reduction to one receiver.
// Where there are too many of them to be made (an all-gather of 10 000 NPUs: 10 000 searches), some are made
// that are spread evenly, and from the farthest node of each another, as long as that is farther: on trees
// this finds the longest path of all, on meshes and tori too, elsewhere mostly.

#include "bounds/families.hpp"

#include <algorithm>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostProbing = 2'000'000;  ///< links looked at, beyond which probes are chosen
constexpr std::size_t kMostStarts = 8;
constexpr std::size_t kFewestProbes = 2;

struct Probe {
    std::size_t first, last;         ///< classes; of a plain one all have the same holders
    std::optional<NodeId> receiver;  ///< of a reduction
};

struct Longest {
    const ChunkClass* chunks = nullptr;
    std::optional<NodeId> holder;  ///< none: any holder
    NodeId receiver;
    Ticks end;
};

class Latency {
  public:
    Latency(Traffic& traffic, const Stop& stop) : traffic_(traffic), stop_(stop) { find_probes(); }

    Bound run() {
        const std::size_t each = traffic_.topology().links().size() + traffic_.topology().nodes();
        std::size_t receivers = 0;
        for (const ChunkClass& c : traffic_.classes()) receivers += traffic_.demand(c).receivers.size();
        if (probes_.size() * each + receivers <= kMostProbing) {
            for (std::size_t i = 0; i < probes_.size(); ++i) (void)look(i);
        } else {
            look_at_some(std::max(kFewestProbes, kMostProbing / 2 / each));
        }
        return slowest_ ? certified(*slowest_) : Bound{"latency", Ticks(0), {}, 0};
    }

  private:
    void find_probes() {
        const auto classes = traffic_.classes();
        for (std::size_t i = 0; i < classes.size(); ++i) {
            const Demand demand = traffic_.demand(classes[i]);
            if (demand.reduction) {
                for (const NodeId receiver : demand.receivers) probes_.push_back({i, i + 1, receiver});
                continue;
            }
            if (i > 0 && !probes_.empty() && !probes_.back().receiver && probes_.back().last == i) {
                const ChunkClass& before = classes[i - 1];
                if (before.passage == classes[i].passage &&
                    traffic_.demand(before).holders.data() == demand.holders.data() &&
                    traffic_.release(before) == traffic_.release(classes[i])) {
                    probes_.back().last = i + 1;
                    continue;
                }
            }
            probes_.push_back({i, i + 1, std::nullopt});
        }
    }

    void look_at_some(std::size_t most) {
        // Where a search from (to) a node would begin: the first probe of that node.
        constexpr std::uint32_t kNone = UINT32_MAX;
        std::vector<std::uint32_t> probe_at(traffic_.topology().nodes(), kNone);
        for (std::size_t i = probes_.size(); i-- > 0;) {
            const auto holders = traffic_.demand(traffic_.classes()[probes_[i].first]).holders;
            const NodeId node = probes_[i].receiver.value_or(holders.front());
            probe_at[node.index()] = static_cast<std::uint32_t>(i);
        }
        std::vector<bool> done(probes_.size(), false);
        const std::size_t starts = std::min({kMostStarts, most, probes_.size()});
        std::size_t made = 0;
        for (std::size_t s = 0; s < starts && made < most; ++s) {
            std::size_t probe = s * probes_.size() / starts;
            Ticks farthest(-1);
            while (!done[probe] && made < most && (made < kFewestProbes || !stop_.requested())) {
                done[probe] = true;
                ++made;
                const auto [node, time] = look(probe);
                if (time <= farthest || probe_at[node.index()] == kNone) break;
                farthest = time;
                probe = probe_at[node.index()];
            }
        }
    }

    [[nodiscard]] Ticks release(const ChunkClass& c, std::optional<NodeId> holder) const {
        return holder ? traffic_.release(c, *holder) : traffic_.release(c);
    }

    /// The farthest node at the other end, and how far it is.
    std::pair<NodeId, Ticks> look(std::size_t index) {
        const Probe& probe = probes_[index];
        const ChunkClass& first = traffic_.classes()[probe.first];
        std::pair<NodeId, Ticks> farthest{NodeId(0), Ticks(0)};
        const auto see = [&](const ChunkClass& c, std::optional<NodeId> holder, NodeId receiver, Ticks time) {
            if (time == Ticks(0) || time == kNever) return;
            if (time > farthest.second) farthest = {holder.value_or(receiver), time};
            const Ticks end = release(c, holder) + time;
            if (!slowest_ || end > slowest_->end) slowest_ = Longest{&c, holder, receiver, end};
        };
        if (probe.receiver) {
            const auto times =
                distances(traffic_.passage(first), std::span(&*probe.receiver, 1), Direction::Backwards);
            for (const NodeId holder : traffic_.demand(first).holders) {
                see(first, holder, *probe.receiver, times[holder.index()]);
            }
            return farthest;
        }
        const auto times =
            distances(traffic_.passage(first), traffic_.demand(first).holders, Direction::Forwards);
        for (std::size_t i = probe.first; i < probe.last; ++i) {
            const ChunkClass& c = traffic_.classes()[i];
            for (const NodeId receiver : traffic_.demand(c).receivers) {
                see(c, std::nullopt, receiver, times[receiver.index()]);
            }
        }
        return farthest;
    }

    [[nodiscard]] Bound certified(const Longest& longest) const {
        const Passage& passage = traffic_.passage(*longest.chunks);
        const std::span<const NodeId> from =
            longest.holder ? std::span(&*longest.holder, 1) : traffic_.demand(*longest.chunks).holders;
        PathCertificate path;
        path.chunk = longest.chunks->chunk;
        path.receiver = longest.receiver;
        path.release = release(*longest.chunks, longest.holder);
        path.potential = distances(passage, from, Direction::Forwards);
        path.links = fastest_path(passage, path.potential, longest.receiver);
        path.holder = traffic_.topology().link(path.links.front()).src;
        for (Ticks& time : path.potential) time = sum(time, path.release);
        return {"latency", longest.end, std::move(path), 0};
    }

    Traffic& traffic_;
    const Stop& stop_;
    std::vector<Probe> probes_;
    std::optional<Longest> slowest_;
};

}  // namespace

Bound latency(Traffic& traffic, const Stop& stop) { return Latency(traffic, stop).run(); }

}  // namespace tutti::bounds

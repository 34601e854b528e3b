// A chunk needs at least the time of the fastest way from its nearest holder to each receiver; of a reduction
// every contribution must make its way, so the farthest holder counts. The certificate gives every node its
// distance as a potential: that no link beats it can be seen link by link, without looking for ways.

#include "bounds/families.hpp"

#include <algorithm>

namespace tutti::bounds {
namespace {

constexpr std::size_t kWorkLimit = 200'000'000;

struct Way {
    const ChunkClass* chunks = nullptr;
    std::optional<NodeId> holder;  ///< none: any holder
    NodeId receiver;
    Ticks end;
};

class Latency {
  public:
    Latency(Traffic& traffic, const Stop& stop) : traffic_(traffic), effort_(kWorkLimit, stop) {}

    Bound run() {
        for (const ChunkClass& c : traffic_.classes()) {
            const Demand demand = traffic_.demand(c);
            if (demand.reduction) {
                look_at_reduction(c, demand);
            } else {
                look_at_plain(c, demand);
            }
            if (effort_.ended()) break;
        }
        return slowest_ ? certified(*slowest_) : Bound{"latency", Ticks(0), {}, 0};
    }

  private:
    void look_at_plain(const ChunkClass& c, const Demand& demand) {
        const bool again = last_ != nullptr && last_->passage == c.passage &&
                           traffic_.demand(*last_).holders.data() == demand.holders.data();
        if (!effort_.spend(demand.receivers.size() + (again ? 0 : traffic_.topology().links().size())))
            return;
        if (!again) times_ = times(c, demand.holders, Direction::Forwards);
        last_ = &c;
        for (const NodeId receiver : demand.receivers)
            offer(c, std::nullopt, receiver, (*times_)[receiver.index()]);
    }

    void look_at_reduction(const ChunkClass& c, const Demand& demand) {
        last_ = nullptr;
        for (const NodeId receiver : demand.receivers) {
            if (!effort_.spend(demand.holders.size() + traffic_.topology().links().size())) return;
            times_ = times(c, std::span(&receiver, 1), Direction::Backwards);
            for (const NodeId holder : demand.holders) offer(c, holder, receiver, (*times_)[holder.index()]);
        }
    }

    /// What is there already waits for no release.
    void offer(const ChunkClass& c, std::optional<NodeId> holder, NodeId receiver, Ticks time) {
        if (time == Ticks(0) || time == kNever) return;
        const Ticks end = traffic_.release(c) + time;
        if (!slowest_ || end > slowest_->end) slowest_ = Way{&c, holder, receiver, end};
    }

    const std::vector<Ticks>* times(const ChunkClass& c, std::span<const NodeId> set, Direction direction) {
        if (!traffic_.huge()) {
            return direction == Direction::Forwards ? &traffic_.from(c, set) : &traffic_.to(c, set.front());
        }
        scratch_ = distances(traffic_.passage(c), set, direction);
        return &scratch_;
    }

    [[nodiscard]] Bound certified(const Way& way) const {
        const Passage& passage = traffic_.passage(*way.chunks);
        const std::span<const NodeId> from =
            way.holder ? std::span(&*way.holder, 1) : traffic_.demand(*way.chunks).holders;
        PathCertificate path;
        path.chunk = way.chunks->chunk;
        path.receiver = way.receiver;
        path.release = traffic_.release(*way.chunks);
        path.potential = distances(passage, from, Direction::Forwards);
        path.links = fastest_way(passage, path.potential, way.receiver);
        path.holder = traffic_.topology().link(path.links.front()).src;
        for (Ticks& time : path.potential) time = sum(time, path.release);
        return {"latency", way.end, std::move(path), 0};
    }

    Traffic& traffic_;
    Effort effort_;
    const ChunkClass* last_ = nullptr;  ///< whose holders' distances times_ are
    const std::vector<Ticks>* times_ = nullptr;
    std::vector<Ticks> scratch_;
    std::optional<Way> slowest_;
};

}  // namespace

Bound latency(Traffic& traffic, const Stop& stop) { return Latency(traffic, stop).run(); }

}  // namespace tutti::bounds

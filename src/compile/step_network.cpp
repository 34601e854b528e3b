#include "compile/step_network.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tutti::compile {
namespace {

using plan::PlanNode;

class NetworkBuilder {
  public:
    explicit NetworkBuilder(const Instance& instance)
        : topology_(instance.topology()),
          betas_(topology_.betas(chunk_size(instance))),
          out_(topology_.npus()),
          in_(topology_.npus()) {}

    StepNetwork build() {
        Ticks slowest(1);
        for (const Ticks beta : betas_) slowest = std::max(slowest, beta);
        for (std::size_t i = 0; i < betas_.size(); ++i) {
            const Link& link = topology_.links()[i];
            const std::int64_t capacity = slowest.count() / std::max<std::int64_t>(1, betas_[i].count());
            if (topology_.is_npu(link.src) && topology_.is_npu(link.dst)) {
                pairs_[{PlanNode(link.src.index()), PlanNode(link.dst.index())}] += capacity;
            } else if (topology_.is_npu(link.src)) {
                out_[link.src.index()] += capacity;
            } else if (topology_.is_npu(link.dst)) {
                in_[link.dst.index()] += capacity;
            }
        }
        StepNetwork network;
        if (topology_.switches() > 0) add_switches(network);
        for (const auto& [ends, capacity] : pairs_) {
            network.links.push_back({ends.first, ends.second, capacity, 0, 0});
        }
        return network;
    }

  private:
    static Bytes chunk_size(const Instance& instance) {
        const DemandList& demands = instance.demands();
        for (std::size_t chunk = 1; chunk < demands.size(); ++chunk) {
            if (demands.size_class(ChunkId(chunk)) == demands.size_class(ChunkId(0))) continue;
            throw InputError(
                "chunks of different sizes: SCCL counts chunks per round and cannot say how large they are");
        }
        return demands.size() > 0 ? demands[ChunkId(0)].bytes : Bytes{};
    }

    /// The NPUs that an NPU reaches over switches alone.
    [[nodiscard]] std::vector<PlanNode> reach(NodeId from) const {
        std::vector<bool> seen(topology_.nodes());
        std::vector<NodeId> open{from};
        std::vector<PlanNode> reached;
        for (std::size_t at = 0; at < open.size(); ++at) {
            for (const LinkId id : topology_.out_links(open[at])) {
                const NodeId to = topology_.link(id).dst;
                const bool direct = at == 0 && topology_.is_npu(to);
                if (direct || to == from || seen[to.index()]) continue;
                seen[to.index()] = true;
                if (topology_.is_npu(to)) {
                    reached.emplace_back(to.index());
                } else {
                    open.push_back(to);
                }
            }
        }
        std::ranges::sort(reached);
        return reached;
    }

    void add_switches(StepNetwork& network) {
        const auto npus = plan::nodes_below(static_cast<std::int64_t>(topology_.npus()));
        std::vector<std::vector<PlanNode>> senders(topology_.npus());
        for (const PlanNode src : npus) {
            const auto reached = reach(NodeId(src.index()));
            if (reached.empty()) continue;
            // Direct links to the same NPUs count too: a send does not say which way it goes.
            std::int64_t capacity = out_[src.index()];
            for (const PlanNode dst : reached) {
                const auto direct = pairs_.find({src, dst});
                if (direct != pairs_.end()) capacity += direct->second;
                senders[dst.index()].push_back(src);
            }
            network.switches.push_back({{src}, reached, capacity, fmt::format("out of {}", src)});
        }
        for (const PlanNode dst : npus) {
            if (senders[dst.index()].empty()) continue;
            std::int64_t capacity = in_[dst.index()];
            for (const PlanNode src : senders[dst.index()]) {
                const auto direct = pairs_.find({src, dst});
                if (direct != pairs_.end()) capacity += direct->second;
            }
            network.switches.push_back({senders[dst.index()], {dst}, capacity, fmt::format("into {}", dst)});
        }
        for (const PlanNode dst : npus) {
            for (const PlanNode src : senders[dst.index()])
                pairs_[{src, dst}] += std::min(out_[src.index()], in_[dst.index()]);
        }
    }

    const Topology& topology_;
    std::vector<Ticks> betas_;
    std::vector<std::int64_t> out_, in_;  ///< by NPU: to and from switches
    std::map<std::pair<PlanNode, PlanNode>, std::int64_t> pairs_;
};

/// What a step sends over each limit, and the rounds that takes.
class RoundCounter {
  public:
    explicit RoundCounter(const StepNetwork& network) : network_(network) {
        for (const plan::ScclSwitch& limit : network.switches) {
            if (limit.srcs.size() == 1) out_[limit.srcs.front()].push_back(&limit);
            if (limit.srcs.size() != 1) in_[limit.dsts.front()].push_back(&limit);
        }
    }

    void begin_step() {
        loads_.clear();
        rounds_ = 1;
    }
    void add(const plan::NodeSend& send) {
        const auto link = std::ranges::lower_bound(
            network_.links, std::pair(send.src, send.dst), {},
            [](const plan::ScclLink& each) { return std::pair(each.src, each.dst); });
        if (link == network_.links.end() || std::pair(link->src, link->dst) != std::pair(send.src, send.dst))
            throw InternalError("a message goes over no link");
        count(&*link, link->capacity);
        for (const plan::ScclSwitch* limit : out_[send.src]) {
            if (std::ranges::binary_search(limit->dsts, send.dst)) count(limit, limit->capacity);
        }
        for (const plan::ScclSwitch* limit : in_[send.dst]) {
            if (std::ranges::binary_search(limit->srcs, send.src)) count(limit, limit->capacity);
        }
    }
    [[nodiscard]] std::int64_t rounds() const { return rounds_; }

  private:
    void count(const void* limit, std::int64_t capacity) {
        const std::int64_t load = ++loads_[limit];
        rounds_ = std::max(rounds_, (load + capacity - 1) / capacity);
    }

    const StepNetwork& network_;
    std::unordered_map<PlanNode, std::vector<const plan::ScclSwitch*>> out_, in_;
    std::unordered_map<const void*, std::int64_t> loads_;
    std::int64_t rounds_ = 1;
};

}  // namespace

StepNetwork step_network(const Instance& instance) { return NetworkBuilder(instance).build(); }

std::vector<std::int64_t> rounds_of(const StepNetwork& network, std::span<const plan::NodeSend> sends,
                                    std::size_t steps) {
    std::vector<std::int64_t> rounds(steps, 1);
    RoundCounter counter(network);
    for (std::size_t i = 0; i < sends.size(); ++i) {
        expects(i == 0 || sends[i].list >= sends[i - 1].list);
        if (i == 0 || sends[i].list != sends[i - 1].list) counter.begin_step();
        counter.add(sends[i]);
        rounds[static_cast<std::size_t>(sends[i].list)] = counter.rounds();
    }
    return rounds;
}

}  // namespace tutti::compile

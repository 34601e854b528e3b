#include "models/relaxation/message_case.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace tutti::models {
namespace {

bool shares_transfers(const Topology& topology, bool backwards) {
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        const SwitchRule& rule = topology.rule(NodeId(n));
        if (rule.cut_through || (backwards ? rule.reduce : rule.copy)) return true;
    }
    return false;
}

class Batches {
  public:
    Batches(const Instance& instance, MessageCase& messages) : instance_(instance), messages_(messages) {}

    void add(ChunkId chunk) {
        const Demand demand = instance_.demand(chunk);
        const bool backwards = messages_.backwards;
        if (demand.reduction != backwards || (backwards && demand.receivers.size() != 1)) return;
        const auto sources = backwards ? demand.receivers : demand.holders;
        const auto ends = backwards ? demand.holders : demand.receivers;
        const std::tuple key{demand.collective, demand.bytes, sources.data(), ends.data()};
        if (const auto known = known_.find(key); known != known_.end()) {
            ++messages_.batches[known->second].count;
            return;
        }
        MessageCase::Batch batch;
        for (const NodeId node : ends) {
            if (std::ranges::binary_search(sources, node)) continue;
            batch.ends.push_back(node);
            batch.late.push_back(backwards ? release(demand.collective, node) : 0);
        }
        if (batch.ends.empty()) return;
        const Kind kind{demand.collective, demand.bytes, instance_.release(chunk), chunk};
        const KindNetwork network(instance_, kind, messages_.unit);
        batch.kind = number_of(kind, network);
        const std::vector<NodeId> nodes(sources.begin(), sources.end());
        batch.ready = backwards ? network.to(nodes) : network.from(nodes);
        batch.ready.resize(messages_.npus);
        for (std::int64_t& ready : batch.ready) {
            if (ready < kUnreachable && !backwards) ready += network.release();
        }
        known_.emplace(key, messages_.batches.size());
        messages_.batches.push_back(std::move(batch));
    }

  private:
    [[nodiscard]] std::int64_t release(CollectiveId collective, NodeId node) const {
        return instance_.release_of(collective, node).count() / messages_.unit;
    }

    std::size_t number_of(const Kind& kind, const KindNetwork& network) {
        const auto [entry, is_new] = kinds_.try_emplace({kind.collective, kind.bytes}, kinds_.size());
        if (is_new) {
            auto& usable = messages_.usable.emplace_back();
            for (std::size_t e = 0; e < messages_.edges.size(); ++e) usable.push_back(network.usable(e));
        }
        return entry->second;
    }

    const Instance& instance_;
    MessageCase& messages_;
    std::map<std::tuple<CollectiveId, Bytes, const NodeId*, const NodeId*>, std::size_t> known_;
    std::map<std::pair<CollectiveId, Bytes>, std::size_t> kinds_;
};

}  // namespace

std::optional<MessageCase> message_case(const Instance& instance, bool backwards) {
    const Topology& topology = instance.topology();
    if (instance.chunks() == 0 || instance.demands().sizes().size() > 1 ||
        shares_transfers(topology, backwards))
        return std::nullopt;
    MessageCase messages;
    const Bytes bytes = instance.demand(ChunkId(0)).bytes;
    messages.backwards = backwards;
    messages.unit = common_divisor(instance, trips_of(instance, {}), bytes);
    messages.npus = topology.npus();
    messages.nodes = topology.nodes();
    for (std::size_t e = 0; e < topology.links().size(); ++e) {
        const LinkId id(e);
        const Link& link = topology.link(id);
        const Ticks beta = topology.beta(id, bytes);
        const Ticks length = instance.alpha(id) + beta;
        messages.edges.push_back({(backwards ? link.dst : link.src).index(),
                                  (backwards ? link.src : link.dst).index(), length.count() / messages.unit,
                                  instance.busy(id, beta).count() / messages.unit});
    }
    Batches batches(instance, messages);
    for (std::size_t c = 0; c < instance.chunks(); ++c) batches.add(ChunkId(c));
    if (std::ranges::none_of(messages.batches, [](const auto& batch) { return batch.ends.size() > 1; }))
        return std::nullopt;
    return messages;
}

std::vector<std::size_t> refined(const MessageCase& messages, std::vector<std::size_t> colours) {
    using Seen = std::array<std::int64_t, 4>;
    std::size_t before = 0;
    for (;;) {
        std::vector<std::vector<Seen>> around(messages.nodes);
        for (const MessageCase::Edge& edge : messages.edges) {
            around[edge.from].push_back(
                {0, static_cast<std::int64_t>(colours[edge.to]), edge.length, edge.busy});
            around[edge.to].push_back(
                {1, static_cast<std::int64_t>(colours[edge.from]), edge.length, edge.busy});
        }
        std::map<std::pair<std::size_t, std::vector<Seen>>, std::size_t> numbers;
        std::vector<std::size_t> next;
        for (std::size_t n = 0; n < messages.nodes; ++n) {
            std::ranges::sort(around[n]);
            next.push_back(
                numbers.try_emplace({colours[n], std::move(around[n])}, numbers.size()).first->second);
        }
        colours = std::move(next);
        if (numbers.size() == before) return colours;
        before = numbers.size();
    }
}

}  // namespace tutti::models

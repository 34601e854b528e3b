// Broadcasts in the optimal rounds of a crossbar (block_rounds), on any network. Rounds are only the order in
// which messages are placed: each starts when its chunk is there and its links are free. NPUs are numbered
// relative to the root, near ones together, so that partners of a round are about equally far apart.

#include "heuristics/levels/block_broadcast.hpp"

#include "heuristics/levels/block_rounds.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace tutti::heuristics {
namespace {

/// The number with its lowest `bits` bits in the other order.
std::size_t mirrored(std::size_t number, int bits) {
    std::size_t result = 0;
    for (int bit = 0; bit < bits; ++bit) result |= (number >> bit & 1U) << (bits - 1 - bit);
    return result;
}

/// The chunks of one source with the same targets.
class Exchange {
  public:
    Exchange(Cluster& cluster, MessagePlacer::Direction direction, std::span<const LevelItem> items,
             std::vector<std::uint32_t> chosen, BlockOrder order)
        : cluster_(cluster),
          forwards_(direction == MessagePlacer::Direction::Forwards),
          items_(items),
          chosen_(std::move(chosen)) {
        number_npus(order);
        if (npus_.empty()) return;
        plan_ = order == BlockOrder::Circulant ? circulant_rounds(npus_.size(), chosen_.size())
                                               : cube_rounds(npus_.size(), chosen_.size());
        since_.assign(npus_.size() * chosen_.size(), Ticks::max());
        for (std::size_t c = 0; c < chosen_.size(); ++c) since(0, c) = items[chosen_[c]].ready;
    }

    [[nodiscard]] bool is_suited() const { return !npus_.empty(); }
    [[nodiscard]] std::size_t rounds() const { return plan_.size(); }

    /// False: there is no path.
    bool place_round(std::size_t round, std::vector<Ticks>& loads, MessagePlacer& placer) {
        return std::ranges::all_of(plan_[round], [&](const BlockMessage& message) {
            const bool is_needed = since(message.to, message.chunk) == Ticks::max() &&
                                   since(message.from, message.chunk) != Ticks::max();
            return !is_needed || send(message, loads, placer);
        });
    }
    [[nodiscard]] bool is_complete() const { return std::ranges::find(since_, Ticks::max()) == since_.end(); }

  private:
    /// Leaves npus_ empty if the order does not suit their number.
    void number_npus(BlockOrder order) {
        const LevelItem& first = items_[chosen_.front()];
        const NodeId root = first.sources.front();
        std::vector<NodeId> sorted(first.targets.begin(), first.targets.end());
        if (std::ranges::find(sorted, root) == sorted.end()) sorted.push_back(root);
        const std::size_t count = sorted.size();
        if (order != BlockOrder::Circulant && !std::has_single_bit(count)) return;
        const Numbering& numbering = cluster_.numbering(first.chunk);
        std::ranges::stable_sort(
            sorted, {}, [&](NodeId npu) { return numbering.is_member(npu) ? numbering.position(npu) : 0; });
        const auto at = static_cast<std::size_t>(std::ranges::find(sorted, root) - sorted.begin());
        npus_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t relative = (i + count - at) % count;
            if (order == BlockOrder::NearCube) relative = i ^ at;
            if (order == BlockOrder::FarCube) relative = mirrored(i ^ at, std::countr_zero(count));
            npus_[relative] = sorted[i];
        }
    }
    [[nodiscard]] Ticks& since(std::size_t npu, std::size_t chunk) {
        return since_[npu * chosen_.size() + chunk];
    }
    bool send(const BlockMessage& message, std::vector<Ticks>& loads, MessagePlacer& placer) {
        const auto [from, to, c] = message;
        const ChunkId chunk = items_[chosen_[c]].chunk;
        const auto ends = forwards_ ? cluster_.routes().ends(npus_[from], npus_[to], loads)
                                    : cluster_.routes().ends(npus_[to], npus_[from], loads);
        if (!ends) return false;
        path_.clear();
        cluster_.routes().append_path(*ends, loads, path_);
        for (const LinkId link : path_) loads[link.index()] += cluster_.instance().beta(link, chunk);
        since(to, c) = placer.place(chunk, path_, since(from, c), Op::Copy).end;
        return true;
    }

    Cluster& cluster_;
    const bool forwards_;
    std::span<const LevelItem> items_;
    std::vector<std::uint32_t> chosen_;
    std::vector<NodeId> npus_;  ///< by number; the root is 0
    BlockRounds plan_;
    std::vector<Ticks> since_;  ///< by NPU and chunk
    std::vector<LinkId> path_;
};

}  // namespace

bool block_broadcast(Cluster& cluster, MessagePlacer::Direction direction, std::span<const LevelItem> items,
                     BlockOrder order, MessagePlacer& placer, const Stop& stop) {
    std::map<std::pair<NodeId, const NodeId*>, std::vector<std::uint32_t>> by_source;
    std::span<const NodeId> last;  // equal sets of targets may be lists of their own, one behind the other
    for (std::uint32_t i = 0; i < items.size(); ++i) {
        if (items[i].sources.size() != 1) return false;
        if (!std::ranges::equal(items[i].targets, last)) last = items[i].targets;
        by_source[{items[i].sources.front(), last.data()}].push_back(i);
    }
    std::vector<Exchange> exchanges;
    std::size_t rounds = 0;
    for (auto& [key, chosen] : by_source) {
        exchanges.emplace_back(cluster, direction, items, std::move(chosen), order);
        if (!exchanges.back().is_suited() || stop.requested()) return false;
        rounds = std::max(rounds, exchanges.back().rounds());
    }
    std::vector<Ticks> loads(cluster.instance().topology().links().size());
    for (std::size_t round = 0; round < rounds; ++round) {
        for (Exchange& exchange : exchanges) {
            if (stop.requested()) return false;
            if (round < exchange.rounds() && !exchange.place_round(round, loads, placer)) return false;
        }
    }
    return std::ranges::all_of(exchanges, &Exchange::is_complete);
}

}  // namespace tutti::heuristics

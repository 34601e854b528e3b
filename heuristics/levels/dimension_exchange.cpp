// Broadcast of c chunks among n = 2^q NPUs on a crossbar, in c - 1 + q rounds, which no schedule of rounds
// can beat: the last chunk cannot leave the root before round c - 1, and doubles from then on.
//
// NPUs are numbered relative to the root. In round t everybody exchanges along the dimension d = t mod q. The
// root sends chunk min(t, c - 1). NPU v sends the latest chunk i that it can have: i mod q is the position of
// the first one-bit of v at or, cyclically, after d, because along that dimension it entered the half of the
// cube in which v is; i = t - q if that is d itself. A number above c - 1 counts as c - 1. (Johnsson and Ho
// 1989 have the spanning trees; this is the form of Jia, Lin and others for full duplex.)
//
// Rounds are only the order in which messages are placed: each starts when its chunk is there and its links
// are free.

#include "heuristics/levels/dimension_exchange.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace tutti::heuristics {
namespace {

/// The chunks of one source with the same targets.
class Exchange {
  public:
    Exchange(Cluster& cluster, MessagePlacer::Direction direction, std::span<const LevelItem> items,
             std::vector<std::uint32_t> chosen, bool far_first)
        : cluster_(cluster),
          forwards_(direction == MessagePlacer::Direction::Forwards),
          items_(items),
          chosen_(std::move(chosen)) {
        const LevelItem& first = items[chosen_.front()];
        const NodeId root = first.sources.front();
        npus_.assign(first.targets.begin(), first.targets.end());
        if (std::ranges::find(npus_, root) == npus_.end()) npus_.push_back(root);
        const Numbering& numbering = cluster.numbering(first.chunk);
        std::ranges::stable_sort(
            npus_, {}, [&](NodeId npu) { return numbering.is_member(npu) ? numbering.position(npu) : 0; });
        q_ = static_cast<std::size_t>(std::countr_zero(npus_.size()));
        // Numbers are relative to the root.
        const auto at = static_cast<std::size_t>(std::ranges::find(npus_, root) - npus_.begin());
        std::vector<NodeId> relative(npus_.size());
        for (std::size_t i = 0; i < npus_.size() && is_power(); ++i)
            relative[far_first ? mirrored(i ^ at) : i ^ at] = npus_[i];
        npus_ = std::move(relative);
        since_.assign(npus_.size() * chosen_.size(), Ticks::max());
        for (std::size_t c = 0; c < chosen_.size(); ++c) since(0, c) = items[chosen_[c]].ready;
    }

    [[nodiscard]] bool is_power() const { return std::has_single_bit(npus_.size()); }
    [[nodiscard]] std::size_t rounds() const { return npus_.size() == 1 ? 0 : chosen_.size() - 1 + q_; }

    /// False: there is no path.
    bool place_round(std::size_t round, std::vector<Ticks>& loads, MessagePlacer& placer) {
        const std::size_t d = round % q_;
        for (std::size_t v = 0; v < npus_.size(); ++v) {
            const auto chunk = chunk_to_send(v, round);
            const std::size_t to = v ^ (std::size_t{1} << d);
            if (!chunk || since(to, *chunk) != Ticks::max() || since(v, *chunk) == Ticks::max()) continue;
            if (!send(v, to, *chunk, loads, placer)) return false;
        }
        return true;
    }
    [[nodiscard]] bool is_complete() const { return std::ranges::find(since_, Ticks::max()) == since_.end(); }

  private:
    [[nodiscard]] Ticks& since(std::size_t npu, std::size_t chunk) {
        return since_[npu * chosen_.size() + chunk];
    }
    /// The number with its q bits in the other order.
    [[nodiscard]] std::size_t mirrored(std::size_t number) const {
        std::size_t result = 0;
        for (std::size_t bit = 0; bit < q_; ++bit) result |= (number >> bit & 1U) << (q_ - 1 - bit);
        return result;
    }
    [[nodiscard]] std::optional<std::size_t> chunk_to_send(std::size_t v, std::size_t round) const {
        if (v == 0) return std::min(round, chosen_.size() - 1);
        std::size_t ahead = 0;  // of the first one-bit, counted from d on
        while ((v >> ((round + ahead) % q_) & 1U) == 0) ++ahead;
        const std::size_t age = q_ - ahead;
        if (round < age) return std::nullopt;
        return std::min(round - age, chosen_.size() - 1);
    }
    bool send(std::size_t from, std::size_t to, std::size_t c, std::vector<Ticks>& loads,
              MessagePlacer& placer) {
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
    std::vector<NodeId> npus_;
    std::size_t q_ = 0;
    std::vector<Ticks> since_;  ///< by NPU and chunk
    std::vector<LinkId> path_;
};

}  // namespace

bool dimension_exchange(Cluster& cluster, MessagePlacer::Direction direction,
                        std::span<const LevelItem> items, bool far_first, MessagePlacer& placer,
                        const Stop& stop) {
    std::map<std::pair<NodeId, const NodeId*>, std::vector<std::uint32_t>> by_source;
    for (std::uint32_t i = 0; i < items.size(); ++i) {
        if (items[i].sources.size() != 1) return false;
        by_source[{items[i].sources.front(), items[i].targets.data()}].push_back(i);
    }
    std::vector<Exchange> exchanges;
    std::size_t rounds = 0;
    for (auto& [key, chosen] : by_source) {
        exchanges.emplace_back(cluster, direction, items, std::move(chosen), far_first);
        if (!exchanges.back().is_power()) return false;
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

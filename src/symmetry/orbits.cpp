#include "symmetry/orbits.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace tutti::symmetry {
namespace {

/// The out-links of each node by destination, then wire, then number.
class LinkFinder {
  public:
    explicit LinkFinder(const Topology& topology)
        : wire_(topology.links().size()), begin_(topology.nodes() + 1) {
        std::map<Wire, std::uint32_t> wires;
        const auto& links = topology.links();
        auto last = wires.end();
        for (std::size_t l = 0; l < links.size(); ++l) {
            // Neighbours in the list usually have equal wires.
            if (last == wires.end() || last->first != links[l].wire)
                last = wires.try_emplace(links[l].wire, static_cast<std::uint32_t>(wires.size())).first;
            wire_[l] = last->second;
        }
        rows_.reserve(links.size());
        for (std::size_t n = 0; n < topology.nodes(); ++n) {
            for (const LinkId l : topology.out_links(NodeId(n)))
                rows_.push_back({topology.link(l).dst.value(), wire_[l.index()], l.value()});
            std::sort(rows_.begin() + static_cast<std::ptrdiff_t>(begin_[n]), rows_.end());
            begin_[n + 1] = rows_.size();
        }
    }

    struct Out {
        std::uint32_t dst, wire, link;
        friend auto operator<=>(const Out&, const Out&) = default;
    };
    [[nodiscard]] std::span<const Out> out(NodeId node) const {
        return std::span(rows_).subspan(begin_[node.index()],
                                        begin_[node.index() + 1] - begin_[node.index()]);
    }
    /// The j-th link from src to dst of that wire, or kNoImage.
    [[nodiscard]] std::uint32_t find(NodeId src, NodeId dst, std::uint32_t wire, std::size_t j) const {
        const auto row = out(src);
        const auto found = std::ranges::lower_bound(row, Out{dst.value(), wire, 0});
        const auto index = static_cast<std::size_t>(found - row.begin()) + j;
        if (index >= row.size() || row[index].dst != dst.value() || row[index].wire != wire) return kNoImage;
        return row[index].link;
    }

  private:
    std::vector<std::uint32_t> wire_;
    std::vector<std::size_t> begin_;
    std::vector<Out> rows_;
};

}  // namespace

LinkOrbits::LinkOrbits(const Topology& topology, const GroupAction& action)
    : group_(action.size()), orbit_(topology.links().size(), kNoImage), element_(topology.links().size(), 0) {
    const LinkFinder finder(topology);
    std::vector<LinkId> images(group_);
    std::vector<std::uint32_t> heads;
    for (std::uint32_t o = 0; o < action.orbits(); ++o) {
        const auto row = finder.out(action.npu(o, 0));
        std::size_t j = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
            j = i > 0 && row[i - 1].dst == row[i].dst && row[i - 1].wire == row[i].wire ? j + 1 : 0;
            const NodeId dst(row[i].dst);
            if (topology.is_switch(dst)) continue;
            const std::uint32_t dst_orbit = action.orbit_of(dst), displacement = action.element_of(dst);
            action.sums(displacement, heads);
            bool complete = true;
            for (std::uint32_t e = 0; e < group_ && complete; ++e) {
                const NodeId to = action.npu(dst_orbit, heads[e]);
                const std::uint32_t link = finder.find(action.npu(o, e), to, row[i].wire, j);
                complete = link != kNoImage;
                images[e] = LinkId(link);
            }
            if (!complete) continue;
            for (std::uint32_t e = 0; e < group_; ++e) {
                orbit_[images[e].index()] = static_cast<std::uint32_t>(bases_.size());
                element_[images[e].index()] = e;
            }
            bases_.push_back(images[0]);
            links_.insert(links_.end(), images.begin(), images.end());
        }
    }
}

namespace {

/// The node sets of the demands and of the groups with forwarding "group", numbered so that equal sets have
/// equal numbers.
class NodeSets {
  public:
    explicit NodeSets(const Instance& instance) {
        const DemandList& demands = instance.demands();
        for (std::uint32_t s = 0; s < demands.sets(); ++s) of_demand_.push_back(add(demands.set(s)));
        for (const Collective& collective : instance.collectives()) {
            std::vector<NodeId> members;
            if (collective.forwarding == Forwarding::Group)
                members = instance.groups()[collective.group.index()].members;
            std::ranges::sort(members);
            carriers_.push_back(add(members));
        }
    }

    [[nodiscard]] std::uint32_t of_demand(std::uint32_t set) const { return of_demand_[set]; }
    [[nodiscard]] std::uint32_t carriers(CollectiveId collective) const {
        return carriers_[collective.index()];
    }
    [[nodiscard]] const std::vector<NodeId>& nodes(std::uint32_t set) const { return sets_[set]; }
    [[nodiscard]] std::size_t size() const { return sets_.size(); }

    [[nodiscard]] std::vector<std::uint32_t> images(const Generator& generator) const {
        std::vector<std::uint32_t> result;
        result.reserve(sets_.size());
        std::vector<NodeId> image;
        for (const auto& set : sets_) {
            image.clear();
            for (const NodeId node : set) image.push_back(generator.images[node.index()]);
            std::ranges::sort(image);
            result.push_back(find(image));
        }
        return result;
    }

  private:
    static std::uint64_t hash_of(std::span<const NodeId> nodes) {
        std::uint64_t hash = nodes.size();
        for (const NodeId node : nodes) hash = (hash ^ node.value()) * 0x9E3779B97F4A7C15ULL + (hash >> 29);
        return hash;
    }
    [[nodiscard]] std::uint32_t find(std::span<const NodeId> nodes) const {
        const auto [first, last] = by_hash_.equal_range(hash_of(nodes));
        for (auto it = first; it != last; ++it) {
            if (std::ranges::equal(sets_[it->second], nodes)) return it->second;
        }
        return kNoImage;
    }
    std::uint32_t add(std::span<const NodeId> nodes) {
        const std::uint32_t known = find(nodes);
        if (known != kNoImage) return known;
        const auto number = static_cast<std::uint32_t>(sets_.size());
        sets_.emplace_back(nodes.begin(), nodes.end());
        by_hash_.emplace(hash_of(nodes), number);
        return number;
    }

    std::vector<std::vector<NodeId>> sets_;
    std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
    std::vector<std::uint32_t> of_demand_, carriers_;
};

/// Everything in which a chunk and its image must agree, except the receivers.
struct Kind {
    Ticks release;
    std::uint32_t size;
    bool reduction;
    std::uint32_t carriers, holders;
    friend auto operator<=>(const Kind&, const Kind&) = default;
};

}  // namespace

/// The chunks of each kind, sorted by receivers, so that equal demands are adjacent.
struct ChunkAction::Rows {
    explicit Rows(const Instance& instance) : sets(instance), receivers(instance.chunks()) {
        const DemandList& demands = instance.demands();
        auto last = kinds.end();
        for (std::uint32_t c = 0; c < instance.chunks(); ++c) {
            const ChunkId chunk(c);
            if (instance.is_staggered(chunk)) continue;
            const Kind kind{instance.release(chunk), demands.size_class(chunk), demands.is_reduction(chunk),
                            sets.carriers(demands.collective(chunk)),
                            sets.of_demand(demands.holder_set(chunk))};
            receivers[c] = sets.of_demand(demands.receiver_set(chunk));
            if (last == kinds.end() || last->first != kind)
                last = kinds.try_emplace(kind, static_cast<std::uint32_t>(kinds.size())).first;
            if (last->second == rows.size()) rows.emplace_back();
            rows[last->second].push_back(c);
        }
        for (auto& row : rows) {
            const auto less = [&](std::uint32_t a, std::uint32_t b) { return receivers[a] < receivers[b]; };
            if (!std::ranges::is_sorted(row, less)) std::ranges::stable_sort(row, less);
        }
    }

    NodeSets sets;
    std::vector<std::uint32_t> receivers;  ///< by chunk
    std::map<Kind, std::uint32_t> kinds;   ///< and their rows
    std::vector<std::vector<std::uint32_t>> rows;
};

ChunkAction::ChunkAction(const Instance& instance) : rows_(std::make_unique<const Rows>(instance)) {}
ChunkAction::~ChunkAction() = default;

std::vector<std::uint32_t> ChunkAction::images(const Generator& generator) const {
    const auto& [sets, receivers, kinds, rows] = *rows_;
    const auto moved_set = sets.images(generator);
    std::vector<std::uint32_t> images(receivers.size(), kNoImage);
    // Where a run of equal receivers begins and ends in the current row.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> run(sets.size());
    std::vector<std::uint32_t> stamp(sets.size(), kNoImage);
    for (const auto& [kind, number] : kinds) {
        Kind moved = kind;
        moved.carriers = moved_set[kind.carriers];
        moved.holders = moved_set[kind.holders];
        const auto target = kinds.find(moved);
        if (target == kinds.end()) continue;
        const auto& row = rows[number];
        const auto& to = rows[target->second];
        for (std::uint32_t i = 0; i < to.size(); ++i) {
            const std::uint32_t set = receivers[to[i]];
            if (stamp[set] != number) run[set] = {i, i};
            stamp[set] = number;
            run[set].second = i + 1;
        }
        const auto& holders = sets.nodes(kind.holders);
        for (std::uint32_t i = 0, end = 0; i < row.size(); i = end) {
            while (end < row.size() && receivers[row[end]] == receivers[row[i]]) ++end;
            const std::uint32_t set = moved_set[receivers[row[i]]];
            if (set == kNoImage || stamp[set] != number || run[set].second - run[set].first != end - i)
                continue;
            const std::uint32_t first = run[set].first;
            if (receivers[row[i]] != kind.holders || (end - i) % holders.size() != 0) {
                for (std::uint32_t k = i; k < end; ++k) images[row[k]] = to[first + (k - i)];
                continue;
            }
            const auto share = static_cast<std::uint32_t>((end - i) / holders.size());
            const auto& moved_holders = sets.nodes(moved.holders);
            for (std::uint32_t h = 0; h < holders.size(); ++h) {
                const NodeId image = generator.images[holders[h].index()];
                const auto place = static_cast<std::uint32_t>(std::ranges::lower_bound(moved_holders, image) -
                                                              moved_holders.begin());
                for (std::uint32_t k = 0; k < share; ++k)
                    images[row[i + h * share + k]] = to[first + place * share + k];
            }
        }
    }
    return images;
}

bool chunk_row(const GroupAction& action, const std::vector<std::vector<std::uint32_t>>& images,
               ChunkId chunk, std::vector<std::uint32_t>& row) {
    row.assign(action.size(), kNoImage);
    row[0] = chunk.value();
    action.walk([&](std::uint32_t element, std::uint32_t g, std::uint32_t before) {
        if (row[before] != kNoImage) row[element] = images[g][row[before]];
    });
    return std::ranges::find(row, kNoImage) == row.end();
}

}  // namespace tutti::symmetry

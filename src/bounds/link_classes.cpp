// Colour refinement (Weisfeiler and Leman): nodes begin with what they are and hold, and are told apart again
// and again by the colours of their neighbours, until nothing changes. A link's class is its times and the
// colours of its ends. Nodes that a symmetry maps to each other keep one colour, so that an optimal
// length per link may be taken equal within a class.

#include "bounds/link_classes.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tutti::bounds {
namespace {

constexpr int kMostRounds = 32;

using Colour = std::uint64_t;

/// Numbers in the order of first appearance of a key.
template <class Key>
class Numbering {
  public:
    std::uint32_t of(const Key& key) {
        return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
    }
    [[nodiscard]] std::size_t size() const { return numbers_.size(); }

  private:
    std::map<Key, std::uint32_t> numbers_;
};

class Refinement {
  public:
    explicit Refinement(const Traffic& traffic) : traffic_(traffic), topology_(traffic.topology()) {}

    [[nodiscard]] std::vector<Colour> begin(Looks looks) const {
        std::vector<std::uint64_t> held(topology_.nodes(), 0), wanted(topology_.nodes(), 0);
        for (const ChunkClass& c : traffic_.classes()) {
            if (looks == Looks::Network) break;
            const Demand demand = traffic_.demand(c);
            for (const NodeId node : demand.holders) held[node.index()] += c.count;
            for (const NodeId node : demand.receivers) wanted[node.index()] += c.count;
        }
        Numbering<std::tuple<int, std::uint64_t, std::uint64_t>> numbers;
        std::vector<Colour> colours;
        for (std::size_t n = 0; n < topology_.nodes(); ++n) {
            const NodeId node(n);
            const int kind = topology_.is_npu(node) ? 0 : topology_.is_cut_through(node) ? 1 : 2;
            colours.push_back(numbers.of({kind, held[n], wanted[n]}));
        }
        return colours;
    }

    [[nodiscard]] std::vector<Colour> refined(std::vector<Colour> colours) const {
        std::size_t before = 0;
        for (int round = 0; round < kMostRounds; ++round) {
            Numbering<std::vector<std::tuple<Colour, Ticks, Ticks, bool>>> numbers;
            std::vector<Colour> next;
            for (std::size_t n = 0; n < topology_.nodes(); ++n) {
                std::vector<std::tuple<Colour, Ticks, Ticks, bool>> around;
                for (const LinkId id : topology_.out_links(NodeId(n)))
                    around.push_back(seen(colours, id, topology_.link(id).dst, true));
                for (const LinkId id : topology_.in_links(NodeId(n)))
                    around.push_back(seen(colours, id, topology_.link(id).src, false));
                std::ranges::sort(around);
                around.emplace_back(colours[n], Ticks(0), Ticks(0), false);
                next.push_back(numbers.of(around));
            }
            colours = std::move(next);
            if (numbers.size() == before) break;
            before = numbers.size();
        }
        return colours;
    }

    [[nodiscard]] LinkClasses classes(const std::vector<Colour>& colours) const {
        Numbering<std::tuple<Colour, Colour, Ticks, Ticks>> numbers;
        LinkClasses result;
        for (std::size_t l = 0; l < topology_.links().size(); ++l) {
            const Link& link = topology_.link(LinkId(l));
            const auto [a, b] = std::minmax(colours[link.src.index()], colours[link.dst.index()]);
            const Passage& times = traffic_.smallest();
            result.of.push_back(numbers.of({a, b, times.transit[l], times.busy[l]}));
        }
        result.count = static_cast<std::uint32_t>(numbers.size());
        return result;
    }

  private:
    [[nodiscard]] std::tuple<Colour, Ticks, Ticks, bool> seen(const std::vector<Colour>& colours, LinkId id,
                                                              NodeId other, bool out) const {
        const Passage& times = traffic_.smallest();
        return {colours[other.index()], times.transit[id.index()], times.busy[id.index()], out};
    }

    const Traffic& traffic_;
    const Topology& topology_;
};

}  // namespace

LinkClasses link_classes(const Traffic& traffic, Looks looks, std::size_t most) {
    const Refinement refinement(traffic);
    const auto plain = refinement.begin(looks);
    LinkClasses fine = refinement.classes(refinement.refined(plain));
    if (fine.count <= most) return fine;
    LinkClasses coarse = refinement.classes(plain);
    if (coarse.count <= most) return coarse;
    return {std::vector<std::uint32_t>(traffic.topology().links().size(), 0), 1};
}

}  // namespace tutti::bounds

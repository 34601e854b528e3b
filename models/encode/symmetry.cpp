// An automorphism takes links to links of the same speed, switches to switches of the same rules, and demands
// to demands. Under a group of them one commodity of each orbit stands for all, and the model shrinks by the
// order of the group. Commodities alike in everything are one demand with copies: who keeps the demand takes
// its copies to each other, so that the chunks of an all-reduce, each of which concerns everybody, can still
// stand for each other.

#include "models/encode/symmetry.hpp"

#include "symmetry/automorphisms.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::models {
namespace {

class Symmetries {
  public:
    explicit Symmetries(const Routing& routing)
        : routing_(routing), topology_(routing.instance().topology()) {
        for (std::size_t l = 0; l < topology_.links().size(); ++l) {
            const Link& link = topology_.link(LinkId(l));
            wires_[{link.src.value(), link.dst.value()}].emplace_back(link.wire, LinkId(l));
        }
        for (auto& [ends, wires] : wires_) std::ranges::sort(wires);
        for (const Network& network : routing.networks()) {
            auto& places = hops_.emplace_back();
            for (std::uint32_t h = 0; h < network.hops.size(); ++h)
                places.emplace(shape_of(network.hops[h]), h);
        }
        for (std::size_t c = 0; c < routing.commodities().size(); ++c) {
            const auto [place, is_new] = demands_.emplace(key_of(routing.commodities()[c], {}),
                                                          static_cast<std::uint32_t>(alike_.size()));
            if (is_new) alike_.emplace_back();
            alike_[place->second].push_back(c);
        }
    }

    [[nodiscard]] std::vector<symmetry::Symmetry> group(const Stop& stop) const {
        symmetry::SymmetryQuestion question;
        question.graph = graph();
        question.on_demands = [this](const symmetry::Permutation& nodes) { return on_demands(nodes); };
        for (const auto& list : alike_) question.copies.push_back(list.size());
        question.takes_part.resize(topology_.nodes());
        question.must_move.resize(topology_.nodes());
        std::map<std::tuple<NodeId, Moves, std::size_t, Units64, Units64>, std::size_t> from;
        for (const Commodity& c : routing_.commodities()) {
            for (const NodeId n : c.sources) question.takes_part[n.index()] = true;
            for (const NodeId n : c.targets) question.takes_part[n.index()] = true;
            if (c.sources.size() == 1) ++from[{c.sources.front(), c.moves, c.network, c.ready, c.spare}];
        }
        for (const auto& [source, commodities] : from) {
            if (commodities == 1) question.must_move[std::get<NodeId>(source).index()] = true;
        }
        // The shares of an all-reduce are alike, so that any group would do; good schedules are found where
        // nobody stays in place, as if each share were its owner's.
        symmetry::SymmetryQuestion freely = question;
        for (const Commodity& c : routing_.commodities()) {
            if (c.moves != Moves::Sum) continue;
            for (const NodeId n : c.sources) freely.must_move[n.index()] = true;
        }
        if (freely.must_move != question.must_move) {
            if (auto group = symmetry::free_group(freely, stop); group.size() > 1) return group;
        }
        return symmetry::free_group(question, stop);
    }

    /// The commodities of a demand.
    [[nodiscard]] const std::vector<std::vector<std::size_t>>& alike() const { return alike_; }

    /// Where links go. Parallel ones keep their order. Precondition: an automorphism of the graph.
    [[nodiscard]] symmetry::Permutation on_links(const symmetry::Permutation& nodes) const {
        symmetry::Permutation result(topology_.links().size());
        for (const auto& [ends, wires] : wires_) {
            const Wires& image = wires_.at({nodes[ends.first], nodes[ends.second]});
            for (std::size_t i = 0; i < wires.size(); ++i)
                result[wires[i].second.index()] = image[i].second.value();
        }
        return result;
    }

    /// Where the hops of a network go, if the automorphism takes it to itself.
    [[nodiscard]] std::optional<symmetry::Permutation> on_hops(std::size_t network,
                                                               const symmetry::Permutation& nodes,
                                                               const symmetry::Permutation& links) const {
        symmetry::Permutation result;
        for (const Hop& hop : routing_.networks()[network].hops) {
            Shape shape = shape_of(hop);
            shape.first = nodes[shape.first];
            for (std::uint32_t& link : shape.second) link = links[link];
            std::ranges::sort(shape.second);
            const auto found = hops_[network].find(shape);
            if (found == hops_[network].end()) return std::nullopt;
            result.push_back(found->second);
        }
        return result;
    }

  private:
    using Wires = std::vector<std::pair<Wire, LinkId>>;
    using Shape =
        std::pair<std::uint32_t, std::vector<std::uint32_t>>;  ///< of a hop: its first node, its links
    using Key = std::tuple<Moves, std::size_t, std::vector<NodeId>, std::vector<NodeId>, Units64, Units64,
                           std::vector<std::pair<NodeId, Units64>>>;

    [[nodiscard]] static Shape shape_of(const Hop& hop) {
        Shape shape{hop.from.value(), {}};
        for (const Leg& leg : hop.legs) shape.second.push_back(leg.link.value());
        std::ranges::sort(shape.second);
        return shape;
    }

    [[nodiscard]] static Key key_of(const Commodity& c, const symmetry::Permutation& nodes) {
        const auto mapped = [&](std::vector<NodeId> list) {
            for (NodeId& n : list) {
                if (!nodes.empty()) n = NodeId(nodes[n.index()]);
            }
            std::ranges::sort(list);
            return list;
        };
        auto late = c.late;
        for (auto& [node, time] : late) {
            if (!nodes.empty()) node = NodeId(nodes[node.index()]);
        }
        std::ranges::sort(late);
        return {c.moves, c.network, mapped(c.sources), mapped(c.targets), c.ready, c.spare, std::move(late)};
    }

    [[nodiscard]] symmetry::ColouredGraph graph() const {
        symmetry::ColouredGraph result;
        // A node's part in the demands, what it is, and the hops that it has.
        std::vector<std::vector<std::uint64_t>> facts(topology_.nodes());
        std::vector<std::pair<Moves, std::size_t>> kinds;
        for (const Commodity& c : routing_.commodities()) kinds.emplace_back(c.moves, c.network);
        const std::vector<std::uint32_t> kind = symmetry::ranked(kinds);
        for (std::size_t c = 0; c < kind.size(); ++c) {
            const Commodity& commodity = routing_.commodities()[c];
            for (const NodeId n : commodity.sources) facts[n.index()].push_back(kind[c] * 2);
            for (const NodeId n : commodity.targets) facts[n.index()].push_back(kind[c] * 2 + 1);
            for (const auto& [n, time] : commodity.late)
                facts[n.index()].push_back(kind.size() * 2 + static_cast<std::uint64_t>(time));
        }
        for (std::size_t n = 0; n < facts.size(); ++n) {
            std::vector<std::uint64_t>& list = facts[n];
            std::ranges::sort(list);  // only these: what follows is told apart by its place
            if (topology_.is_switch(NodeId(n))) {
                const SwitchRule& rule = topology_.rule(NodeId(n));
                list.insert(list.end(), {rule.copy, rule.reduce, rule.cut_through, rule.buffer.has_value(),
                                         rule.buffer.value_or(0)});
            }
            for (const Network& network : routing_.networks()) {
                list.insert(list.end(), {network.out[n].size(), network.in[n].size()});
            }
            list.push_back(topology_.is_switch(NodeId(n)) ? 1 : 0);
        }
        result.colours = symmetry::ranked(facts);

        std::vector<std::vector<Wire>> speeds;
        for (const auto& [ends, wires] : wires_) {
            speeds.emplace_back();
            for (const auto& [wire, link] : wires) speeds.back().push_back(wire);
        }
        const std::vector<std::uint32_t> labels = symmetry::ranked(speeds);
        for (const auto& [ends, wires] : wires_) {
            result.arcs.push_back({ends.first, ends.second, labels[result.arcs.size()]});
        }
        return result;
    }

    [[nodiscard]] std::optional<symmetry::Permutation> on_demands(const symmetry::Permutation& nodes) const {
        symmetry::Permutation result;
        for (const auto& list : alike_) {
            const auto found = demands_.find(key_of(routing_.commodities()[list.front()], nodes));
            if (found == demands_.end() || alike_[found->second].size() != list.size()) return std::nullopt;
            result.push_back(found->second);
        }
        const symmetry::Permutation links = on_links(nodes);
        for (std::size_t n = 0; n < hops_.size(); ++n) {
            if (!on_hops(n, nodes, links)) return std::nullopt;
        }
        return result;
    }

    const Routing& routing_;
    const Topology& topology_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Wires> wires_;  ///< by ends
    std::vector<std::map<Shape, std::uint32_t>> hops_;                ///< per network
    std::map<Key, std::uint32_t> demands_;
    std::vector<std::vector<std::size_t>> alike_;
};

/// Whether the commodity gets to its targets without these links.
bool gets_there(const Routing& routing, const Commodity& commodity, const std::vector<bool>& barred) {
    const Network& network = routing.network_of(commodity);
    std::vector<NodeId> reached = commodity.sources;
    if (commodity.moves == Moves::Sum) reached.resize(1);  // each one's contribution is needed: try one
    std::vector<bool> is_reached(network.out.size());
    for (const NodeId node : reached) is_reached[node.index()] = true;
    for (std::size_t i = 0; i < reached.size(); ++i) {
        for (const std::uint32_t h : network.out[reached[i].index()]) {
            const Hop& hop = network.hops[h];
            if (std::ranges::any_of(hop.legs, [&](const Leg& leg) { return barred[leg.link.index()]; }))
                continue;
            for (const HopEnd& end : hop.ends) {
                if (!is_reached[end.node.index()]) reached.push_back(end.node);
                is_reached[end.node.index()] = true;
            }
        }
    }
    return std::ranges::all_of(commodity.targets, [&](NodeId n) { return is_reached[n.index()]; });
}

}  // namespace

Quotient no_quotient(const Routing& routing) {
    Quotient none;
    none.representative.resize(routing.commodities().size());
    std::iota(none.representative.begin(), none.representative.end(), std::size_t{0});
    none.hop_at.resize(routing.commodities().size());
    none.counts.assign(routing.instance().topology().links().size(), true);
    return none;
}

namespace {

/// What a group makes of the commodities, if all can still get where they must.
std::optional<Quotient> quotient_by(const Routing& routing, const Symmetries& symmetries,
                                    const std::vector<symmetry::Symmetry>& group) {
    Quotient quotient = no_quotient(routing);
    quotient.order = group.size();
    std::vector<bool> barred(
        quotient.counts.size());  // a link that stays would carry two commodities at a time
    std::vector<std::vector<symmetry::Permutation>> own_hop(
        group.size());  // per element and network: whence a hop comes
    for (std::size_t g = 0; g < group.size(); ++g) {
        const symmetry::Permutation links = symmetries.on_links(group[g].nodes);
        for (std::size_t l = 0; l < links.size(); ++l) {
            if (links[l] < l) quotient.counts[l] = false;
            if (links[l] == l && g > 0) barred[l] = true;
        }
        for (std::size_t n = 0; n < routing.networks().size(); ++n) {
            const symmetry::Permutation forward = *symmetries.on_hops(n, group[g].nodes, links);
            symmetry::Permutation& back = own_hop[g].emplace_back(forward.size());
            for (std::uint32_t h = 0; h < forward.size(); ++h) back[forward[h]] = h;
        }
    }
    for (const Commodity& commodity : routing.commodities()) {
        if (!gets_there(routing, commodity, barred)) return std::nullopt;
    }
    // The images of a demand's first copy fill one place in each round of copies; the next one begins where
    // they end.
    const auto& alike = symmetries.alike();
    std::vector<std::size_t> filled(alike.size(), 0);
    for (std::size_t d = 0; d < alike.size(); ++d) {
        while (filled[d] < alike[d].size()) {
            const std::size_t representative = alike[d][filled[d]];
            for (std::size_t g = 0; g < group.size(); ++g) {
                const std::size_t to = group[g].demands[d];
                const std::size_t image = alike[to][filled[to]++];
                quotient.representative[image] = representative;
                quotient.hop_at[image] = own_hop[g][routing.commodities()[image].network];
            }
        }
    }
    return quotient;
}

/// All products of these, as long as they are fewer than `most`; else empty.
std::vector<symmetry::Symmetry> products_of(const std::vector<const symmetry::Symmetry*>& generators,
                                            const symmetry::Symmetry& identity, std::size_t most) {
    std::vector<symmetry::Symmetry> all{identity};
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const symmetry::Symmetry* generator : generators) {
            symmetry::Symmetry next = all[i];
            for (std::uint32_t& n : next.nodes) n = generator->nodes[n];
            for (std::uint32_t& d : next.demands) d = generator->demands[d];
            if (std::ranges::find(all, next.nodes, &symmetry::Symmetry::nodes) != all.end()) continue;
            all.push_back(std::move(next));
            if (all.size() >= most) return {};
        }
    }
    return all;
}

/// The largest subgroup that one or two of the first elements generate, the group itself aside.
std::vector<symmetry::Symmetry> subgroup_of(const std::vector<symmetry::Symmetry>& group) {
    constexpr std::size_t kMostTried = 24;
    std::vector<symmetry::Symmetry> best{group.front()};
    const std::size_t tried = std::min(group.size(), kMostTried);
    for (std::size_t a = 1; a < tried; ++a) {
        for (std::size_t b = a; b < tried; ++b) {
            auto products = products_of({&group[a], &group[b]}, group.front(), group.size());
            if (products.size() > best.size()) best = std::move(products);
        }
    }
    return best;
}

}  // namespace

std::vector<Quotient> quotients_of(const Routing& routing, const Stop& stop) {
    constexpr std::size_t kMost = 3;
    std::vector<Quotient> quotients;
    if (routing.commodities().size() < 2 || routing.has_limited_buffers()) return quotients;
    const Symmetries symmetries(routing);
    std::vector<symmetry::Symmetry> group = symmetries.group(stop);
    while (group.size() > 1 && quotients.size() < kMost) {
        if (auto quotient = quotient_by(routing, symmetries, group))
            quotients.push_back(std::move(*quotient));
        if (stop.requested()) break;
        group = subgroup_of(group);
    }
    return quotients;
}

std::optional<Quotient> quotient_of(const Routing& routing, const Stop& stop) {
    std::vector<Quotient> all = quotients_of(routing, stop);
    if (all.empty()) return std::nullopt;
    return std::move(all.front());
}

}  // namespace tutti::models

#include "io/topology_json.hpp"

#include "core/topology_ops.hpp"
#include "io/wire_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::io {
namespace {

constexpr auto kMostNodes = static_cast<std::int64_t>(kMaxNodes);

SwitchRule read_rule_object(const JsonView& object) {
    object.only({std::begin(kSwitchFields), std::end(kSwitchFields)});
    return read_switch_rule(object);
}

/// `switches` is a count (with `switch`, the rule of them all) or a list of rules.
std::vector<SwitchRule> read_switches(const JsonView& topology, std::uint32_t npus) {
    const auto switches = topology.find("switches");
    const auto common = topology.find("switch");
    if (!switches) {
        if (common) common->fail("a rule for switches needs their number, 'switches'");
        return {};
    }
    if (switches->is_array()) {
        if (common) common->fail("'switches' already lists a rule for each switch; give one of the two");
        if (switches->size() > kMaxNodes - npus) {
            switches->fail(fmt::format("expected at most {} nodes", kMaxNodes));
        }
        std::vector<SwitchRule> rules;
        for (const JsonView& rule : switches->elements()) rules.push_back(read_rule_object(rule));
        return rules;
    }
    if (!switches->is_number()) switches->fail_expecting("a number of switches, or an array of switch rules");
    const auto count = static_cast<std::size_t>(switches->integer(0, kMostNodes - npus));
    return std::vector<SwitchRule>(count, common ? read_rule_object(*common) : SwitchRule{});
}

NodeId read_node(const JsonView& node, const TopologyParts& parts) {
    return NodeId(static_cast<std::size_t>(node.integer(0, static_cast<std::int64_t>(parts.nodes()) - 1)));
}

TopologyParts read_parts(const JsonView& topology) {
    TopologyParts parts;
    parts.npus = static_cast<std::uint32_t>(topology.at("npus").integer(1, kMostNodes));
    parts.switches = read_switches(topology, parts.npus);
    const JsonView links = topology.at("links");
    if (links.size() > kMaxLinks) links.fail(fmt::format("expected at most {} links", kMaxLinks));
    parts.links.reserve(links.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
        const JsonView link = links[i];
        link.only({"src", "dst", "alpha", "beta", "latency_ns", "bandwidth_GBps"});
        parts.links.push_back(
            {read_node(link.at("src"), parts), read_node(link.at("dst"), parts), read_wire(link)});
        const Link& read = parts.links.back();
        if (read.src == read.dst) link.fail("a link must join two different nodes");
        if (read.wire.units() != parts.links.front().wire.units()) {
            link.fail(
                "this link gives physical units (latency_ns, bandwidth_GBps) and the first link abstract "
                "ones "
                "(alpha, beta), or the reverse; use one kind");
        }
    }
    return parts;
}

/// Finds links by their ends in O(log links). TopologyEdits scans all links for each name, which is too slow
/// for a long list of edits of a large topology.
class LinksByEnds {
  public:
    explicit LinksByEnds(const std::vector<Link>& links) {
        entries_.reserve(links.size());
        for (std::size_t i = 0; i < links.size(); ++i) {
            entries_.emplace_back(std::pair{links[i].src, links[i].dst}, LinkId(i));
        }
        std::ranges::sort(entries_);
    }

    void find(NodeId src, NodeId dst, std::vector<LinkId>& found) const {
        const auto range = std::ranges::equal_range(entries_, std::pair{src, dst}, {}, &Entry::first);
        for (const auto& [ends, link] : range) found.push_back(link);
    }

  private:
    using Entry = std::pair<std::pair<NodeId, NodeId>, LinkId>;
    std::vector<Entry> entries_;
};

/// Applies `remove` and `slow`. Link numbers are those before any edit.
class EditReader {
  public:
    explicit EditReader(TopologyParts parts)
        : nodes_(static_cast<std::int64_t>(parts.nodes())),
          link_count_(static_cast<std::int64_t>(parts.links.size())),
          units_(parts.links.empty() ? Units::Abstract : parts.links.front().wire.units()),
          scaled_(parts.links.size(), false),
          by_ends_(parts.links),
          edits_(std::move(parts)) {}

    void remove(const JsonView& entry) {
        if (!entry.is_array()) entry.only({"link", "between"});
        for (const LinkId link : entry.is_array() ? links_from_to(entry) : named_links(entry)) {
            edits_.remove(link);
        }
    }

    void slow(const JsonView& entry) {
        entry.only({"link", "between", "alpha", "beta", "latency_ns", "bandwidth_GBps", "factor"});
        Slowdown slowdown = read_slowdown(entry);
        for (const LinkId link : named_links(entry)) {
            // Two factors for one link are more likely a mistake than intended.
            if (slowdown.factor && scaled_[link.index()]) {
                entry.fail(fmt::format("link {} has a factor already", link.value()));
            }
            if (slowdown.factor) scaled_[link.index()] = true;
            slowdown.link = link;
            try {
                edits_.slow(slowdown);
            } catch (const InputError& error) {
                entry.fail(error.message());
            }
        }
    }

    [[nodiscard]] TopologyParts apply() && { return std::move(edits_).apply(); }

  private:
    [[nodiscard]] std::pair<NodeId, NodeId> read_ends(const JsonView& pair) const {
        if (!pair.is_array() || pair.size() != 2) pair.fail_expecting("an array of two nodes");
        const auto node = [&](std::size_t i) {
            return NodeId(static_cast<std::size_t>(pair[i].integer(0, nodes_ - 1)));
        };
        return {node(0), node(1)};
    }

    [[nodiscard]] std::vector<LinkId> links_from_to(const JsonView& pair) {
        const auto [src, dst] = read_ends(pair);
        std::vector<LinkId> found;
        by_ends_.find(src, dst, found);
        if (found.empty()) pair.fail(fmt::format("no link goes from {} to {}", src.value(), dst.value()));
        return counted(std::move(found), pair);
    }

    /// The links that {"link": 5}, {"link": [0, 1]} or {"between": [0, 1]} names.
    [[nodiscard]] std::vector<LinkId> named_links(const JsonView& entry) {
        const auto link = entry.find("link");
        const auto between = entry.find("between");
        if (link.has_value() == between.has_value()) entry.fail("expected either 'link' or 'between'");
        if (link && link->is_array()) return links_from_to(*link);
        if (link) {
            if (link_count_ == 0) link->fail("this topology has no links");
            return counted({LinkId(static_cast<std::size_t>(link->integer(0, link_count_ - 1)))}, *link);
        }
        const auto [a, b] = read_ends(*between);
        std::vector<LinkId> found;
        by_ends_.find(a, b, found);
        by_ends_.find(b, a, found);
        if (found.empty()) between->fail(fmt::format("no link joins {} and {}", a.value(), b.value()));
        return counted(std::move(found), *between);
    }

    /// Limits the product of edits and parallel links: a hostile file could make it huge.
    [[nodiscard]] std::vector<LinkId> counted(std::vector<LinkId> links, const JsonView& place) {
        touched_ += static_cast<std::int64_t>(links.size());
        if (touched_ > 1'000'000 + 4 * link_count_) {
            place.fail("the edits so far name the same links again and again");
        }
        return links;
    }

    [[nodiscard]] Slowdown read_slowdown(const JsonView& entry) const {
        Slowdown slowdown;
        const auto mine = [&](std::string_view field, Units units) {
            const auto found = entry.find(field);
            if (found && units != units_) {
                found->fail(units_ == Units::Physical
                                ? "this topology is in physical units: give latency_ns and bandwidth_GBps"
                                : "this topology is in abstract units: give alpha and beta");
            }
            return found;
        };
        if (const auto alpha = mine("alpha", Units::Abstract)) slowdown.alpha = read_alpha(*alpha);
        if (const auto beta = mine("beta", Units::Abstract)) slowdown.beta = read_beta(*beta);
        if (const auto latency = mine("latency_ns", Units::Physical)) slowdown.alpha = read_latency(*latency);
        if (const auto bandwidth = mine("bandwidth_GBps", Units::Physical)) {
            slowdown.bandwidth = read_bandwidth(*bandwidth);
        }
        if (const auto factor = entry.find("factor")) slowdown.factor = read_decimal(*factor, 1e-6, 1e9);
        if (!slowdown.alpha && !slowdown.beta && !slowdown.bandwidth && !slowdown.factor) {
            entry.fail(
                "expected a new value (alpha, beta, latency_ns, bandwidth_GBps) or a factor, found none");
        }
        return slowdown;
    }

    std::int64_t nodes_, link_count_;
    Units units_;
    std::vector<bool> scaled_;
    LinksByEnds by_ends_;
    TopologyEdits edits_;
    std::int64_t touched_ = 0;
};

TopologyParts edited(const JsonView& topology, TopologyParts parts) {
    const auto remove = topology.find("remove");
    const auto slow = topology.find("slow");
    if (!remove && !slow) return parts;
    EditReader reader(std::move(parts));
    if (slow) {
        for (std::size_t i = 0; i < slow->size(); ++i) reader.slow((*slow)[i]);
    }
    if (remove) {
        for (std::size_t i = 0; i < remove->size(); ++i) reader.remove((*remove)[i]);
    }
    return std::move(reader).apply();
}

Json write_link(const Link& link) {
    Json object = {{"src", link.src.value()}, {"dst", link.dst.value()}};
    write_wire(object, link.wire);
    return object;
}

}  // namespace

TopologyParts read_topology(const JsonView& topology) {
    const auto generate = topology.find("generate");
    if (generate) {
        for (const std::string_view field : {"npus", "links", "switches", "switch"}) {
            if (const auto found = topology.find(field)) {
                found->fail(
                    "a topology is either generated ('generate') or listed ('npus', 'links'), not both");
            }
        }
        topology.only({"generate", "busy", "remove", "slow"});
    } else {
        if (topology.find("kind") && !topology.find("links")) {
            topology.at("kind").fail("a kind belongs inside 'generate': {\"generate\": {\"kind\": …}}");
        }
        topology.only({"npus", "switches", "switch", "busy", "links", "generate", "remove", "slow"});
    }
    TopologyParts parts = generate ? read_generator(*generate) : read_parts(topology);
    if (const auto busy = topology.find("busy")) {
        parts.busy = busy->choice({"beta", "alpha+beta"}) == 0 ? Busy::Beta : Busy::AlphaPlusBeta;
    }
    return edited(topology, std::move(parts));
}

Json write_topology(const Topology& topology) {
    const TopologyParts& parts = topology.parts();
    const bool alike =
        std::ranges::adjacent_find(parts.switches, std::not_equal_to{}) == parts.switches.end();
    Json object = {{"npus", parts.npus}};
    if (alike) {
        object["switches"] = parts.switches.size();
        if (!parts.switches.empty() && parts.switches.front() != SwitchRule{}) {
            object["switch"] = write_switch_rule(parts.switches.front());
        }
    } else {
        Json& rules = object["switches"] = Json::array();
        for (const SwitchRule& rule : parts.switches) rules.push_back(write_switch_rule(rule));
    }
    object["busy"] = parts.busy == Busy::Beta ? "beta" : "alpha+beta";
    Json& links = object["links"] = Json::array();
    for (const Link& link : parts.links) links.push_back(write_link(link));
    return object;
}

}  // namespace tutti::io

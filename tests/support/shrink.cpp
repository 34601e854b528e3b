// Shrinking: a failing random instance is made small before it is shown. All ways to leave one thing out are
// tried, the first that still fails is kept, until none does. Instances are tiny, so the plainest loop will
// do.

#include "tests/support/random_instance.hpp"

#include "io/instance_json.hpp"
#include "io/json_text.hpp"

#include <algorithm>
#include <optional>

namespace tutti::test {
namespace {

template <class T>
void erase_at(std::vector<T>& list, std::size_t i) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
}

/// The parts without one node and its links; none if the node is in a group.
[[nodiscard]] std::optional<InstanceParts> without_node(InstanceParts parts, NodeId gone) {
    auto& topology = parts.topology;
    for (const Group& group : parts.groups) {
        if (std::ranges::find(group.members, gone) != group.members.end()) return std::nullopt;
    }
    std::erase_if(topology.links, [&](const Link& link) { return link.src == gone || link.dst == gone; });
    if (gone.value() < topology.npus) {
        --topology.npus;
    } else {
        erase_at(topology.switches, gone.index() - topology.npus);
    }
    const auto renumber = [&](NodeId& node) {
        if (node > gone) node = NodeId(node.index() - 1);
    };
    const auto renumber_all = [&](std::vector<NodeId>& nodes) { std::ranges::for_each(nodes, renumber); };
    for (Link& link : topology.links) {
        renumber(link.src);
        renumber(link.dst);
    }
    for (Group& group : parts.groups) renumber_all(group.members);
    for (Collective& collective : parts.collectives) {
        for (CustomDemand& demand : collective.demands) {
            renumber_all(demand.holders);
            renumber_all(demand.receivers);
        }
    }
    return parts;
}

[[nodiscard]] std::optional<InstanceParts> without_group(InstanceParts parts, std::size_t gone) {
    for (Collective& collective : parts.collectives) {
        if (collective.group.index() == gone) return std::nullopt;
        if (collective.group.index() > gone) collective.group = GroupId(collective.group.index() - 1);
    }
    erase_at(parts.groups, gone);
    return parts;
}

/// Everything that is `parts` with one thing less. Some of it is not valid.
class Smaller {
  public:
    explicit Smaller(const InstanceParts& parts) : parts_(parts) {
        for (std::size_t i = 0; i < parts.collectives.size(); ++i) try_collective(i);
        for (std::size_t i = 0; i < parts.groups.size(); ++i) try_group(i);
        for (std::size_t i = 0; i < parts.topology.nodes(); ++i) keep(without_node(parts, NodeId(i)));
        for (std::size_t i = 0; i < parts.topology.links.size(); ++i) try_link(i);
        for (std::size_t i = 0; i < parts.topology.switches.size(); ++i) try_switch(i);
        simplify([](InstanceParts& p) -> auto& { return p.topology.busy; }, Busy::Beta);
    }
    [[nodiscard]] std::vector<InstanceParts> all() && { return std::move(all_); }

  private:
    void keep(std::optional<InstanceParts> candidate) {
        if (candidate) all_.push_back(std::move(*candidate));
    }
    template <class Edit>
    void change(Edit edit) {
        InstanceParts candidate = parts_;
        edit(candidate);
        keep(std::move(candidate));
    }
    /// Sets one field to its simplest value, unless it has it.
    template <class Field, class Value>
    void simplify(Field field, const Value& simplest) {
        InstanceParts candidate = parts_;
        if (field(candidate) == simplest) return;
        field(candidate) = simplest;
        keep(std::move(candidate));
    }

    void try_collective(std::size_t i) {
        change([&](InstanceParts& p) { erase_at(p.collectives, i); });
        const auto at = [i](InstanceParts& p) -> Collective& { return p.collectives[i]; };
        simplify([&](InstanceParts& p) -> auto& { return at(p).chunks; }, std::uint64_t{1});
        simplify([&](InstanceParts& p) -> auto& { return at(p).releases; }, std::vector<Ticks>{});
        simplify([&](InstanceParts& p) -> auto& { return at(p).release; }, Ticks(0));
        simplify([&](InstanceParts& p) -> auto& { return at(p).forwarding; }, Forwarding::Any);
        const Collective& now = parts_.collectives[i];
        for (std::size_t k = 0; k < now.demands.size(); ++k) {
            change([&](InstanceParts& p) { erase_at(at(p).demands, k); });
            for (std::size_t n = 0; n < now.demands[k].holders.size(); ++n) {
                change([&](InstanceParts& p) { erase_at(at(p).demands[k].holders, n); });
            }
            for (std::size_t n = 0; n < now.demands[k].receivers.size(); ++n) {
                change([&](InstanceParts& p) { erase_at(at(p).demands[k].receivers, n); });
            }
        }
        for (std::size_t k = 0; k < now.pairs.size(); ++k) {
            change([&](InstanceParts& p) { erase_at(at(p).pairs, k); });
        }
        for (std::size_t r = 0; r < now.counts.size(); ++r) {
            for (std::size_t c = 0; c < now.counts.size(); ++c) {
                simplify([&](InstanceParts& p) -> auto& { return at(p).counts[r][c]; }, std::uint64_t{0});
            }
        }
    }

    void try_group(std::size_t i) {
        keep(without_group(parts_, i));
        for (std::size_t m = 0; m < parts_.groups[i].members.size(); ++m) {
            change([&](InstanceParts& p) {
                erase_at(p.groups[i].members, m);
                for (Collective& collective : p.collectives) {
                    if (collective.group.index() == i && !collective.releases.empty())
                        erase_at(collective.releases, m);
                }
            });
        }
    }

    void try_link(std::size_t i) {
        change([&](InstanceParts& p) { erase_at(p.topology.links, i); });
        const auto wire = [i](InstanceParts& p) -> Wire& { return p.topology.links[i].wire; };
        simplify([&](InstanceParts& p) -> auto& { return wire(p).alpha; }, Ticks(0));
        if (parts_.topology.links[i].wire.units() == Units::Physical) return;
        simplify([&](InstanceParts& p) -> auto& { return wire(p).beta; }, Ticks(1));
    }

    void try_switch(std::size_t i) {
        const auto rule = [i](InstanceParts& p) -> SwitchRule& { return p.topology.switches[i]; };
        simplify([&](InstanceParts& p) -> auto& { return rule(p).copy; }, false);
        simplify([&](InstanceParts& p) -> auto& { return rule(p).reduce; }, false);
        simplify([&](InstanceParts& p) -> auto& { return rule(p).cut_through; }, false);
        simplify([&](InstanceParts& p) -> auto& { return rule(p).buffer; }, std::optional<std::uint32_t>{});
    }

    const InstanceParts& parts_;
    std::vector<InstanceParts> all_;
};

[[nodiscard]] bool still_fails(const InstanceParts& parts,
                               const std::function<bool(const Instance&)>& fails) {
    try {
        return fails(Instance(parts));
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace

InstanceParts shrunk(InstanceParts parts, const std::function<bool(const Instance&)>& fails) {
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (InstanceParts& candidate : Smaller(parts).all()) {
            if (!still_fails(candidate, fails)) continue;
            parts = std::move(candidate);
            smaller = true;
            break;
        }
    }
    return parts;
}

std::string json_of(const Instance& instance) { return io::json_page(io::write_instance(instance)); }

}  // namespace tutti::test

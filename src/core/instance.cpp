#include "core/instance.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tutti {
namespace {

constexpr std::size_t kMaxBetas = std::size_t{1} << 26;
/// Bits, by collective and node: one gibibyte.
constexpr std::size_t kMaxCarriers = std::size_t{1} << 33;

Topology checked_topology(TopologyParts parts) {
    try {
        return Topology(std::move(parts));
    } catch (const InputError& error) {
        throw error.at("/topology" + error.place());
    }
}

/// `last_group` has for each NPU the last group that it was met in, numbered from 1; `number` is this one's.
void check_group(const Group& group, const Topology& topology, std::uint32_t number,
                 std::vector<std::uint32_t>& last_group) {
    const std::string place = "/groups/" + path_token(group.name);
    if (group.members.empty()) throw InputError("expected at least one member; this group is empty", place);
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        const NodeId member = group.members[i];
        const auto at = [&] { return fmt::format("{}/{}", place, i); };
        if (!topology.is_npu(member)) {
            throw InputError(
                fmt::format("expected an NPU from 0 to {}, found {}{}", topology.npus() - 1, member.value(),
                            member.index() < topology.nodes() ? ", which is a switch" : ""),
                at());
        }
        if (last_group[member.index()] == number)
            throw InputError(fmt::format("NPU {} is listed twice", member.value()), at());
        last_group[member.index()] = number;
    }
}

/// Checks the releases; a list becomes its first release and, where they differ, the list.
void check_releases(Collective& collective, std::size_t ranks) {
    const auto check = [](Ticks release, const std::string& place) {
        if (release >= Ticks(0) && release <= kMaxLinkTicks) return;
        throw InputError("expected a release from 0 to 2^53 ticks", place);
    };
    auto& releases = collective.releases;
    if (releases.empty()) return check(collective.release, "/release");
    if (releases.size() != ranks) {
        throw InputError(
            fmt::format("expected {} releases, one for each rank, found {}", ranks, releases.size()),
            "/release");
    }
    for (std::size_t r = 0; r < ranks; ++r) check(releases[r], fmt::format("/release/{}", r));
    collective.release = std::ranges::min(releases);
    if (std::ranges::max(releases) == collective.release) releases.clear();
}

void check_collective(const Collective& collective, const Topology& topology, std::size_t groups) {
    if (collective.group.index() >= groups) throw InputError("no such group", "/group");
    if (collective.chunks == 0) throw InputError("expected at least 1", "/chunks");
    if (topology.units() == Units::Abstract) return;
    if (collective.kind != CollectiveKind::Custom && collective.chunk_bytes.count <= 0) {
        throw InputError("expected chunk_bytes of at least 1: the topology is in physical units",
                         "/chunk_bytes");
    }
    for (std::size_t i = 0; i < collective.demands.size(); ++i) {
        if (collective.demands[i].bytes.value_or(collective.chunk_bytes).count > 0) continue;
        throw InputError("expected bytes of at least 1, here or as the collective's chunk_bytes",
                         fmt::format("/demands/{}/bytes", i));
    }
}

/// Throws an InputError that names the first link on which a chunk of that size takes too long.
void complain_of_size(const Topology& topology, Bytes bytes) {
    for (std::size_t l = 0; l < topology.links().size(); ++l) {
        try {
            (void)topology.beta(LinkId(l), bytes);
        } catch (const InputError& error) {
            throw InputError(fmt::format("a chunk of {} bytes on {} takes {}", bytes.count,
                                         name_of(topology, LinkId(l)), error.message()),
                             "/topology");
        }
    }
}

}  // namespace

Instance::Instance(InstanceParts parts)
    : name_(std::move(parts.name)),
      topology_(checked_topology(std::move(parts.topology))),
      groups_(std::move(parts.groups)),
      collectives_(std::move(parts.collectives)) {
    std::set<std::string> names;
    std::vector<std::uint32_t> last_group(topology_.npus(), 0);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        const Group& group = groups_[i];
        if (!names.insert(group.name).second) {
            throw InputError(fmt::format("group '{}' is defined twice", group.name),
                             "/groups/" + path_token(group.name));
        }
        check_group(group, topology_, static_cast<std::uint32_t>(i + 1), last_group);
    }
    if (collectives_.empty()) throw InputError("expected at least one collective", "/collectives");
    std::set<std::string> ids;
    std::size_t restricted = 0;
    for (std::size_t i = 0; i < collectives_.size(); ++i) {
        Collective& collective = collectives_[i];
        try {
            check_collective(collective, topology_, groups_.size());
            if (!ids.insert(collective.id).second) {
                throw InputError(fmt::format("collective id '{}' is used twice", collective.id), "/id");
            }
            const Group& group = groups_[collective.group.index()];
            check_releases(collective, group.members.size());
            demands_.append(collective, CollectiveId(i), group);
            carriers_.emplace_back();
            if (collective.forwarding == Forwarding::Any) continue;
            restricted += topology_.nodes();
            if (restricted > kMaxCarriers)
                throw InputError(
                    "there are too many collectives on so many nodes whose forwarding is 'group'",
                    "/forwarding");
            auto& carriers = carriers_.back();
            carriers.assign(topology_.nodes(), false);
            for (const NodeId member : group.members) carriers[member.index()] = true;
            for (std::size_t s = topology_.npus(); s < topology_.nodes(); ++s) carriers[s] = true;
        } catch (const InputError& error) {
            throw error.at(fmt::format("/collectives/{}{}", i, error.place()));
        }
    }
    set_up_releases();
    // Computed here once, so that a size that some link cannot carry within 2^53 ticks fails now, not during
    // synthesis.
    const std::size_t links = topology_.links().size();
    const bool keep = demands_.sizes().size() * links <= kMaxBetas;
    for (const Bytes bytes : demands_.sizes()) {
        try {
            const auto betas = topology_.betas(bytes);
            if (keep) betas_.insert(betas_.end(), betas.begin(), betas.end());
        } catch (const InputError&) {
            complain_of_size(topology_, bytes);
            throw;
        }
    }
}

void Instance::set_up_releases() {
    if (std::ranges::all_of(collectives_, [](const Collective& c) { return c.releases.empty(); })) return;
    member_releases_.resize(collectives_.size());
    for (std::size_t c = 0; c < collectives_.size(); ++c) {
        const Collective& collective = collectives_[c];
        const auto& members = groups_[collective.group.index()].members;
        for (std::size_t r = 0; r < collective.releases.size(); ++r)
            member_releases_[c].emplace_back(members[r], collective.releases[r]);
        std::ranges::sort(member_releases_[c]);
    }
    first_release_.assign(demands_.sets(), Ticks::max());
    last_release_.assign(demands_.sets(), Ticks(-1));
    for (std::size_t c = 0; c < demands_.size(); ++c) {
        const std::uint32_t set = demands_.holder_set(ChunkId(c));
        if (last_release_[set] >= Ticks(0)) continue;
        for (const NodeId holder : demands_.set(set)) {
            const Ticks release = release_of(demands_.collective(ChunkId(c)), holder);
            first_release_[set] = std::min(first_release_[set], release);
            last_release_[set] = std::max(last_release_[set], release);
        }
    }
}

Ticks Instance::release_of(CollectiveId collective, NodeId member) const {
    if (member_releases_.empty() || member_releases_[collective.index()].empty())
        return collectives_[collective.index()].release;
    const auto& releases = member_releases_[collective.index()];
    const auto found = std::ranges::lower_bound(releases, member, {}, &std::pair<NodeId, Ticks>::first);
    expects(found != releases.end() && found->first == member);
    return found->second;
}

}  // namespace tutti

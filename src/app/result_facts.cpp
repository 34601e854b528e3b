#include "app/result_facts.hpp"

#include <set>

namespace tutti::app {
namespace {

constexpr std::string_view kMixed = "mixed";
/// A line of results goes through pipes and into tables; of more it has none.
constexpr std::size_t kMostListed = 4096;

std::size_t ranks_of(const Instance& instance, const Collective& collective) {
    return instance.groups()[collective.group.index()].members.size();
}

std::optional<std::uint64_t> count_of(const std::optional<Bytes>& bytes) {
    return bytes ? std::optional(static_cast<std::uint64_t>(bytes->count)) : std::nullopt;
}

}  // namespace

void enter(io::ResultLine& line, const Instance& instance, const Variation& variation) {
    const Topology& topology = instance.topology();
    line.instance = instance.name();
    line.npus = topology.npus();
    line.nodes = topology.nodes();
    line.links = topology.links().size();
    line.chunks = instance.chunks();
    line.units = topology.units() == Units::Physical ? "physical" : "abstract";
    std::set<std::size_t> groups, ranks;
    std::set<std::string_view> kinds;
    for (const Collective& collective : instance.collectives()) {
        groups.insert(collective.group.index());
        ranks.insert(ranks_of(instance, collective));
        kinds.insert(name_of(collective.kind));
    }
    line.groups = groups.size();
    line.ranks = ranks.size() == 1 ? *ranks.begin() : 0;
    line.collective = kinds.size() == 1 ? std::string(*kinds.begin()) : std::string(kMixed);
    line.asked_chunks = variation.chunks;
    line.asked_bytes = count_of(variation.bytes);
    line.bytes = count_of(call_bytes(instance, variation.bytes));
}

void enter(io::ResultLine& line, const Instance& instance, const synth::Result& result) {
    line.method = result.method;
    line.status = result.status;
    line.makespan = result.schedule.makespan;
    line.lower_bound = result.bound.value;
    line.bound_kind = result.bound.kind;
    line.skipped = result.skipped;
    line.seconds = result.seconds;
    line.sends = result.sends;
    line.verified = true;
    line.stopped = result.stopped;
    line.proof = result.proof;
    line.composed = result.composed;
    line.solver_versions = result.solver_versions;
    line.heuristic = result.heuristic;
    line.candidates = result.candidates;
    const auto asked =
        line.asked_bytes ? std::optional(Bytes{static_cast<std::int64_t>(*line.asked_bytes)}) : std::nullopt;
    if (instance.collectives().size() <= kMostListed)
        line.collectives = collective_results(instance, result.finish, asked);
    const Bandwidths bandwidths = bandwidths_of(instance, result.schedule.makespan, asked);
    line.algbw_GBps = bandwidths.algbw_GBps;
    line.busbw_GBps = bandwidths.busbw_GBps;
}

}  // namespace tutti::app

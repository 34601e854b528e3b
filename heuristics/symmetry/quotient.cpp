// Synthesis under symmetry. Find a group of symmetries; take one chunk of each orbit; schedule those on the
// full network, with one calendar per orbit of links. The images of this schedule under the group serve all
// chunks without conflicts (src/verify/symmetric_verifier.cpp has the proof). The work shrinks by the size of
// the group: 40,000 NPUs on a torus are one tree.
//
// Reductions are floods on the reversed links, reversed in time; an all-reduce is that followed by a flood
// from the same root, or an exchange along trees (quotient_exchange).
//
// Several groups are tried until the target is met: shifts of digits; for all-to-all, a subgroup of index 2,
// so that two chunks with targets half-way round a ring can take different directions; and the shift along a
// Hamiltonian cycle of a grid, whose links are then the only ones used.

#include "heuristics/symmetry/quotient.hpp"

#include "heuristics/symmetry/quotient_exchange.hpp"
#include "heuristics/symmetry/quotient_flood.hpp"
#include "heuristics/symmetry/quotient_routes.hpp"
#include "symmetry/symmetry_search.hpp"

#include <algorithm>
#include <variant>

namespace tutti::heuristics {
namespace {

enum class Pattern { Gather, Scatter, Both, Unicast };

/// The pattern that all chunks share, or why there is none.
std::variant<Pattern, std::string> pattern_or_reason(const Instance& instance) {
    const std::size_t npus = instance.topology().npus();
    const DemandList& demands = instance.demands();
    if (instance.topology().switches() > 0) return "the network has switches";
    if (instance.chunks() == 0) return "there are no chunks";
    std::optional<Pattern> common;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const ChunkId chunk(c);
        if (demands.size_class(chunk) != demands.size_class(ChunkId(0)) ||
            instance.release(chunk) != instance.release(ChunkId(0)) || instance.is_staggered(chunk))
            return "chunks have different sizes or releases";
        if (instance.collective_of(chunk).forwarding == Forwarding::Group)
            return "only members of a group may relay its chunks";
        const std::size_t holders = demands.set(demands.holder_set(chunk)).size();
        const std::size_t receivers = demands.set(demands.receiver_set(chunk)).size();
        const bool reduction = demands.is_reduction(chunk);
        if (holders != (reduction ? npus : 1) || (receivers != 1 && receivers != npus))
            return "a chunk is neither for one NPU nor for all, or not from one NPU or all";
        const bool sole = receivers == 1 && npus > 1;
        const Pattern pattern = reduction ? (sole ? Pattern::Scatter : Pattern::Both)
                                          : (sole ? Pattern::Unicast : Pattern::Gather);
        if (common.value_or(pattern) != pattern) return "there are collectives of different kinds";
        common = pattern;
    }
    return *common;
}

class Quotient {
  public:
    Quotient(const Instance& instance, Pattern pattern, std::vector<symmetry::Generator> generators,
             std::uint64_t effort)
        : instance_(instance),
          pattern_(pattern),
          generators_(std::move(generators)),
          effort_(effort),
          action_(generators_, instance.topology().npus()),
          links_(instance.topology(), action_) {}

    std::optional<symmetry::SymmetricSchedule> run(Ticks target, Rng& rng, const Stop& stop) {
        if (!choose_representatives()) return std::nullopt;
        const Ticks release = instance_.release(ChunkId(0));
        symmetry::SymmetricSchedule schedule{instance_.name(), Ticks(0), std::move(generators_), {}};
        // The target of one half of an all-reduce is half of it.
        Ticks aim = std::max(target - release, Ticks(0));
        if (pattern_ == Pattern::Both) aim = Ticks(aim.count() / 2);
        Ticks begin = release;
        if (pattern_ == Pattern::Scatter || pattern_ == Pattern::Both) {
            const Machines machines = this->machines(true);
            const auto flood = quotient_flood(machines.network, roots(), aim, effort_, rng, stop);
            if (!flood) return std::nullopt;
            for (const QuotientTransfer& t : flood->transfers) {
                const Ticks start =
                    begin + flood->makespan - t.start - machines.network.machines[t.machine].transit;
                schedule.sends.push_back({chunks_[t.spread], machines.link(t), start, Op::Reduce});
            }
            begin += flood->makespan;
        }
        if (pattern_ != Pattern::Scatter) {
            const Machines machines = this->machines(false);
            const auto flood = pattern_ == Pattern::Unicast
                                   ? quotient_routes(machines.network, jobs(), aim, effort_, rng, stop)
                                   : quotient_flood(machines.network, roots(), aim, effort_, rng, stop);
            if (!flood) return std::nullopt;
            for (const QuotientTransfer& t : flood->transfers)
                schedule.sends.push_back({chunks_[t.spread], machines.link(t), begin + t.start, Op::Copy});
            begin += flood->makespan;
        }
        schedule.makespan = schedule.sends.empty() ? Ticks(0) : begin;
        std::ranges::sort(schedule.sends, starts_before);
        return schedule;
    }

    /// Sums along trees, without a root.
    std::optional<symmetry::SymmetricSchedule> run_trees(Ticks target, Rng& rng, const Stop& stop) {
        if (!choose_representatives()) return std::nullopt;
        const Ticks release = instance_.release(ChunkId(0));
        const Machines machines = this->machines(false);
        const auto exchange = quotient_exchange(machines.network, chunks_.size(), Ticks::max(),
                                                std::max(target - release, Ticks(0)), effort_, rng, stop);
        if (!exchange) return std::nullopt;
        symmetry::SymmetricSchedule schedule{
            instance_.name(), release + exchange->makespan, std::move(generators_), {}};
        for (std::size_t i = 0; i < exchange->transfers.size(); ++i) {
            const QuotientTransfer& t = exchange->transfers[i];
            schedule.sends.push_back(
                {chunks_[t.spread], machines.link(t), release + t.start, exchange->ops[i]});
        }
        std::ranges::sort(schedule.sends, starts_before);
        return schedule;
    }

  private:
    struct Machines {
        QuotientNetwork network;
        std::vector<std::vector<LinkId>> links;  ///< by machine, then tail's element
        [[nodiscard]] LinkId link(const QuotientTransfer& t) const {
            return links[t.machine][t.tail % network.group];
        }
    };

    [[nodiscard]] std::uint32_t place(NodeId npu) const {
        return action_.orbit_of(npu) * action_.size() + action_.element_of(npu);
    }

    /// The first chunk of each orbit. False: some chunk's orbit is not whole.
    bool choose_representatives() {
        const symmetry::ChunkAction action(instance_);
        std::vector<std::vector<std::uint32_t>> images;
        for (const symmetry::Generator& generator : generators_) images.push_back(action.images(generator));
        std::vector<bool> covered(instance_.chunks(), false);
        std::vector<std::uint32_t> row;
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            if (covered[c]) continue;
            if (!symmetry::chunk_row(action_, images, ChunkId(c), row)) return false;
            for (const std::uint32_t image : row) {
                if (covered[image]) return false;
                covered[image] = true;
            }
            chunks_.emplace_back(c);
        }
        return true;
    }

    /// Reversed links lead from their destination to their source.
    [[nodiscard]] Machines machines(bool reversed) const {
        Machines result;
        result.network.group = action_.size();
        result.network.orbits = action_.orbits();
        const Topology& topology = instance_.topology();
        for (std::size_t o = 0; o < links_.size(); ++o) {
            const LinkId base = links_.base(o);
            const Ticks beta = instance_.beta(base, ChunkId(0));
            const auto tail = [&](LinkId id) {
                return reversed ? topology.link(id).dst : topology.link(id).src;
            };
            const auto head = [&](LinkId id) {
                return reversed ? topology.link(id).src : topology.link(id).dst;
            };
            QuotientNetwork::Machine machine{action_.orbit_of(tail(base)), instance_.alpha(base) + beta,
                                             instance_.busy(base, beta),
                                             std::vector<std::uint32_t>(action_.size())};
            std::vector<LinkId> by_tail(action_.size());
            for (std::uint32_t e = 0; e < action_.size(); ++e) {
                const LinkId link = links_.link(o, e);
                const std::uint32_t element = action_.element_of(tail(link));
                machine.heads[element] = place(head(link));
                by_tail[element] = link;
            }
            result.network.machines.push_back(std::move(machine));
            result.links.push_back(std::move(by_tail));
        }
        return result;
    }

    /// The root of each representative chunk: its only holder or receiver, else in rotation.
    [[nodiscard]] std::vector<std::uint32_t> roots() const {
        std::vector<std::uint32_t> result;
        for (const ChunkId chunk : chunks_) {
            const Demand demand = instance_.demand(chunk);
            if (pattern_ == Pattern::Both) {
                const auto orbit = static_cast<std::uint32_t>(result.size() % action_.orbits());
                result.push_back(orbit * action_.size());
            } else {
                result.push_back(
                    place(pattern_ == Pattern::Gather ? demand.holders[0] : demand.receivers[0]));
            }
        }
        return result;
    }
    [[nodiscard]] std::vector<QuotientJob> jobs() const {
        std::vector<QuotientJob> result;
        for (const ChunkId chunk : chunks_) {
            const Demand demand = instance_.demand(chunk);
            result.push_back({place(demand.holders[0]), place(demand.receivers[0])});
        }
        return result;
    }

    const Instance& instance_;
    const Pattern pattern_;
    std::vector<symmetry::Generator> generators_;
    const std::uint64_t effort_;
    symmetry::GroupAction action_;
    symmetry::LinkOrbits links_;
    std::vector<ChunkId> chunks_;
};

/// Replaces the generator of the largest even order by its square. False: there is none.
bool halve(std::vector<symmetry::Generator>& generators) {
    const auto even = [](const symmetry::Generator& g) { return g.order % 2 == 0 ? g.order : 0; };
    const auto largest = std::ranges::max_element(generators, {}, even);
    if (largest == generators.end() || even(*largest) == 0) return false;
    if (largest->order == 2) {
        generators.erase(largest);
        return !generators.empty();
    }
    const auto once = largest->images;
    for (NodeId& image : largest->images) image = once[image.index()];
    largest->order /= 2;
    return true;
}

/// The time that a two-way ring needs if none of its links ever idles. Where a corner has two links, and
/// latency is zero, nothing is faster; elsewhere other heuristics are better than a ring.
Ticks ring_bound(const Instance& instance, Pattern pattern) {
    const auto npus = static_cast<std::int64_t>(instance.topology().npus());
    const auto chunks = static_cast<std::int64_t>(instance.chunks()) / npus;
    const Ticks busy = instance.busy(LinkId(0), instance.beta(LinkId(0), ChunkId(0)));
    const std::int64_t phases = pattern == Pattern::Both ? 2 : 1;
    for (std::size_t n = 0; n < instance.topology().npus(); ++n) {
        if (instance.topology().in_links(NodeId(n)).size() <= 2)
            return instance.release(ChunkId(0)) + busy * (((npus - 1) * chunks + 1) / 2 * phases);
    }
    return Ticks(0);
}

}  // namespace

std::optional<symmetry::SymmetricSchedule> quotient_synthesis(const Instance& instance, Ticks target,
                                                              Rng& rng, const Stop& stop,
                                                              std::uint64_t effort) {
    const auto either = pattern_or_reason(instance);
    const auto* pattern = std::get_if<Pattern>(&either);
    if (pattern == nullptr) return std::nullopt;
    std::optional<symmetry::SymmetricSchedule> best;
    auto shifts = symmetry::digit_shifts(instance);
    if (!shifts.empty()) best = Quotient(instance, *pattern, shifts, effort).run(target, rng, stop);
    if ((best && best->makespan <= target) || stop.requested()) return best;
    if (*pattern == Pattern::Unicast) {
        if (best && halve(shifts)) {
            auto halved = Quotient(instance, *pattern, std::move(shifts), effort).run(target, rng, stop);
            if (halved && halved->makespan < best->makespan) best = std::move(halved);
        }
        return best;
    }
    if (auto ring = symmetry::ring_through_grid(instance.topology())) {
        const Ticks enough = ring_bound(instance, *pattern);
        auto along = Quotient(instance, *pattern, {std::move(*ring)}, effort).run(target, rng, stop);
        if (along && along->makespan <= std::max(enough, target) &&
            (!best || along->makespan < best->makespan))
            best = std::move(along);
    }
    return best;
}

std::optional<symmetry::SymmetricSchedule> symmetric_trees(const Instance& instance, Ticks target, Rng& rng,
                                                           const Stop& stop, std::uint64_t effort) {
    if (!why_no_symmetric_trees(instance).empty()) return std::nullopt;
    return Quotient(instance, Pattern::Both, symmetry::digit_shifts(instance), effort)
        .run_trees(target, rng, stop);
}

std::string why_no_symmetric_trees(const Instance& instance) {
    const auto either = pattern_or_reason(instance);
    if (const auto* why = std::get_if<std::string>(&either)) return *why;
    if (std::get<Pattern>(either) != Pattern::Both) return "only all-reduces are exchanged along trees";
    if (!symmetry::digit_shifts(instance).empty()) return {};
    return "no shift of the NPUs' numbers keeps the network and the demands";
}

std::string why_no_symmetry(const Instance& instance) {
    const auto either = pattern_or_reason(instance);
    if (const auto* why = std::get_if<std::string>(&either)) return *why;
    if (!symmetry::digit_shifts(instance).empty()) return {};
    if (std::get<Pattern>(either) != Pattern::Unicast && symmetry::ring_through_grid(instance.topology()))
        return {};
    return "no shift of the NPUs' numbers keeps the network and the demands";
}

}  // namespace tutti::heuristics

// Where the lockstep engine applies, and what its steps mean in ticks.
//
// All links have the same alpha and beta, so transfers can start in steps of the time for which they keep the
// link busy. A transfer of step k arrives alpha + beta later and can be forwarded in the first step after
// that: the next one if the link is busy all that time (alpha = 0, or "busy": "alpha+beta"), otherwise 1 +
// ceil(alpha / beta) steps later. Steps lose nothing where alpha is a multiple of beta (or 0); where it is
// not, each hop waits for less than beta.

#include "heuristics/lockstep/lockstep.hpp"

#include <algorithm>
#include <optional>
#include <variant>

namespace tutti::heuristics {

namespace {

/// Transfers in flight are listed one by one: above this delay that takes too much memory, and latency
/// matters more than the throughput that the engine optimises.
constexpr std::int64_t kLongestDelay = 64;

struct Pace {
    Ticks busy, transit;
    [[nodiscard]] std::int64_t delay() const { return (transit.count() + busy.count() - 1) / busy.count(); }
    friend bool operator==(const Pace&, const Pace&) = default;
};

/// Who can be reached from node 0, and who can reach it.
class Reach {
  public:
    explicit Reach(const LockstepProblem& problem) : problem_(problem) {}

    [[nodiscard]] bool everywhere(bool backwards) const {
        std::vector<std::uint32_t> first(problem_.nodes + 1);
        std::vector<std::uint32_t> next(problem_.links.size());
        for (const auto& [from, to] : problem_.links) ++first[(backwards ? to : from) + 1];
        for (std::size_t n = 0; n < problem_.nodes; ++n) first[n + 1] += first[n];
        std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
        for (const auto& [from, to] : problem_.links)
            next[fill[backwards ? to : from]++] = backwards ? from : to;
        std::vector<bool> seen(problem_.nodes);
        std::vector<std::uint32_t> queue{0};
        seen[0] = true;
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (std::uint32_t k = first[queue[i]]; k < first[queue[i] + 1]; ++k) {
                if (seen[next[k]]) continue;
                seen[next[k]] = true;
                queue.push_back(next[k]);
            }
        }
        return queue.size() == problem_.nodes;
    }

  private:
    const LockstepProblem& problem_;
};

[[nodiscard]] bool is_strongly_connected(const LockstepProblem& problem) {
    const Reach reach(problem);
    return reach.everywhere(false) && reach.everywhere(true);
}

/// The pace of all links, if it is the same for all.
std::optional<Pace> pace_of(const Instance& instance) {
    std::optional<Pace> common;
    const Topology& topology = instance.topology();
    for (std::size_t l = 0; l < topology.links().size(); ++l) {
        const LinkId link(l);
        const Ticks beta = instance.beta(link, ChunkId(0));
        const Pace pace{instance.busy(link, beta), instance.alpha(link) + beta};
        if (common && *common != pace) return std::nullopt;
        common = pace;
    }
    return common ? common : Pace{Ticks(1), Ticks(1)};
}

/// Whether two sets of NPUs together are all NPUs. Demands share their sets, so most checks compare addresses
/// only.
class AllNpus {
  public:
    explicit AllNpus(std::size_t npus) : npus_(npus), seen_(npus) {}
    [[nodiscard]] bool are(std::span<const NodeId> receivers, std::span<const NodeId> holders) {
        if (receivers.size() == npus_ && receivers.data() == known_) return true;
        if (receivers.size() + holders.size() < npus_) return false;
        ++chunk_;
        std::size_t found = 0;
        for (const auto nodes : {receivers, holders}) {
            for (const NodeId node : nodes) {
                if (seen_[node.index()] == chunk_) continue;
                seen_[node.index()] = chunk_;
                ++found;
            }
            if (found == npus_) break;
        }
        if (found < npus_) return false;
        if (receivers.size() == npus_) known_ = receivers.data();
        return true;
    }

  private:
    std::size_t npus_;
    std::vector<std::uint64_t> seen_;
    std::uint64_t chunk_ = 0;
    const NodeId* known_ = nullptr;
};

LockstepProblem network_of(const Topology& topology) {
    LockstepProblem problem;
    problem.nodes = topology.nodes();
    problem.links.reserve(topology.links().size());
    for (const Link& link : topology.links()) problem.links.push_back({link.src.value(), link.dst.value()});
    return problem;
}

void add_chunk(LockstepProblem& problem, std::span<const NodeId> holders) {
    for (const NodeId node : holders) problem.holders.push_back(node.value());
    problem.first_holder.push_back(problem.holders.size());
}

LockstepProblem problem_of(const Instance& instance, const Pace& pace) {
    LockstepProblem problem = network_of(instance.topology());
    problem.delay = static_cast<std::size_t>(pace.delay());
    for (std::size_t c = 0; c < instance.chunks(); ++c)
        add_chunk(problem, instance.demand(ChunkId(c)).holders);
    return problem;
}

}  // namespace

bool fits_lockstep(const Instance& instance) {
    const Topology& topology = instance.topology();
    if (topology.switches() > 0) return false;
    const auto pace = pace_of(instance);
    if (!pace || pace->delay() > kLongestDelay) return false;
    AllNpus all_npus(topology.npus());
    const Demand first = instance.demand(ChunkId(0));
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const ChunkId chunk(c);
        const Demand demand = instance.demand(chunk);
        if (demand.reduction || demand.bytes != first.bytes ||
            instance.release(chunk) != instance.release(ChunkId(0)) || instance.is_staggered(chunk) ||
            !all_npus.are(demand.receivers, demand.holders)) {
            return false;
        }
    }
    for (std::size_t i = 0; i < instance.collectives().size(); ++i) {
        for (std::size_t n = 0; n < topology.npus(); ++n) {
            if (!instance.may_carry(NodeId(n), CollectiveId(i))) return false;
        }
    }
    return is_strongly_connected(network_of(topology));
}

LockstepGather::LockstepGather(const Instance& instance, std::uint64_t seed, const Stop& stop)
    : stop_(stop),
      release_(instance.release(ChunkId(0))),
      pace_(pace_of(instance)->busy),
      transit_(pace_of(instance)->transit),
      engine_(problem_of(instance, *pace_of(instance)), seed) {
    sends_.reserve(instance.topology().links().size());
}

std::span<const Send> LockstepGather::next() {
    given_ += sends_.size();
    sends_.clear();
    while (sends_.empty() && engine_.missing() > 0 && !engine_.is_stuck() && !stop_.requested()) {
        const Ticks start = release_ + pace_ * steps_++;
        for (const auto& [link, chunk] : engine_.step()) {
            sends_.push_back({ChunkId(chunk), LinkId(link), start, Op::Copy});
        }
        if (!sends_.empty()) makespan_ = start + transit_;
    }
    return sends_;
}

namespace {

/// A problem in the engine's representation.
struct InSteps {
    LockstepProblem whole;
    Pace pace{Ticks(1), Ticks(1)};
    Ticks begin;
};

/// Or the reason why the engine does not apply.
std::variant<InSteps, std::string> in_steps(const SpreadProblem& problem) {
    const HopGraph& graph = problem.graph;
    if (!graph.is_direct() || graph.instance().topology().switches() > 0) return "the network has switches";
    InSteps steps;
    LockstepProblem& whole = steps.whole;
    whole.nodes = graph.nodes();
    std::optional<Pace> pace;
    std::vector<LegTime> legs;
    const ChunkId first = problem.spreads.front().chunk;
    const Bytes bytes = graph.instance().demand(first).bytes;
    for (std::size_t h = 0; h < graph.hops(); ++h) {
        const Hop hop = graph.hop(HopId(h));
        graph.leg_times(HopId(h), first, legs);
        const Pace mine{legs.front().busy, graph.transit(HopId(h), first)};
        if (pace && *pace != mine) return "links take different times";
        pace = mine;
        whole.links.push_back({hop.from.value(), hop.to.value()});
    }
    steps.pace = pace.value_or(steps.pace);
    if (steps.pace.delay() > kLongestDelay) return "the latency of the links is too long";
    if (!is_strongly_connected(whole)) return "some NPU cannot be reached from another";
    whole.delay = static_cast<std::size_t>(steps.pace.delay());
    AllNpus all_npus(graph.nodes());
    steps.begin = problem.calendar.horizon();
    for (const Spread& spread : problem.spreads) {
        if (graph.instance().demand(spread.chunk).bytes != bytes) return "chunks have different sizes";
        if (!all_npus.are(spread.targets, spread.sources)) return "not every NPU wants every chunk";
        steps.begin = std::max(steps.begin, spread.ready);
        add_chunk(whole, spread.sources);
    }
    return steps;
}

}  // namespace

std::string why_no_lockstep(const SpreadProblem& problem) {
    if (problem.spreads.empty()) return {};
    const auto steps = in_steps(problem);
    const auto* why = std::get_if<std::string>(&steps);
    return why != nullptr ? *why : std::string();
}

std::optional<SpreadSolution> lockstep(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    if (problem.spreads.empty()) return SpreadSolution{};
    const auto prepared = in_steps(problem);
    const auto* steps = std::get_if<InSteps>(&prepared);
    if (steps == nullptr) return std::nullopt;
    LockstepEngine engine(steps->whole, rng.next());
    SpreadSolution solution;
    solution.transfers.reserve(engine.missing());
    for (std::int64_t step = 0; engine.missing() > 0; ++step) {
        if (engine.is_stuck() || stop.requested()) return std::nullopt;
        const Ticks start = steps->begin + steps->pace.busy * step;
        for (const auto& [link, chunk] : engine.step()) {
            solution.transfers.push_back({HopId(link), problem.spreads[chunk].chunk, start});
            solution.makespan = start + steps->pace.transit;
        }
    }
    return solution;
}

}  // namespace tutti::heuristics

#include "synth/pareto_schedule.hpp"

#include "verify/schedule_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tutti::synth {
namespace {

using models::StepPlan;
using models::StepSend;
using models::StepView;

/// A send of the whole algorithm: arcs are those of the network itself, steps run on from the reduction to
/// the copies.
struct Move {
    ChunkId chunk;
    std::size_t arc;
    std::size_t step;  ///< from 0 on
    Op op;
};

struct Moves {
    std::vector<int> rounds;
    std::vector<Move> list;  ///< by step
};

Moves moves_of(const StepAlgorithm& algorithm, const StepView& view) {
    Moves moves;
    const auto chunk_of = [&](const StepSend& send) {
        return view.chunks[send.chunk_class][static_cast<std::size_t>(send.index)];
    };
    if (algorithm.reduction) {
        const StepPlan& plan = *algorithm.reduction;
        moves.rounds.assign(plan.rounds.rbegin(), plan.rounds.rend());
        for (const StepSend& send : plan.sends) {
            const std::size_t step = plan.rounds.size() - static_cast<std::size_t>(send.step);
            moves.list.push_back({chunk_of(send), send.arc, step, Op::Reduce});
        }
    }
    if (algorithm.copies) {
        const StepPlan& plan = *algorithm.copies;
        const std::size_t before = moves.rounds.size();
        moves.rounds.insert(moves.rounds.end(), plan.rounds.begin(), plan.rounds.end());
        for (const StepSend& send : plan.sends) {
            const std::size_t step = before + static_cast<std::size_t>(send.step) - 1;
            moves.list.push_back({chunk_of(send), send.arc, step, Op::Copy});
        }
    }
    std::ranges::stable_sort(moves.list, {}, &Move::step);
    return moves;
}

/// Which of the parallel links is done first with one more transfer that may start at `ready`.
LinkId quickest(const Instance& instance, std::span<const LinkId> links, ChunkId chunk, Ticks ready,
                const std::vector<Ticks>& free_at) {
    return *std::ranges::min_element(links, {}, [&](LinkId link) {
        return std::max(ready, free_at[link.index()]) + instance.alpha(link) + instance.beta(link, chunk);
    });
}

void check(const Realised& realised) {
    const Verdict verdict = verify::verify(realised.instance, realised.schedule);
    if (verdict.valid()) return;
    const Violation& first = verdict.violations.front();
    throw InternalError(fmt::format("a synchronous algorithm ({}) breaks V{} ({}): {}",
                                    realised.instance.name(), number_of(first.rule), code_of(first.rule),
                                    first.message));
}

/// Lays the moves out in time: none before `ready` says so, each link one at a time.
template <class Ready, class Arrived>
Schedule lay_out(const Instance& instance, const StepView& view, const Moves& moves, const Ready& ready,
                 const Arrived& arrived) {
    Schedule schedule{instance.name(), Ticks(0), {}};
    std::vector<Ticks> free_at(instance.topology().links().size());
    for (const Move& move : moves.list) {
        const Ticks from = ready(move);
        const LinkId link = quickest(instance, view.arc_links[move.arc], move.chunk, from, free_at);
        const Ticks start = std::max(from, free_at[link.index()]);
        const Ticks beta = instance.beta(link, move.chunk);
        free_at[link.index()] = start + instance.busy(link, beta);
        const Ticks arrival = start + instance.alpha(link) + beta;
        arrived(move, arrival);
        schedule.sends.push_back({move.chunk, link, start, move.op});
        schedule.makespan = std::max(schedule.makespan, arrival);
    }
    std::ranges::sort(schedule.sends, starts_before);
    return schedule;
}

/// Ticks in a round, so that each link's chunks per round fit: the least common multiple while that is small.
std::int64_t round_length(const std::vector<std::int64_t>& capacities) {
    constexpr std::int64_t kLong = 1'000'000'000;
    std::int64_t length = 1;
    for (const std::int64_t capacity : capacities) {
        if (capacity > 0) length = std::lcm(length, capacity);
        if (length > kLong) return kLong;
    }
    return length;
}

}  // namespace

RoundClock by_rounds(const Instance& instance, const StepView& base, const StepAlgorithm& algorithm,
                     const std::string& name) {
    InstanceParts parts = models::with_chunks(instance, algorithm.chunks);
    parts.name = name;
    const std::int64_t round = round_length(base.link_capacity);
    parts.topology.busy = Busy::Beta;
    for (std::size_t i = 0; i < parts.topology.links.size(); ++i) {
        // A link that nobody may use has no capacity; any beta does.
        const std::int64_t capacity = std::max<std::int64_t>(base.link_capacity[i], 1);
        parts.topology.links[i].wire = {Ticks(0), Ticks(round / capacity), {}};
    }
    set_release(parts.collectives.front(), Ticks(0));
    parts.collectives.front().chunk_bytes = Bytes{};
    for (CustomDemand& demand : parts.collectives.front().demands) demand.bytes.reset();

    Realised realised{Instance(std::move(parts)), {}};
    const StepView view = models::step_view(realised.instance);
    const Moves moves = moves_of(algorithm, view);
    std::vector<Ticks> begins{Ticks(0)};
    for (const int rounds : moves.rounds) begins.push_back(begins.back() + Ticks(round) * rounds);
    realised.schedule = lay_out(
        realised.instance, view, moves, [&](const Move& move) { return begins[move.step]; },
        [&](const Move& move, Ticks arrival) {
            if (arrival > begins[move.step + 1]) {
                throw InternalError(fmt::format("a synchronous algorithm ({}) overfills a link in step {}",
                                                name, move.step + 1));
            }
        });
    check(realised);
    return {std::move(realised), Ticks(round)};
}

Realised by_ticks(const Instance& instance, const StepView&, const StepAlgorithm& algorithm,
                  const std::string& name) {
    InstanceParts parts = models::with_chunks(instance, algorithm.chunks);
    parts.name = name;
    Realised realised{Instance(std::move(parts)), {}};
    const StepView view = models::step_view(realised.instance);
    const std::size_t nodes = realised.instance.topology().nodes();
    // What a node gets of a chunk before it sends it must all have come: one copy, or every part of its sum.
    std::vector<Ticks> ready(realised.instance.chunks() * nodes);
    for (std::size_t c = 0; c < realised.instance.chunks(); ++c) {
        for (const NodeId holder : realised.instance.demand(ChunkId(c)).holders)
            ready[c * nodes + holder.index()] = realised.instance.release(ChunkId(c), holder);
    }
    const auto& arcs = view.problem.arcs;
    realised.schedule = lay_out(
        realised.instance, view, moves_of(algorithm, view),
        [&](const Move& move) { return ready[move.chunk.index() * nodes + arcs[move.arc].src.index()]; },
        [&](const Move& move, Ticks arrival) {
            Ticks& there = ready[move.chunk.index() * nodes + arcs[move.arc].dst.index()];
            there = std::max(there, arrival);
        });
    check(realised);
    return realised;
}

}  // namespace tutti::synth

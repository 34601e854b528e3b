// A schedule in generator form is judged without expanding it. Let G be the group that the generators span, S
// the sends as listed, and {g.s : g in G, s in S} the expansion, where g moves a send's link by its ends and
// its chunk by its demand (docs/symmetric-schedules.md).
//
// Checked for the symmetries (V18, all recomputed from the instance):
//   a. Each generator is a permutation of the NPUs; they commute; G acts freely: the products of powers take
//      an NPU to different NPUs, and the last power of each generator leads back.
//   b. Every link of S has all its images: with ends moved, the same wire, and the same place among the links
//      that join the same ends with the same wire. Let (r, d, w, j) name a link's orbit, where the link has
//      been moved so that its source is the first NPU r of its orbit. As G acts freely, each orbit of links
//      has |G| members, and two links have the same name exactly if one is an image of the other.
//   c. Every chunk of S has all its images, |G| different chunks, of the same size, kind and release, with
//      holders, receivers and permitted carriers moved; and no chunk is an image of two chunks of S.
//
// Then the expansion's sends of the chunk g.c are exactly g.s for the sends s of c: by c, no other chunk of S
// and no other element leads to g.c. g maps NPUs, links with their times, and the demand of c to those of
// g.c. So the history of g.c is the image of that of c: holdings, contributions, races, relays, release,
// demands (V1-V3, V6-V8, V13-V16) are right for g.c exactly if they are right for c. Chunks that are no image
// of a chunk of S are never sent, and must have no unmet demand. V5 is the only rule
// between chunks. A link L in the orbit named n carries, of each s in S whose link has that name, exactly one
// image, at the start of s; so L is never busy twice exactly if the sends of S with links of name n, all put
// on one link, do not overlap. Hence the verdict on S is the verdict on the expansion; and the makespan is
// that of S, because images start and arrive together.

#include "verify/symmetric_verifier.hpp"

#include "verify/chunk_replay.hpp"
#include "verify/report.hpp"
#include "verify/symmetric_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace tutti::verify {
namespace {

/// V1, V2, V3. Returns the positions of the sends with existing chunk and link.
std::vector<std::uint32_t> known_sends(const Instance& instance, const symmetry::SymmetricSchedule& schedule,
                                       Report& report) {
    std::vector<std::uint32_t> known;
    for (std::size_t i = 0; i < schedule.sends.size(); ++i) {
        const Send& send = schedule.sends[i];
        const auto complain = [&](Rule rule, const std::string& message) {
            report.add(rule, [&] {
                Violation v;
                v.message = message;
                v.sends = {i};
                v.tick = send.start;
                return v;
            });
        };
        const bool chunk = send.chunk.index() < instance.chunks();
        const bool link = send.link.index() < instance.topology().links().size();
        const bool start = send.start >= Ticks(0) && send.start <= kMaxStart;
        if (!chunk)
            complain(Rule::UnknownChunk, fmt::format("send {} names chunk {}, but the instance has {} chunks",
                                                     i, send.chunk.value(), instance.chunks()));
        if (!link)
            complain(Rule::UnknownLink, fmt::format("send {} names link {}, but the topology has {} links", i,
                                                    send.link.value(), instance.topology().links().size()));
        if (!start)
            complain(Rule::BadStart,
                     fmt::format("send {} starts at tick {}; expected 0 to 2^62", i, send.start.count()));
        if (chunk && link && start) known.push_back(static_cast<std::uint32_t>(i));
    }
    return known;
}

/// V5, all sends of one link orbit put on one link. `order` is by orbit, then start.
void judge_links(const Instance& instance, const symmetry::SymmetricSchedule& schedule,
                 const std::vector<std::uint32_t>& orbit, std::span<const std::uint32_t> order,
                 Report& report) {
    Ticks free_at;
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Send& send = schedule.sends[order[i]];
        const Ticks end = send.start + instance.busy(send.link, instance.beta(send.link, send.chunk));
        const bool same = i > 0 && orbit[order[i]] == orbit[order[i - 1]];
        if (same && send.start < free_at) {
            report.add(Rule::LinkOverlap, [&] {
                Violation v;
                v.message = fmt::format(
                    "{} is still busy with an image of send {} when send {} starts on it at tick {}",
                    name_of(instance.topology(), send.link), last, order[i], send.start.count());
                v.sends = {last, order[i]};
                v.tick = send.start;
                v.link = send.link;
                v.chunk = send.chunk;
                return v;
            });
        }
        if (!same || end >= free_at) {
            free_at = end;
            last = order[i];
        }
    }
}

/// V15, for chunks that are never sent.
void judge_unsent(const Instance& instance, const std::vector<bool>& covered, Report& report) {
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        if (covered[c]) continue;
        const Demand demand = instance.demand(ChunkId(c));
        for (const NodeId receiver : demand.receivers) {
            const bool holds = std::ranges::binary_search(demand.holders, receiver);
            if (holds && (!demand.reduction || demand.holders.size() == 1)) continue;
            report.add(holds ? Rule::DemandWrong : Rule::DemandUnmet, [&] {
                Violation v;
                v.message =
                    fmt::format("NPU {} never gets {}chunk {}, which is no image of a chunk that is sent",
                                receiver.value(), holds ? "the rest of " : "", c);
                v.chunk = ChunkId(c);
                v.node = receiver;
                return v;
            });
        }
    }
}

}  // namespace

Verdict verify(const Instance& instance, const symmetry::SymmetricSchedule& schedule,
               const Options& options) {
    Report report(instance, options.max_violations);
    const auto verdict_of = [&](Ticks makespan, std::vector<Ticks> finish, std::uint64_t sends) {
        Verdict verdict = std::move(report).verdict();
        verdict.makespan = makespan;
        verdict.finish = std::move(finish);
        verdict.sends = sends;
        return verdict;
    };
    std::vector<std::uint32_t> order = known_sends(instance, schedule, report);
    const auto structure = SymmetricStructure::check(instance, schedule, order, report);
    if (!structure) return verdict_of(Ticks(0), {}, schedule.sends.size());

    const auto& sends = schedule.sends;
    const auto& orbit = structure->link_orbit;
    std::ranges::sort(order, {}, [&](std::uint32_t s) { return std::tuple(orbit[s], sends[s].start, s); });
    judge_links(instance, schedule, orbit, order, report);

    std::ranges::sort(order, {},
                      [&](std::uint32_t s) { return std::tuple(sends[s].chunk, sends[s].start, s); });
    Ticks makespan;
    std::unordered_map<ChunkId, Ticks> last;  // arrival, by sent chunk
    ChunkReplay replay(instance, schedule, report);
    for (std::size_t i = 0; i < order.size();) {
        std::size_t end = i;
        while (end < order.size() && sends[order[end]].chunk == sends[order[i]].chunk) ++end;
        const Ticks arrival = replay.judge(std::span(order).subspan(i, end - i));
        makespan = std::max(makespan, arrival);
        if (!structure->collectives.empty()) last[sends[order[i]].chunk] = arrival;
        i = end;
    }
    judge_unsent(instance, structure->covered, report);
    if (schedule.makespan != makespan) {
        report.add(Rule::MakespanMismatch, [&] {
            Violation v;
            v.message =
                fmt::format("the schedule states a makespan of {}, but its last arrival is at tick {}",
                            schedule.makespan.count(), makespan.count());
            v.tick = makespan;
            return v;
        });
    }
    std::vector<Ticks> finish(instance.collectives().size());
    if (finish.size() == 1) finish.front() = makespan;
    for (const auto& [chunk, collective] : structure->collectives)
        finish[collective.index()] = std::max(finish[collective.index()], last.at(chunk));
    return verdict_of(makespan, std::move(finish), schedule.sends.size() * structure->group);
}

}  // namespace tutti::verify

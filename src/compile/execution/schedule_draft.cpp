// What ranks do for the transfers of a schedule.
//
// Every connection has a line of work at its sender and one at its receiver; where most of what comes in on
// one connection goes out on another, both are one line (msccl/fusion.cpp). A rank does its work in order of
// time, so everything that a work waits for stands before it.

#include "compile/execution/schedule_draft.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tutti::compile::execution {
namespace {

/// A transfer that a rank sends or receives.
struct TimedWork {
    Ticks tick;
    bool sends = false;
    std::uint32_t turn = 0, row = 0;  ///< among those of one tick
    std::uint32_t transfer = 0;
    std::uint32_t line = 0;

    [[nodiscard]] auto order() const { return std::tuple(tick, sends, turn, row); }
};

/// The lanes of one rank: those that its thread blocks both receive and send on are one line.
struct RankLanes {
    std::vector<std::uint32_t> in{}, out{};

    /// The line of each, and how many there are.
    [[nodiscard]] std::uint32_t number(const std::vector<msccl::Lane>& lanes,
                                       std::map<std::uint32_t, std::uint32_t>& receiving,
                                       std::map<std::uint32_t, std::uint32_t>& sending) const {
        std::uint32_t lines = 0;
        for (const std::uint32_t lane : in) {
            if (lanes[lane].onward != msccl::kNone) sending[lanes[lane].onward] = lines;
            receiving[lane] = lines++;
        }
        for (const std::uint32_t lane : out) {
            if (lanes[lane].inbound == msccl::kNone) sending[lane] = lines++;
        }
        return lines;
    }
};

void add_works(const msccl::Draft& moves, const RankLanes& lanes, RankDraft& rank) {
    std::map<std::uint32_t, std::uint32_t> receiving, sending;
    rank.lines = lanes.number(moves.lanes, receiving, sending);
    std::vector<TimedWork> works;
    const auto add = [&](const auto& line_of, bool sends) {
        for (const auto& [lane, line] : line_of) {
            for (const std::uint32_t i : moves.lanes[lane].transfers) {
                const msccl::Transfer& t = moves.transfers[i];
                works.push_back({sends ? t.sent : t.received, sends, t.latest, t.row, i, line});
            }
        }
    };
    add(receiving, false);
    add(sending, true);
    std::ranges::sort(works, {}, &TimedWork::order);
    for (const TimedWork& work : works) {
        rank.works.push_back({work.sends ? Work::Kind::Send : Work::Kind::Receive, work.transfer, work.line});
    }
}

plan::Address at(plan::Buffer buffer, std::int64_t offset) {
    return {buffer, plan::id_of<plan::ChunkOffset>(offset)};
}

/// Chunks that a rank has from the start and only has to copy; in place they are where they belong.
void add_own_copies(const msccl::Draft& moves, Draft& draft) {
    if (draft.in_place) return;
    for (const msccl::OwnCopy& own : moves.copies) {
        draft.of_rank[own.rank].copies.push_back(
            {at(plan::Buffer::Input, own.input), at(plan::Buffer::Output, own.output), own.count});
    }
}

/// Results that would overwrite what other blocks still read stay in scratch until all thread blocks of the
/// rank have done the rest.
void add_last_copies(const msccl::Draft& moves, Draft& draft) {
    if (!moves.results_last) return;
    // By rank and output chunk where the rank keeps it.
    std::vector<std::map<std::int64_t, plan::Address>> results(draft.ranks());
    for (const msccl::Transfer& t : moves.transfers) {
        for (std::size_t k = 0; k < t.messages.size(); ++k) {
            const std::uint32_t chunk = moves.part.messages[t.messages[k]].chunk;
            const auto output = moves.places.output(t.to, chunk);
            if (output) results[t.to][*output] = t.target.plus(static_cast<std::int64_t>(k));
        }
    }
    for (std::uint32_t rank = 0; rank < draft.ranks(); ++rank) {
        auto& copies = draft.of_rank[rank].last_copies;
        for (const auto& [output, place] : results[rank]) {
            const plan::Address to = at(plan::Buffer::Output, output);
            LocalMove* last = copies.empty() ? nullptr : &copies.back();
            if (last != nullptr && last->src.plus(last->count) == place &&
                last->dst.plus(last->count) == to) {
                ++last->count;
            } else {
                copies.push_back({place, to, 1});
            }
        }
    }
}

}  // namespace

Draft draft_of(msccl::Draft& moves, bool in_place, plan::ChannelType channel) {
    Draft draft{.in_place = in_place, .channel = channel};
    const std::vector<plan::Address> landings = landings_of(moves, in_place);
    for (std::size_t i = 0; i < landings.size(); ++i) {
        const msccl::Transfer& t = moves.transfers[i];
        draft.moves.push_back(
            {t.from, t.to, t.source, landings[i], t.operand, t.target, t.count(), t.reduces});
    }
    std::vector<RankLanes> lanes(moves.part.ranks);
    for (std::uint32_t i = 0; i < moves.lanes.size(); ++i) {
        lanes[moves.lanes[i].to].in.push_back(i);
        lanes[moves.lanes[i].from].out.push_back(i);
    }
    for (std::uint32_t rank = 0; rank < moves.part.ranks; ++rank) {
        // The executor finds the size of a chunk by dividing a rank's buffers, so relays have them too.
        const std::uint32_t sized = rank < moves.places.members() ? rank : 0;
        draft.of_rank.push_back({.inputs = moves.places.input_chunks(sized),
                                 .outputs = moves.places.output_chunks(sized),
                                 .scratch = moves.scratch[rank],
                                 .places = msccl::Locations(moves, rank)});
        add_works(moves, lanes[rank], draft.of_rank.back());
    }
    add_own_copies(moves, draft);
    add_last_copies(moves, draft);
    return draft;
}

}  // namespace tutti::compile::execution

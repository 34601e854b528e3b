#include "verify/plan/raw_packets.hpp"

#include "core/expects.hpp"
#include "verify/plan/reachability.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tutti::verify {
namespace {

/// A place of packets that an op copies, and the ops that write it.
struct Copied {
    std::uint32_t place = 0;
    plan::OpId copier = plan::kNoOp;
};

std::vector<Copied> copied_places(const plan::Program& program, const PlaceIndex& places) {
    std::vector<Copied> copied;
    for (plan::OpId id = 0; id < program.ops.size(); ++id) {
        for (const plan::Move& move : program.moves_of(program.ops[id])) {
            if (!move.raw_packets) continue;
            for (std::uint32_t r = 0; r < move.reads; ++r) {
                const std::uint32_t first = places.first(move.first_read + r);
                for (std::uint32_t e = 0; e < move.count; ++e) copied.push_back({first + e, id});
            }
        }
    }
    return copied;
}

using Writers = std::unordered_map<std::uint32_t, std::vector<plan::OpId>>;

/// The writers of the copied places.
Writers writers_of(const plan::Program& program, const PlaceIndex& places,
                   const std::vector<Copied>& copied) {
    Writers writers;
    for (const Copied& each : copied) writers[each.place];
    for (plan::OpId id = 0; id < program.ops.size(); ++id) {
        for (const plan::Move& move : program.moves_of(program.ops[id])) {
            for (std::uint32_t w = 0; w < move.writes; ++w) {
                if (!program.memories[program.ranges[move.first_write() + w].memory].packets) continue;
                const std::uint32_t first = places.first(move.first_write() + w);
                for (std::uint32_t e = 0; e < move.count; ++e) {
                    if (const auto found = writers.find(first + e); found != writers.end())
                        found->second.push_back(id);
                }
            }
        }
    }
    return writers;
}

}  // namespace

std::vector<Race> find_raw_packet_races(const plan::Program& program, const ProgramGraph& graph,
                                        const PlaceIndex& places) {
    expects(!graph.has_cycle());
    const std::vector<Copied> copied = copied_places(program, places);
    if (copied.empty()) return {};
    const Writers writers = writers_of(program, places, copied);
    std::vector<OrderQuestion> questions;
    for (const Copied& each : copied) {
        for (const plan::OpId writer : writers.at(each.place)) questions.push_back({writer, each.copier});
    }
    const std::vector<bool> answers = Reachability(program, graph).answers(questions);
    std::map<plan::OpId, Race> races;  // by copier
    std::size_t next = 0;
    for (const Copied& each : copied) {
        const auto& by = writers.at(each.place);
        const auto first = answers.begin() + static_cast<std::ptrdiff_t>(next);
        next += by.size();
        if (by.empty() || std::find(first, first + std::ssize(by), true) != first + std::ssize(by)) continue;
        races.try_emplace(each.copier, Race{by.front(), each.copier, each.place, true, false, true});
    }
    std::vector<Race> found;
    for (const auto& [copier, race] : races) found.push_back(race);
    return found;
}

}  // namespace tutti::verify

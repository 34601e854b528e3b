#include "verify/plan/unfinished.hpp"

#include "core/expects.hpp"

#include <set>
#include <utility>

// Backwards over the program's order, every op collects the GPUs that execute something after it: one bit
// each.

namespace tutti::verify {
namespace {

constexpr std::uint64_t kMostBits = std::uint64_t{1} << 33U;

}  // namespace

std::vector<plan::OpId> unfinished_writes(const plan::Program& program, const ProgramGraph& graph) {
    expects(!graph.has_cycle());
    const std::size_t gpus = program.outputs.size(), words = (gpus + 63) / 64;
    std::vector<plan::OpId> found;
    if (static_cast<std::uint64_t>(program.ops.size()) * words * 64 > kMostBits) return found;
    std::vector<std::uint64_t> after(program.ops.size() * words, 0);
    const auto knows = [&](plan::OpId op, std::size_t gpu) {
        return (after[op * words + gpu / 64] >> (gpu % 64) & 1U) != 0;
    };
    for (std::size_t i = graph.order().size(); i-- > 0;) {
        const plan::OpId op = graph.order()[i];
        const auto own = (*program.op_places[op].gpu).index();
        after[op * words + own / 64] |= std::uint64_t{1} << (own % 64);
        for (const plan::OpId source : graph.before(op)) {
            for (std::size_t word = 0; word < words; ++word) {
                after[source * words + word] |= after[op * words + word];
            }
        }
    }
    std::set<std::pair<Rank, Rank>> told;
    for (plan::OpId op = 0; op < program.ops.size(); ++op) {
        for (const plan::Move& move : program.moves_of(program.ops[op])) {
            for (const plan::Range range : program.writes_of(move)) {
                const Rank gpu = program.memories[range.memory].gpu;
                const std::size_t rank = gpu.index();
                const plan::Range& output = program.outputs[rank];
                const bool in_output = range.memory == output.memory &&
                                       range.first < output.first + program.output_places[rank] &&
                                       range.first + move.count > output.first;
                if (!in_output || knows(op, rank)) continue;
                if (told.insert({*program.op_places[op].gpu, gpu}).second) found.push_back(op);
            }
        }
    }
    return found;
}

}  // namespace tutti::verify

// A chunk program in rounds.
//
// The instructions of the program's graph, chunk by chunk, are told to Rounds in their order. A program names
// places, and in place an output is called by the name of an input; the rounds keep values:
// - A place that was not written holds a chunk of the input, which is read there and never written.
// - What is written to a place where a result belongs goes to the output, everything else to scratch.
// So a program that works in place becomes one that also serves calls out of place, without a copy before
// or after it; a rank's own chunk that nobody touches is copied to its output, and in place that is no work.
//
// A chunk of a buffer of n chunks is not as long as every other one where n does not divide the call's count.
// A value that a program puts aside in a place of another length is in scratch, too.

#include "compile/graph.hpp"
#include "compile/round_lowering.hpp"
#include "compile/rounds.hpp"
#include "compile/trace_graph.hpp"

#include "core/error.hpp"
#include "lang/contributions.hpp"

#include <unordered_map>

namespace tutti::compile {
namespace {

using plan::Buffer;

plan::RoundPlan trace_heading(const lang::Trace& trace, bool in_place) {
    using enum CollectiveKind;
    const lang::Shape& shape = trace.shape;
    plan::RoundPlan plan;
    plan.name = trace.name;
    plan.in_place = in_place;
    plan.kind = plan.goal = shape.kind;
    if (plan.goal == Custom) plan.condition = lang::condition_of(trace);
    plan.root = shape.root;
    plan.ranks = plan.members = shape.ranks;
    plan.share = plan.block_chunks = shape.kind == Custom ? 1 : shape.chunks;
    for (std::uint32_t r = 0; r < shape.ranks; ++r) {
        const bool is_root = shape.root == Rank(r);
        const bool has_input = is_root || (shape.kind != Broadcast && shape.kind != Scatter);
        const bool has_output = is_root || (shape.kind != Reduce && shape.kind != Gather);
        plan.inputs.push_back(has_input ? input_chunks(shape) : 0);
        plan.outputs.push_back(has_output ? output_chunks(shape) : 0);
    }
    return plan;
}

class TraceTeller {
  public:
    TraceTeller(const lang::Trace& trace, bool in_place)
        : trace_(trace), rounds_(trace_heading(trace, in_place)) {
        find_values();
        find_results();
        const Graph graph = graph_of(trace, 1);
        for (const Instruction& i : graph.instructions) tell(i);
        for (const auto& [at, output] : result_) {
            const Location home = rounds_.output(at.rank, output);
            const Location now = current_.at(at);
            if (now != home) rounds_.copy(now, home);
        }
    }
    [[nodiscard]] plan::RoundPlan take() { return rounds_.take(); }

  private:
    /// A place by its program's name.
    struct Named {
        std::uint32_t rank = 0;
        plan::RoundPlace place{};
        friend auto operator<=>(const Named&, const Named&) = default;
    };
    struct Hash {
        std::size_t operator()(const Named& at) const {
            const std::uint64_t place =
                std::uint64_t{at.place.chunk} * plan::kBuffers + static_cast<std::uint64_t>(at.place.buffer);
            return std::hash<std::uint64_t>()((place * 0x9E3779B97F4A7C15U) ^ at.rank);
        }
    };
    static Named named(const lang::Slot& slot) {
        return {slot.rank, {slot.buffer == lang::kInput ? Buffer::Input : Buffer::Output, slot.index}};
    }

    void find_values() {
        if (trace_.shape.kind == CollectiveKind::Custom) {
            for (const lang::Initial& initial : trace_.shape.initial) {
                if (initial.slot.buffer != lang::kInput)
                    throw InputError("it begins with chunks outside of the input");
                if (initial.value != plan::Contribution{Rank(initial.slot.rank), initial.slot.index})
                    throw InputError("it begins with chunks that have the names of other ones");
                const lang::Slot slot = resolved(trace_.shape, initial.slot);
                current_[named(slot)] = rounds_.input(initial.slot.rank, initial.slot.index);
            }
            return;
        }
        for (const lang::Initial& initial : initial_values(trace_.shape)) {
            const auto chunk = static_cast<std::uint32_t>(initial.value.chunk);
            current_[named(initial.slot)] = rounds_.input(initial.slot.rank, chunk);
        }
    }

    void find_results() {
        const lang::Shape& shape = trace_.shape;
        const auto add = [&](std::uint32_t rank, std::uint32_t output) {
            const Named at = named(resolved(shape, {rank, lang::kOutput, output}));
            result_.emplace_back(at, output);
            result_of_[at] = output;
        };
        if (shape.kind == CollectiveKind::Custom) {
            for (const auto& [rank, chunks] : lang::condition_of(trace_).outputs) {
                for (const auto& [chunk, sum] : chunks) add(rank.value(), static_cast<std::uint32_t>(chunk));
            }
            return;
        }
        for (std::uint32_t r = 0; r < shape.ranks; ++r) {
            const bool is_root = shape.root == Rank(r);
            const bool has_output =
                is_root || (shape.kind != CollectiveKind::Reduce && shape.kind != CollectiveKind::Gather);
            if (!has_output || (shape.kind == CollectiveKind::AllToNext && r == 0)) continue;
            for (std::uint32_t i = 0; i < output_chunks(shape); ++i) add(r, i);
        }
    }

    /// Where a value goes that is written to the place.
    [[nodiscard]] Location home(const Named& at, Location value) {
        const auto result = result_of_.find(at);
        if (result != result_of_.end() && rounds_.fits(value, result->second))
            return rounds_.output(at.rank, result->second);
        return kNowhere;
    }

    void tell(const Instruction& i) {
        if (i.kind == Instruction::Kind::Send) {
            from_ = current_.at({i.rank, {i.source_buffer, i.source}});
            message_ = rounds_.begin(from_, i.peer);
            return;
        }
        const Named at{i.rank, {i.target_buffer, i.target}};
        if (i.kind == Instruction::Kind::Local) from_ = current_.at({i.rank, {i.source_buffer, i.source}});
        Location to = home(at, from_);
        Location& now = current_.try_emplace(at, kNowhere).first->second;
        const bool is_message = i.kind == Instruction::Kind::Receive;
        if (i.reduces) {
            if (is_message) {
                now = rounds_.add(message_, now, to);
            } else {
                if (to == kNowhere) to = rounds_.is_scratch(now) ? now : rounds_.scratch(i.rank);
                rounds_.add_local(from_, now, to);
                now = to;
            }
            return;
        }
        if (to == kNowhere) to = rounds_.scratch(i.rank);
        if (is_message) {
            rounds_.store(message_, to);
        } else {
            rounds_.copy(from_, to);
        }
        now = to;
    }

    const lang::Trace& trace_;
    Rounds rounds_;
    std::unordered_map<Named, Location, Hash> current_;
    std::vector<std::pair<Named, std::uint32_t>> result_;  ///< places of results and their outputs
    std::unordered_map<Named, std::uint32_t, Hash> result_of_;
    Location from_ = kNowhere;  ///< of the message on its way, or the local step
    std::uint32_t message_ = 0;
};

}  // namespace

plan::RoundPlan lower_to_rounds(const lang::Trace& trace, bool in_place) {
    return TraceTeller(trace, in_place).take();
}

}  // namespace tutti::compile

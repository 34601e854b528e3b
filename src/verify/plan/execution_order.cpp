#include "verify/plan/execution_order.hpp"

#include "core/expects.hpp"
#include "verify/plan/packet_order.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

// Happens-before of an execution plan, section 3 of docs/mscclpp-json.md.
//
// Threads. A data operation is divided among the threads of its block, and only `nop`, `barrier` and
// `rppkt` on a port channel synchronise these; so between two of these *fences* the data operations of a
// block are not ordered, neither with each other nor with its signals and waits. Signals, waits, semaphores,
// flushes and the operations of a port's proxy are ordered among themselves: they and the fences are the
// block's *chain*.
//
// Place by place. Two data operations with exactly the same range between the same fences are ordered,
// because the same thread accesses the same bytes. But they are ordered place by place, not as a whole: copy
// i[0..2) to s[0..2), then s[0..2) to s[4..6), then s[4..6) to i[1..3) without fences may overwrite i[1]
// before another thread has read it. The same holds for packets: reading one proves that *this* place was
// written, not that the writer has finished the rest. Such operations become one op per place (a *piece*),
// with an edge from piece k to piece k; any path over such edges stays at the same place within the
// operation, so the order it implies is real. All other operations stay whole.
//
// Counters. Channels and semaphores are counters. Where one block raises a counter and one block lowers it,
// the k-th lower comes after the (k - initial)-th raise. In general let Y raise it n(Y) times in total, and
// let a lower be the j-th of its own block. Before the i-th raise of Y, the counter was raised at most to
// initial + i - 1 + (the raises of all others), and the lower needs j. So the lower comes after the i-th
// raise of Y exactly if  initial + i - 1 + sum of n(others) < j;  raises that follow the lower in its own
// block do not count. This holds in every interleaving, whichever lower took which raise. It is one pass and
// ignores other orders between the blocks (which could exclude more raises). So it may miss an existing order
// and report a false race, but never the reverse. Relaxed signals and waits order nothing.
//
// Chains. The decision procedure is fast for ops on chains, so a data op is put on the chain if there is no
// signal or wait between the same two fences; of several such ops only one, as they are not ordered.

namespace tutti::verify {
namespace {

using plan::EdgeKind;
using plan::kNoOp;
using plan::OpId;

using RangeKey = std::tuple<std::uint32_t, std::int64_t, std::int64_t>;  // memory, first, count

/// Which moves must become one op per place: those that touch packets, and those that share a range with
/// another one between the same fences.
std::vector<bool> moves_by_place(const ExecutionSteps& steps) {
    const plan::Program& program = steps.program;
    std::vector<bool> by_place(program.moves.size(), false);
    std::map<RangeKey, std::uint32_t> first_user;
    for (std::uint32_t block = 0; block < steps.blocks(); ++block) {
        first_user.clear();
        for (std::uint32_t at = steps.block_begin[block]; at < steps.block_begin[block + 1]; ++at) {
            const ExecutionStep& step = steps.steps[at];
            if (step.fence()) first_user.clear();
            if (!step.by_threads()) continue;
            for (std::uint32_t m = step.first_move; m < step.first_move + step.moves; ++m) {
                const plan::Move& move = program.moves[m];
                const auto note = [&](const plan::Range& range) {
                    if (program.memories[range.memory].packets) {
                        by_place[m] = true;
                        return;
                    }
                    const RangeKey key{range.memory, range.first, move.count};
                    const std::uint32_t user = first_user.try_emplace(key, m).first->second;
                    if (user != m) by_place[m] = by_place[user] = true;
                };
                for (const plan::Range range : program.reads_of(move)) note(range);
                for (const plan::Range range : program.writes_of(move)) note(range);
            }
        }
    }
    return by_place;
}

class Ordering {
  public:
    Ordering(const ExecutionSteps& steps, const PlaceIndex& places, const ExecutionProgress& progress)
        : steps_(steps),
          places_(places),
          progress_(progress),
          by_place_(moves_by_place(steps)),
          joint_(steps.meetings.size(), kNoOp),
          op_of_(steps.steps.size(), kNoOp),
          packets_(steps) {}

    OrderedExecution run() {
        plan::Program& program = result_.program;
        program.memories = steps_.program.memories;
        program.places_per_chunk = steps_.program.places_per_chunk;
        program.outputs = steps_.program.outputs;
        program.output_places = steps_.program.output_places;
        program.chains = steps_.blocks();
        for (std::uint32_t block = 0; block < steps_.blocks(); ++block) add_block(block);
        order_counters();
        packets_.order(result_, progress_);
        return std::move(result_);
    }

  private:
    void edge(OpId from, OpId to, EdgeKind kind) { result_.program.edges.push_back({from, to, kind}); }

    OpId add_op(std::uint32_t step, std::uint32_t chain) {
        plan::Op op;
        op.chain = chain;
        op.first_move = static_cast<std::uint32_t>(result_.program.moves.size());
        result_.program.ops.push_back(op);
        result_.program.op_places.push_back(plan::op_place(steps_.steps[step].place));
        result_.step_of.push_back(step);
        return static_cast<OpId>(result_.program.ops.size() - 1);
    }

    OpId add_chained(std::uint32_t step) {
        const OpId op = add_op(step, steps_.steps[step].block);
        if (last_chained_ != kNoOp) edge(last_chained_, op, EdgeKind::Order);
        return last_chained_ = op;
    }

    /// Places first … first + count of a move, as part of the op that was added last.
    void add_move(std::uint32_t move, std::int64_t first, std::int64_t count) {
        plan::Program& program = result_.program;
        const plan::Move& whole = steps_.program.moves[move];
        plan::Move part = whole;
        part.count = static_cast<std::uint32_t>(count);
        const auto copy = [&](std::uint32_t from, std::uint32_t number) {
            const auto at = static_cast<std::uint32_t>(program.ranges.size());
            for (std::uint32_t i = 0; i < number; ++i) {
                plan::PackedRange range = steps_.program.ranges[from + i];
                range.first += static_cast<std::uint32_t>(first);
                program.ranges.push_back(range);
            }
            return at;
        };
        part.first_read = copy(whole.first_read, whole.operands());
        program.moves.push_back(part);
        ++program.ops.back().moves;
    }

    /// A chained op with all moves of the step.
    OpId add_whole(std::uint32_t at) {
        const ExecutionStep& step = steps_.steps[at];
        const OpId op = add_chained(at);
        for (std::uint32_t m = step.first_move; m < step.first_move + step.moves; ++m) {
            const std::int64_t count = steps_.program.moves[m].count;
            add_move(m, 0, count);
            packets_.note(op, places_, m, 0, count);
        }
        return op;
    }

    void add_block(std::uint32_t block) {
        last_chained_ = last_fence_ = kNoOp;
        std::uint32_t at = steps_.block_begin[block];
        const std::uint32_t end = steps_.block_begin[block + 1];
        while (at < end) {
            std::uint32_t stop = at;
            while (stop < end && !steps_.steps[stop].fence()) ++stop;
            add_stretch(at, stop);
            if (stop < end) add_fence(stop);
            at = stop + 1;
        }
    }

    /// The steps between two fences.
    void add_stretch(std::uint32_t begin, std::uint32_t end) {
        bool chain_free = true;  // for one data op
        for (std::uint32_t at = begin; at < end; ++at)
            chain_free = chain_free && steps_.steps[at].by_threads();
        since_fence_.clear();
        last_user_.clear();
        for (std::uint32_t at = begin; at < end; ++at) {
            const ExecutionStep& step = steps_.steps[at];
            if (!step.by_threads()) {
                op_of_[at] = add_whole(at);
                continue;
            }
            for (std::uint32_t m = step.first_move; m < step.first_move + step.moves; ++m) {
                const plan::Move& move = steps_.program.moves[m];
                const std::int64_t pieces = by_place_[m] ? move.count : 1;
                const bool chained = chain_free && pieces == 1;
                if (chained) chain_free = false;
                add_pieces(at, m, pieces, chained);
            }
        }
    }

    void add_pieces(std::uint32_t step, std::uint32_t move, std::int64_t pieces, bool chained) {
        const plan::Move& whole = steps_.program.moves[move];
        const auto first = static_cast<OpId>(result_.program.ops.size());
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            const OpId op = chained ? add_chained(step) : add_op(step, plan::Op::kNoChain);
            add_move(move, piece, whole.count / pieces);
            if (by_place_[move]) packets_.note(op, places_, move, piece, whole.count / pieces);
            if (chained) continue;
            if (last_fence_ != kNoOp) edge(last_fence_, op, EdgeKind::Order);
            since_fence_.push_back(op);
        }
        if (by_place_[move]) order_same_ranges(whole, first);
    }

    /// Edges from the moves between the same fences that last used exactly one of this move's ranges.
    void order_same_ranges(const plan::Move& move, OpId first) {
        const auto note = [&](const plan::Range& range) {
            if (steps_.program.memories[range.memory].packets) return;
            OpId& user = last_user_.try_emplace({range.memory, range.first, move.count}, first).first->second;
            for (OpId i = 0; user != first && i < static_cast<OpId>(move.count); ++i) {
                edge(user + i, first + i, EdgeKind::Order);
            }
            user = first;
        };
        for (const plan::Range range : steps_.program.reads_of(move)) note(range);
        for (const plan::Range range : steps_.program.writes_of(move)) note(range);
    }

    void add_fence(std::uint32_t at) {
        const ExecutionStep& step = steps_.steps[at];
        const OpId op = add_whole(at);
        for (const OpId before : since_fence_) edge(before, op, EdgeKind::Order);
        since_fence_.clear();
        last_fence_ = op;
        if (step.barrier == ExecutionStep::kNone || steps_.meetings[step.barrier].size() < 2) return;
        // Entering and leaving are two ops; between them a third joins all blocks.
        OpId& joint = joint_[step.barrier];
        if (joint == kNoOp) joint = add_op(at, plan::Op::kNoChain);
        edge(op, joint, EdgeKind::Barrier);
        last_fence_ = add_chained(at);
        edge(joint, last_fence_, EdgeKind::Barrier);
    }

    struct Use {
        std::uint32_t step;
        bool relaxed;
    };
    /// Raises or lowers of one counter by one block, in order.
    struct Uses {
        std::uint32_t block;
        std::vector<Use> uses;
    };

    void order_counters() {
        std::vector<std::vector<Uses>> raises(steps_.counters.size()), lowers(steps_.counters.size());
        for (std::uint32_t at = 0; at < steps_.steps.size(); ++at) {
            const ExecutionStep& step = steps_.steps[at];
            for (const CounterUse& use : steps_.uses_of(step)) {
                auto& by_block = (use.raises ? raises : lowers)[use.counter];
                if (by_block.empty() || by_block.back().block != step.block)
                    by_block.push_back({step.block, {}});
                by_block.back().uses.push_back({at, use.relaxed});
            }
        }
        for (std::size_t counter = 0; counter < steps_.counters.size(); ++counter) {
            std::int64_t total = steps_.counters[counter].initial;
            for (const Uses& of : raises[counter]) total += static_cast<std::int64_t>(of.uses.size());
            for (const Uses& of : lowers[counter]) order_lowers(of, raises[counter], total);
        }
    }

    /// `total`: initial value and all raises.
    void order_lowers(const Uses& lowers, const std::vector<Uses>& raises, std::int64_t total) {
        const auto own = std::ranges::find(raises, lowers.block, &Uses::block);
        std::int64_t largest = 0;
        for (const Uses& of : raises) largest = std::max(largest, static_cast<std::int64_t>(of.uses.size()));
        std::vector<std::int64_t> known(raises.size(), 0);
        for (std::size_t j = 0; j < lowers.uses.size(); ++j) {
            const Use& lower = lowers.uses[j];
            if (lower.relaxed) continue;
            std::int64_t possible = total;
            if (own != raises.end()) {
                possible -= own->uses.end() - std::ranges::lower_bound(own->uses, lower.step, {}, &Use::step);
            }
            const std::int64_t needed = static_cast<std::int64_t>(j) + 1;
            if (needed <= possible - largest) continue;
            for (std::size_t i = 0; i < raises.size(); ++i) {
                if (raises[i].block == lowers.block) continue;
                const auto count = static_cast<std::int64_t>(raises[i].uses.size());
                const std::int64_t must = std::min(count, needed - (possible - count));
                if (must <= known[i]) continue;
                const Use& raise = raises[i].uses[static_cast<std::size_t>(must - 1)];
                if (raise.relaxed) continue;
                edge(op_of_[raise.step], op_of_[lower.step], EdgeKind::Signal);
                known[i] = must;
            }
        }
    }

    const ExecutionSteps& steps_;
    const PlaceIndex& places_;
    const ExecutionProgress& progress_;
    std::vector<bool> by_place_;
    std::vector<OpId> joint_;  ///< of each meeting
    std::vector<OpId> op_of_;  ///< of each chained step
    PacketOrder packets_;
    OrderedExecution result_;
    // The current block:
    OpId last_chained_ = kNoOp, last_fence_ = kNoOp;
    std::vector<OpId> since_fence_;       ///< data ops that are not on the chain
    std::map<RangeKey, OpId> last_user_;  ///< its first piece
};

}  // namespace

std::uint64_t pieces_of(const ExecutionSteps& steps) {
    const std::vector<bool> by_place = moves_by_place(steps);
    std::uint64_t pieces = 2 * steps.steps.size();
    for (std::size_t move = 0; move < by_place.size(); ++move) {
        if (by_place[move]) pieces += static_cast<std::uint64_t>(steps.program.moves[move].count);
    }
    return pieces;
}

OrderedExecution order(const ExecutionSteps& steps, const PlaceIndex& places,
                       const ExecutionProgress& progress) {
    expects(!progress.hang);
    return Ordering(steps, places, progress).run();
}

}  // namespace tutti::verify

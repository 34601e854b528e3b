// Small algorithms of every collective. Only ops are chosen here; blocks, channels and dependencies are
// lowered()'s.

#include "tests/support/chunk_programs.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::test {
namespace {

using plan::Buffer;

class Author {
  public:
    explicit Author(Rng& rng) : rng_(rng) {}

    ChunkProgram write() {
        constexpr CollectiveKind kGoals[]{
            CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
            CollectiveKind::AllToAll,  CollectiveKind::Broadcast, CollectiveKind::Reduce,
            CollectiveKind::Gather,    CollectiveKind::Scatter,   CollectiveKind::AllReduce};
        program_.goal = kGoals[rng_.below(std::size(kGoals))];
        program_.ranks = rng_.below(3) == 0 ? 3 : 2;
        program_.in_place = rng_.below(2) == 0;
        program_.out_of_place = !program_.in_place;
        program_.root = any(program_.ranks);
        per_ = rng_.below(3) == 0 ? 2 : 1;
        sizes();
        switch (program_.goal) {
            case CollectiveKind::AllReduce:
                all_reduce();
                break;
            case CollectiveKind::AllGather:
                all_gather();
                break;
            case CollectiveKind::ReduceScatter:
                reduce_scatter();
                break;
            case CollectiveKind::AllToAll:
                all_to_all();
                break;
            case CollectiveKind::Broadcast:
                broadcast();
                break;
            case CollectiveKind::Reduce:
                reduce();
                break;
            case CollectiveKind::Gather:
                gather();
                break;
            default:
                scatter();
                break;
        }
        if (rng_.below(4) == 0) add_detour();
        if (rng_.below(6) == 0) add_dead_copy();
        return program_;
    }

  private:
    std::int32_t any(std::int32_t limit) {
        return static_cast<std::int32_t>(rng_.below(static_cast<std::uint64_t>(limit)));
    }

    void sizes() {
        const std::int32_t ranks = program_.ranks;
        const bool divided = program_.goal == CollectiveKind::AllGather ||
                             program_.goal == CollectiveKind::ReduceScatter ||
                             program_.goal == CollectiveKind::AllToAll;
        program_.chunks = divided ? per_ * ranks : per_;
        program_.input = program_.output = program_.chunks;
        if (program_.goal == CollectiveKind::AllGather) program_.input = per_;
        if (program_.goal == CollectiveKind::ReduceScatter) program_.output = per_;
        if (program_.goal == CollectiveKind::Gather) program_.output = program_.chunks * ranks;
        if (program_.goal == CollectiveKind::Scatter) program_.input = program_.chunks * ranks;
    }

    /// The same memory by either name, where the call is in place and both names exist everywhere.
    Spot named(std::int32_t gpu, Buffer buffer, std::int32_t offset) {
        const bool same =
            program_.goal == CollectiveKind::AllReduce || program_.goal == CollectiveKind::Broadcast ||
            program_.goal == CollectiveKind::Reduce || program_.goal == CollectiveKind::AllToAll;
        if (program_.in_place && same && rng_.below(3) == 0) {
            buffer = buffer == Buffer::Input ? Buffer::Output : Buffer::Input;
        }
        return {gpu, buffer, offset};
    }
    Spot in(std::int32_t gpu, std::int32_t offset) { return named(gpu, Buffer::Input, offset); }
    Spot out(std::int32_t gpu, std::int32_t offset) { return named(gpu, Buffer::Output, offset); }
    Spot fresh_scratch(std::int32_t gpu, std::int32_t count) {
        const Spot spot{gpu, Buffer::Scratch, program_.scratch};
        program_.scratch += count;
        return spot;
    }

    void copy(Spot from, Spot to, std::int32_t count) { program_.ops.push_back({from, to, count, {}}); }
    void reduce_into(Spot from, Spot to, std::int32_t count, std::optional<Spot> operand = {}) {
        program_.ops.push_back({from, to, count, operand ? operand : std::optional(to)});
    }
    void own_copy(Spot from, Spot to, std::int32_t count) {
        if (program_.out_of_place || rng_.below(3) == 0) copy(from, to, count);
    }

    std::vector<std::int32_t> some_order() {
        std::vector<std::int32_t> order(static_cast<std::size_t>(program_.ranks));
        std::iota(order.begin(), order.end(), 0);
        rng_.shuffle(order);
        return order;
    }

    void all_reduce() {
        const bool exchange = program_.ranks == 2 && rng_.below(2) == 0;
        if (exchange && program_.out_of_place) {
            for (std::int32_t g = 0; g < 2; ++g) reduce_into(in(1 - g, 0), out(g, 0), per_, in(g, 0));
        } else if (exchange) {
            Spot arrived[]{fresh_scratch(0, per_), fresh_scratch(1, per_)};
            for (std::int32_t g = 0; g < 2; ++g) copy(in(1 - g, 0), arrived[g], per_);
            for (std::int32_t g = 0; g < 2; ++g) reduce_into(arrived[g], out(g, 0), per_);
        } else if (rng_.below(2) == 0) {
            chain_there_and_back();
        } else {
            ring_all_reduce();
        }
    }

    void chain_there_and_back() {
        const std::vector<std::int32_t> order = some_order();
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            const Spot from = i == 0 ? in(order[i], 0) : out(order[i], 0);
            reduce_into(from, out(order[i + 1], 0), per_, in(order[i + 1], 0));
        }
        for (std::size_t i = order.size(); i-- > 1;) copy(out(order[i], 0), out(order[i - 1], 0), per_);
    }

    /// Chunk c starts at rank c + 1, so N = P.
    void ring_all_reduce() {
        const std::int32_t ranks = program_.ranks;
        program_.chunks = program_.input = program_.output = ranks;
        if (program_.out_of_place) {
            for (std::int32_t g = 0; g < ranks; ++g) copy(in(g, 0), out(g, 0), ranks);
        }
        const auto hop = [&](std::int32_t step, bool adds) {
            for (std::int32_t c = 0; c < ranks; ++c) {
                const std::int32_t from = (c + 1 + step) % ranks, to = (from + 1) % ranks;
                if (adds) reduce_into(out(from, c), out(to, c), 1);
                if (!adds) copy(out(from, c), out(to, c), 1);
            }
        };
        for (std::int32_t step = 0; step + 1 < ranks; ++step) hop(step, true);
        for (std::int32_t step = ranks - 1; step + 1 < 2 * ranks - 1; ++step) hop(step, false);
    }

    void all_gather() {
        const std::int32_t ranks = program_.ranks;
        for (std::int32_t g = 0; g < ranks; ++g) own_copy(in(g, 0), out(g, g * per_), per_);
        const bool ring = rng_.below(2) == 0;
        for (std::int32_t step = 0; step + 1 < ranks; ++step) {
            for (std::int32_t r = 0; r < ranks; ++r) {
                const std::int32_t from = (r + step) % ranks, to = (r + step + 1) % ranks;
                // A rank's own block is in its output too, by the copy above or by aliasing.
                const Spot own = rng_.below(2) == 0 ? in(r, 0) : out(r, r * per_);
                copy(ring && step > 0 ? out(from, r * per_) : own, out(to, r * per_), per_);
            }
        }
    }

    void reduce_scatter() {
        const std::int32_t ranks = program_.ranks;
        for (std::int32_t g = 0; g < ranks; ++g) {
            bool is_first = true;
            for (std::int32_t k = 1; k < ranks; ++k) {
                const std::int32_t from = (g + k) % ranks;
                if (rng_.below(3) == 0) {
                    const Spot arrived = fresh_scratch(g, per_);
                    copy(in(from, g * per_), arrived, per_);
                    if (is_first) own_copy(in(g, g * per_), out(g, 0), per_);
                    reduce_into(arrived, out(g, 0), per_);
                } else {
                    reduce_into(in(from, g * per_), out(g, 0), per_, is_first ? in(g, g * per_) : out(g, 0));
                }
                is_first = false;
            }
        }
    }

    void all_to_all() {
        const std::int32_t ranks = program_.ranks;
        std::vector<std::pair<Spot, Spot>> landed;
        for (std::int32_t from = 0; from < ranks; ++from) {
            for (std::int32_t to = 0; to < ranks; ++to) {
                const Spot source = in(from, to * per_), target = out(to, from * per_);
                if (from == to) {
                    own_copy(source, target, per_);
                } else if (program_.in_place || rng_.below(4) == 0) {
                    const Spot arrived = fresh_scratch(to, per_);
                    copy(source, arrived, per_);
                    landed.emplace_back(arrived, target);
                } else {
                    copy(source, target, per_);
                }
            }
        }
        for (const auto& [arrived, target] : landed) copy(arrived, target, per_);
    }

    void broadcast() {
        const std::int32_t root = program_.root;
        own_copy(in(root, 0), out(root, 0), per_);
        std::int32_t last = root;
        for (const std::int32_t g : some_order()) {
            if (g == root) continue;
            const bool chain = last != root && rng_.below(2) == 0;
            copy(chain ? out(last, 0) : in(root, 0), out(g, 0), per_);
            last = g;
        }
    }

    void reduce() {
        const std::int32_t root = program_.root;
        bool is_first = true;
        for (const std::int32_t g : some_order()) {
            if (g == root) continue;
            if (rng_.below(2) == 0) {
                const Spot arrived = fresh_scratch(root, per_);
                copy(in(g, 0), arrived, per_);
                if (is_first) own_copy(in(root, 0), out(root, 0), per_);
                reduce_into(arrived, out(root, 0), per_);
            } else {
                reduce_into(in(g, 0), out(root, 0), per_, is_first ? in(root, 0) : out(root, 0));
            }
            is_first = false;
        }
    }

    void gather() {
        const std::int32_t root = program_.root;
        for (const std::int32_t g : some_order()) {
            if (g == root) own_copy(in(g, 0), out(root, g * per_), per_);
            if (g != root) copy(in(g, 0), out(root, g * per_), per_);
        }
    }

    void scatter() {
        const std::int32_t root = program_.root;
        for (const std::int32_t g : some_order()) {
            if (g == root) own_copy(in(root, g * per_), out(root, 0), per_);
            if (g != root) copy(in(root, g * per_), out(g, 0), per_);
        }
    }

    /// One copy goes through scratch, of either side.
    void add_detour() {
        const auto i = static_cast<std::ptrdiff_t>(rng_.below(program_.ops.size()));
        ChunkOp& op = program_.ops[static_cast<std::size_t>(i)];
        if (op.operand) return;
        const ChunkOp second{
            fresh_scratch(rng_.below(2) == 0 ? op.from.gpu : op.to.gpu, op.count), op.to, op.count, {}};
        op.to = second.from;
        program_.ops.insert(program_.ops.begin() + i + 1, second);
    }

    void add_dead_copy() {
        const ChunkOp op = program_.ops[rng_.below(program_.ops.size())];
        const Spot spot = fresh_scratch(any(program_.ranks), op.count);
        copy(op.from, spot, op.count);
        if (rng_.below(2) == 0) copy(op.to, spot, op.count);
    }

    Rng& rng_;
    ChunkProgram program_{};
    std::int32_t per_ = 1;
};

}  // namespace

ChunkProgram random_chunk_program(Rng& rng) {
    ChunkProgram program = Author(rng).write();
    if (program.out_of_place && rng.below(6) == 0) program.in_place = true;
    return program;
}

ChunkProgram senseless_program(Rng& rng) {
    ChunkProgram program;
    program.goal = rng.below(4) == 0 ? CollectiveKind::AllReduce : CollectiveKind::Custom;
    program.ranks = rng.below(3) == 0 ? 3 : 2;
    program.chunks = program.input = program.output = 1 + static_cast<std::int32_t>(rng.below(2));
    program.scratch = static_cast<std::int32_t>(rng.below(3));
    program.in_place = rng.below(2) == 0;
    program.out_of_place = !program.in_place;
    const auto size = [&](Buffer buffer) {
        return buffer == Buffer::Scratch ? program.scratch : program.chunks;
    };
    const auto spot = [&](std::int32_t gpu, std::int32_t count) {
        for (;;) {
            const auto buffer = static_cast<Buffer>(rng.below(3));
            if (size(buffer) < count) continue;
            const auto places = static_cast<std::uint64_t>(size(buffer) - count + 1);
            return Spot{gpu, buffer, static_cast<std::int32_t>(rng.below(places))};
        }
    };
    const auto gpu = [&] {
        return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(program.ranks)));
    };
    const std::size_t ops = 2 + rng.below(5);
    while (program.ops.size() < ops) {
        const std::int32_t count = rng.below(4) == 0 ? std::min(program.chunks, 2) : 1;
        ChunkOp op{spot(gpu(), count), {}, count, {}};
        op.to = spot(rng.below(3) == 0 ? op.from.gpu : gpu(), count);
        if (rng.below(3) == 0) op.operand = op.from.gpu == op.to.gpu ? op.to : spot(op.to.gpu, count);
        program.ops.push_back(op);
    }
    return program;
}

}  // namespace tutti::test

#include "compile/execution/draft.hpp"
#include "compile/execution_lowering.hpp"
#include "compile/waits.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

// Lines. A connection is the work of one line at either end (passes/lanes.cpp). A put
// keeps its thread block until the link has taken the data, so connections that shared a line would wait for
// each other's links. Only where a rank would need more thread blocks than can run do lines share them.
//
// A line does its work in the order of the rank: what arrives is waited for, and added or copied; what leaves
// is put and signalled. What it needs from another line of its rank, or must not overwrite before that one
// has read it, it waits for by a semaphore of the two (compile/waits). The order of the draft puts all waits
// after what they wait for, so nothing can hang.
//
// A line is one thread block, or several that follow each other by semaphores where it has more to do than a
// thread block can.
//
// Threads. A thread block's threads wait for each other only at a nop: one stands between a wait (or acquire)
// and the data operations behind it, between data operations and the signal (or release) behind them, and
// between data operations of which one uses what the other does. A sum and the put of that sum use the same
// range, which needs none; they are one operation.
//
// Packets. Their readers wait for them, so there are no signals and waits, and no nops for these. What is
// known of one packet says nothing of another, but all of them land in scratch that is written once, so
// nobody has to know more. On port channels a proxy sends packets as they are, so the sender makes them in
// scratch of its own first; the operation that hands them to the proxy (`rppkt`) waits for them, and with
// that for all threads.
//
// Reading. What the receiver reads from the sender's memory is only signalled, when it is there.

namespace tutti::compile::execution {
namespace {

using Kind = Task::Kind;
/// Waits of one line for another, by number; each becomes a semaphore when it is known between which blocks.
using Waited = std::vector<plan::SemaphoreId>;

/// The thread blocks of one line.
class Writer {
  public:
    Writer(const Draft& draft, std::uint32_t rank, std::size_t& waits)
        : draft_(draft), rank_(rank), waits_(waits) {
        open();
    }

    void write(const Work& work, const Waited& acquired, const Waited& released) {
        make_room(acquired.size(), released.size(), work.kind != Work::Kind::Local);
        block_of_.push_back({work, blocks_.size() - 1});
        add_semaphores(Kind::Acquire, acquired);
        if (!acquired.empty()) waited_ = true;
        switch (work.kind) {
            case Work::Kind::Send:
                send(work.move);
                break;
            case Work::Kind::Receive:
                receive(work.move);
                break;
            case Work::Kind::Local:
                move(draft_.locals[work.move]);
                break;
        }
        if (released.empty()) return;
        if (moved_) fence();
        add_semaphores(Kind::Release, released);
    }

    /// What became of a work: the number of its block among this line's.
    struct Done {
        Work work;
        std::size_t block;
    };
    [[nodiscard]] const std::vector<Done>& done() const { return block_of_; }
    [[nodiscard]] std::vector<Block>& blocks() { return blocks_; }

  private:
    std::vector<Task>& tasks() { return blocks_.back().tasks; }
    void fence() {
        tasks().push_back({});
        waited_ = moved_ = lent_ = false;
    }
    void data(Task task) {
        if (waited_ || moved_ || lent_) fence();
        moved_ = true;
        tasks().push_back(std::move(task));
    }
    void add_semaphores(Kind kind, const Waited& all) {
        for (std::size_t first = 0; first < all.size(); first += kMostSemaphores) {
            Task task{.kind = kind};
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
            const std::size_t count = std::min(kMostSemaphores, all.size() - first);
            task.semaphores.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
            tasks().push_back(std::move(task));
        }
    }

    void receive(std::uint32_t i) {
        const Move& m = draft_.moves[i];
        if (!draft_.packets) {
            tasks().push_back({.kind = Kind::Wait, .move = i});
            waited_ = true;
        }
        if (m.is_read) {
            data({Kind::ReadReduce, i, m.operand, {}, m.target, false, m.count, {}, i});
        } else if (m.reduces) {
            data({Kind::Reduce, i, m.operand, m.landing, m.target, draft_.packets, m.count, {}});
        } else if (m.landing != m.target) {
            data({Kind::Copy, i, m.landing, {}, m.target, draft_.packets, m.count, {}});
        }
    }

    void move(const LocalMove& m) {
        if (m.reduces) {
            data({Kind::Reduce, 0, m.dst, m.src, m.dst, false, m.count, {}});
        } else {
            data({Kind::Copy, 0, m.src, {}, m.dst, false, m.count, {}});
        }
    }

    void send(std::uint32_t i) {
        const Move& m = draft_.moves[i];
        if (m.is_read) {
            if (moved_) fence();
            tasks().push_back({.kind = Kind::Signal, .move = i});
            return;
        }
        if (draft_.packets && draft_.channel == plan::ChannelType::Port) return send_staged(i);
        Task put{Kind::Put, i, m.source, {}, m.landing, false, m.count, {}};
        if (draft_.channel == plan::ChannelType::Port) {
            // The proxy puts and signals, in order with all waits; only the threads' own work must be done.
            if (moved_) fence();
            tasks().push_back(std::move(put));
            lent_ = true;
            return;
        }
        if (waited_ || !is_last_sum(m)) {
            data(std::move(put));
        } else if (Task& sum = tasks().back(); sum.kind == Kind::ReadReduce) {
            sum.kind = Kind::ReadReducePut;
            sum.move = i;
        } else if (sum.kind == Kind::Reduce && may_put(sum)) {
            sum.kind = Kind::ReducePut;
            sum.move = i;
        } else {
            tasks().push_back(std::move(put));
            moved_ = true;
        }
        if (draft_.packets) return;
        fence();
        tasks().push_back({.kind = Kind::Signal, .move = i});
    }

    /// Packets on a port channel.
    void send_staged(std::uint32_t i) {
        const Move& m = draft_.moves[i];
        Task pack{Kind::Pack, i, m.source, {}, m.staging, false, m.count, {}};
        if (waited_ || !is_last_sum(m)) {
            data(std::move(pack));
        } else {
            tasks().push_back(std::move(pack));
        }
        tasks().push_back({Kind::Put, i, m.staging, {}, m.landing, false, m.count, {}});
        waited_ = moved_ = lent_ = false;  // the threads have waited for each other
    }

    /// The operation before is the sum, or copy, of exactly what is put.
    [[nodiscard]] bool is_last_sum(const Move& m) const {
        const auto& done = blocks_.back().tasks;
        if (done.empty()) return false;
        const Task& last = done.back();
        const bool makes =
            last.kind == Kind::Reduce || last.kind == Kind::ReadReduce || last.kind == Kind::Copy;
        return makes && last.dst == m.source && last.count == m.count;
    }
    /// Of packets there is an operation that adds them and sends more, none that sends the sum of plain data.
    [[nodiscard]] bool may_put(const Task& sum) const { return sum.unpacks == draft_.packets; }

    /// One more work: in this block, or in one that goes on where this one ends.
    void make_room(std::size_t acquired, std::size_t released, bool moves) {
        const auto operations = [](std::size_t count) {
            return (count + kMostSemaphores - 1) / kMostSemaphores;
        };
        // Acquire, nop, wait or put, nop, data or signal, nop, release; then nop, release, barrier.
        const std::size_t needed = operations(acquired) + operations(released) + 8;
        if (moves) ++moves_;
        if (moves_ <= kMostMoves && tasks().size() + needed <= kMostOperations) return;
        const plan::SemaphoreId handover(waits_++);
        if (moved_ || waited_) fence();
        add_semaphores(Kind::Release, {handover});
        open();
        add_semaphores(Kind::Acquire, {handover});
        waited_ = true;
        moves_ = moves ? 1 : 0;
    }
    void open() {
        blocks_.push_back({rank_, {}});
        waited_ = moved_ = lent_ = false;
    }

    const Draft& draft_;
    std::uint32_t rank_;
    std::size_t& waits_;  ///< of all lines of the rank
    std::vector<Block> blocks_;
    std::vector<Done> block_of_;
    std::size_t moves_ = 0;
    bool waited_ = false;  ///< since the last nop
    bool lent_ = false;    ///< to the proxy, which may still read what the threads would overwrite
    bool moved_ = false;   ///< data, by threads, since the last nop
};

class RankBlocks {
  public:
    RankBlocks(const Draft& draft, std::uint32_t rank)
        : draft_(draft), rank_(rank), works_(draft.of_rank[rank].works) {}

    /// Lines as they are, or as many share thread blocks as is needed.
    void write() {
        for (std::uint32_t lines = draft_.of_rank[rank_].lines; lines > 0; lines /= 2) {
            write_in(lines);
            std::size_t blocks = 0;
            for (Writer& writer : writers_) blocks += writer.blocks().size();
            if (blocks <= kMostExecutionBlocks) return;
            if (lines > 1) continue;
            throw InputError(
                fmt::format("the execution plan needs {} thread blocks on rank {}, each for at most {} "
                            "messages and {} operations; at most {} can run at once",
                            blocks, rank_, kMostMoves, kMostOperations, kMostExecutionBlocks));
        }
    }

    void append_to(Draft& draft) {
        std::vector<Block> blocks;
        const std::size_t before = draft.blocks.size();
        for (Writer& writer : writers_) {
            for (const auto& [work, block] : writer.done()) {
                if (work.kind == Work::Kind::Local) continue;
                auto& of = work.kind == Work::Kind::Send ? draft.sender : draft.receiver;
                of[work.move] = static_cast<std::uint32_t>(before + blocks.size() + block);
            }
            for (Block& block : writer.blocks()) blocks.push_back(std::move(block));
        }
        choose_semaphores(blocks);
        draft.semaphores[rank_] = semaphores_;
        for (Block& block : blocks) draft.blocks.push_back(std::move(block));
    }

  private:
    void list(const plan::Address& first, std::int32_t count, std::vector<std::size_t>& numbers) const {
        for (std::int32_t k = 0; k < count; ++k) {
            numbers.push_back(draft_.of_rank[rank_].places.of(first.plus(k)));
        }
    }
    /// The places that a work reads and writes; where messages land is nobody else's.
    void touch(const Work& work, std::vector<std::size_t>& reads, std::vector<std::size_t>& writes) const {
        reads.clear();
        writes.clear();
        if (work.kind == Work::Kind::Local) {
            const LocalMove& m = draft_.locals[work.move];
            list(m.src, m.count, reads);
            if (m.reduces) list(m.dst, m.count, reads);
            list(m.dst, m.count, writes);
            return;
        }
        const Move& m = draft_.moves[work.move];
        if (work.kind == Work::Kind::Send) return list(m.source, m.count, reads);
        if (m.reduces) list(m.operand, m.count, reads);
        list(m.target, m.count, writes);
    }

    /// What each work waits for; and by line and step the lines that wait for it.
    void find_waits(std::uint32_t lines) {
        Waits waits(lines, draft_.of_rank[rank_].places.size());
        waits_.clear();
        waited_for_.assign(lines, {});
        std::vector<std::size_t> reads, writes;
        for (const Work& work : works_) {
            const std::uint32_t line = work.line % lines;
            touch(work, reads, writes);
            waits_.push_back(waits.next(line, reads, writes));
            for (const StepOf& step : waits_.back()) waited_for_[step.block][step.step].push_back(line);
        }
    }

    void write_in(std::uint32_t lines) {
        find_waits(lines);
        waits_made_ = 0;
        writers_.clear();
        for (std::uint32_t line = 0; line < lines; ++line) writers_.emplace_back(draft_, rank_, waits_made_);
        std::vector<std::uint32_t> step(lines, 0);
        // By the line that waits and the step that it waits for: the number of the wait.
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, plan::SemaphoreId> number;
        for (std::size_t i = 0; i < works_.size(); ++i) {
            const std::uint32_t line = works_[i].line % lines;
            Waited acquired, released;
            for (const StepOf& of : waits_[i]) acquired.push_back(number.at({line, of.block, of.step}));
            for (const std::uint32_t other : waited_for_[line][step[line]]) {
                released.emplace_back(waits_made_++);
                number[{other, line, step[line]}] = released.back();
            }
            ++step[line];
            writers_[line].write(works_[i], acquired, released);
        }
    }

    /// One semaphore for each two blocks of which one waits for the other. What a block waits for of another
    /// are ever later steps, so the k-th time that it waits is the k-th time that the other releases.
    void choose_semaphores(std::vector<Block>& blocks) {
        std::vector<std::pair<std::size_t, std::size_t>> ends(waits_made_);
        const auto each = [&](auto act) {
            for (std::size_t b = 0; b < blocks.size(); ++b) {
                for (Task& task : blocks[b].tasks) {
                    for (plan::SemaphoreId& wait : task.semaphores) act(b, task.kind, wait);
                }
            }
        };
        each([&](std::size_t b, Kind kind, plan::SemaphoreId wait) {
            (kind == Kind::Release ? ends[wait.index()].first : ends[wait.index()].second) = b;
        });
        std::map<std::pair<std::size_t, std::size_t>, plan::SemaphoreId> between;
        each([&](std::size_t, Kind, plan::SemaphoreId& wait) {
            wait = between.try_emplace(ends[wait.index()], between.size()).first->second;
        });
        semaphores_ = static_cast<std::int32_t>(between.size());
    }

    const Draft& draft_;
    std::uint32_t rank_;
    const std::vector<Work>& works_;
    std::vector<std::vector<StepOf>> waits_;  ///< by work
    std::vector<std::map<std::uint32_t, std::vector<std::uint32_t>>> waited_for_;
    std::size_t waits_made_ = 0;
    std::int32_t semaphores_ = 0;
    std::vector<Writer> writers_;
};

/// Copies within one rank, in as many thread blocks as they need.
void add_copies(Draft& draft, std::uint32_t rank, const std::vector<LocalMove>& copies, bool at_the_end) {
    const std::size_t most = kMostOperations - (at_the_end ? 1 : 0);
    for (std::size_t i = 0; i < copies.size(); ++i) {
        if (i % most == 0) draft.blocks.push_back({rank, {}});
        if (i % most == 0 && at_the_end) draft.blocks.back().tasks.push_back({.kind = Kind::Barrier});
        draft.blocks.back().tasks.push_back(
            {Kind::Copy, 0, copies[i].src, {}, copies[i].dst, false, copies[i].count, {}});
    }
}

}  // namespace

void form_blocks(Draft& draft) {
    draft.semaphores.assign(draft.ranks(), 0);
    draft.sender.assign(draft.moves.size(), 0);
    draft.receiver.assign(draft.moves.size(), 0);
    for (std::uint32_t rank = 0; rank < draft.ranks(); ++rank) {
        RankBlocks blocks(draft, rank);
        blocks.write();
        blocks.append_to(draft);
    }
    for (std::uint32_t rank = 0; rank < draft.ranks(); ++rank) {
        add_copies(draft, rank, draft.of_rank[rank].copies, false);
    }
    // The last copies wait until all blocks of the rank have come to the barrier.
    for (Block& block : draft.blocks) {
        if (!draft.of_rank[block.rank].last_copies.empty()) block.tasks.push_back({.kind = Kind::Barrier});
    }
    for (std::uint32_t rank = 0; rank < draft.ranks(); ++rank) {
        add_copies(draft, rank, draft.of_rank[rank].last_copies, true);
    }
}

}  // namespace tutti::compile::execution

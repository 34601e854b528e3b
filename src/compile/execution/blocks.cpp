#include "compile/execution/draft.hpp"
#include "compile/msccl/locations.hpp"
#include "compile/waits.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

// Lines. Every connection has a line of work at its sender and one at its receiver; where most of what comes
// in on one connection goes out on another, both are one line (msccl/fusion.cpp). A put keeps its thread
// block until the link has taken the data, so connections that shared a line would wait for each other's
// links. Only where a rank would need more thread blocks than can run do lines share them.
//
// A line does its transfers in order of time: what arrives is waited for, and added or copied; what leaves is
// put and signalled. What it needs from another line of its rank, or must not overwrite before that one has
// read it, it waits for by a semaphore of the two (compile/waits). Time itself orders all waits after what
// they wait for, so nothing can hang.
//
// A line is one thread block, or several that follow each other by semaphores where it has more to do than a
// thread block can.
//
// Threads. A thread block's threads wait for each other only at a nop: one stands between a wait (or acquire)
// and the data operations behind it, between data operations and the signal (or release) behind them, and
// between data operations of which one uses what the other does. A sum and the put of that sum use the same
// range, which needs none.

namespace tutti::compile::execution {
namespace {

using Kind = Task::Kind;
/// Waits of one line for another, by number; each becomes a semaphore when it is known between which blocks.
using Waited = std::vector<plan::SemaphoreId>;

/// A transfer that a rank sends or receives.
struct Work {
    Ticks tick;
    bool sends = false;
    std::uint32_t turn = 0, row = 0;  ///< among those of one tick
    std::uint32_t transfer = 0;
    std::uint32_t line = 0;

    [[nodiscard]] auto order() const { return std::tuple(tick, sends, turn, row); }
};

/// The thread blocks of one line.
class Writer {
  public:
    Writer(const Draft& draft, std::uint32_t rank, std::size_t& waits)
        : draft_(draft), rank_(rank), waits_(waits) {
        open();
    }

    void write(const Work& work, const Waited& acquired, const Waited& released) {
        make_room(acquired.size(), released.size());
        block_of_.push_back({work, blocks_.size() - 1});
        add_semaphores(Kind::Acquire, acquired);
        if (!acquired.empty()) waited_ = true;
        work.sends ? send(work.transfer) : receive(work.transfer);
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
        waited_ = moved_ = false;
    }
    void data(Task task) {
        if (waited_ || moved_) fence();
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
        const msccl::Transfer& t = draft_.transfer(i);
        const Landing& landing = draft_.landings[i];
        tasks().push_back({.kind = Kind::Wait, .transfer = i});
        waited_ = true;
        if (t.reduces) {
            data({Kind::Reduce, i, t.operand, landing.at, t.target, t.count(), {}});
        } else if (!landing.direct) {
            data({Kind::Copy, i, landing.at, {}, t.target, t.count(), {}});
        }
    }

    void send(std::uint32_t i) {
        const msccl::Transfer& t = draft_.transfer(i);
        Task put{Kind::Put, i, t.source, {}, draft_.landings[i].at, t.count(), {}};
        if (draft_.channel == plan::ChannelType::Port) {
            // The proxy puts and signals, in order with all waits; only the threads' own work must be done.
            if (moved_) fence();
            tasks().push_back(std::move(put));
            return;
        }
        if (!waited_ && is_last_sum(t)) {
            tasks().push_back(std::move(put));
            moved_ = true;
        } else {
            data(std::move(put));
        }
        fence();
        tasks().push_back({.kind = Kind::Signal, .transfer = i});
    }

    /// The operation before is the sum, or copy, of exactly what is put.
    [[nodiscard]] bool is_last_sum(const msccl::Transfer& t) const {
        const auto& done = blocks_.back().tasks;
        if (done.empty()) return false;
        const Task& last = done.back();
        return (last.kind == Kind::Reduce || last.kind == Kind::Copy) && last.dst == t.source &&
               last.count == t.count();
    }

    /// One more transfer: in this block, or in one that goes on where this one ends.
    void make_room(std::size_t acquired, std::size_t released) {
        const auto operations = [](std::size_t count) {
            return (count + kMostSemaphores - 1) / kMostSemaphores;
        };
        // Acquire, nop, wait or put, nop, data or signal, nop, release; then nop, release, barrier.
        const std::size_t needed = operations(acquired) + operations(released) + 8;
        if (transfers_++ < kMostTransfers && tasks().size() + needed <= kMostOperations) return;
        const plan::SemaphoreId handover(waits_++);
        if (moved_ || waited_) fence();
        add_semaphores(Kind::Release, {handover});
        open();
        add_semaphores(Kind::Acquire, {handover});
        waited_ = true;
        transfers_ = 1;
    }
    void open() {
        blocks_.push_back({rank_, {}});
        waited_ = moved_ = false;
    }

    const Draft& draft_;
    std::uint32_t rank_;
    std::size_t& waits_;  ///< of all lines of the rank
    std::vector<Block> blocks_;
    std::vector<Done> block_of_;
    std::size_t transfers_ = 0;
    bool waited_ = false;  ///< since the last nop
    bool moved_ = false;   ///< data, by threads, since the last nop
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

class RankBlocks {
  public:
    RankBlocks(const Draft& draft, std::uint32_t rank, const RankLanes& lanes)
        : draft_(draft), rank_(rank), locations_(draft.moves, rank) {
        std::map<std::uint32_t, std::uint32_t> receiving, sending;
        lines_ = lanes.number(draft.moves.lanes, receiving, sending);
        const auto add = [&](const auto& line_of, bool sends) {
            for (const auto& [lane, line] : line_of) {
                for (const std::uint32_t i : draft.moves.lanes[lane].transfers) {
                    const msccl::Transfer& t = draft.transfer(i);
                    works_.push_back({sends ? t.sent : t.received, sends, t.latest, t.row, i, line});
                }
            }
        };
        add(receiving, false);
        add(sending, true);
        std::ranges::sort(works_, {}, &Work::order);
    }

    /// Lines as they are, or as many share thread blocks as is needed.
    void write() {
        for (std::uint32_t lines = lines_; lines > 0; lines /= 2) {
            write_in(lines);
            std::size_t blocks = 0;
            for (Writer& writer : writers_) blocks += writer.blocks().size();
            if (blocks <= kMostExecutionBlocks) return;
            if (lines > 1) continue;
            throw InputError(fmt::format(
                "an execution plan of this schedule needs {} thread blocks on rank {}, each for at most {} "
                "messages and {} operations; at most {} can run at once",
                blocks, rank_, kMostTransfers, kMostOperations, kMostExecutionBlocks));
        }
    }

    void append_to(Draft& draft) {
        std::vector<Block> blocks;
        const std::size_t before = draft.blocks.size();
        for (Writer& writer : writers_) {
            for (const auto& [work, block] : writer.done()) {
                auto& of = work.sends ? draft.sender : draft.receiver;
                of[work.transfer] = static_cast<std::uint32_t>(before + blocks.size() + block);
            }
            for (Block& block : writer.blocks()) blocks.push_back(std::move(block));
        }
        choose_semaphores(blocks);
        draft.semaphores[rank_] = semaphores_;
        for (Block& block : blocks) draft.blocks.push_back(std::move(block));
    }

  private:
    [[nodiscard]] std::vector<std::size_t> places(const plan::Address& first, std::int32_t count) const {
        std::vector<std::size_t> numbers;
        for (std::int32_t k = 0; k < count; ++k) numbers.push_back(locations_.of(first.plus(k)));
        return numbers;
    }

    /// What each work waits for; and by line and step the lines that wait for it.
    void find_waits(std::uint32_t lines) {
        Waits waits(lines, locations_.size());
        waits_.clear();
        waited_for_.assign(lines, {});
        for (const Work& work : works_) {
            const std::uint32_t line = work.line % lines;
            const msccl::Transfer& t = draft_.transfer(work.transfer);
            std::vector<std::size_t> reads, writes;
            if (work.sends) {
                reads = places(t.source, t.count());
            } else {
                if (t.reduces) reads = places(t.operand, t.count());
                writes = places(t.target, t.count());
            }
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
    msccl::Locations locations_;
    std::uint32_t lines_ = 0;
    std::vector<Work> works_;
    std::vector<std::vector<StepOf>> waits_;  ///< by work
    std::vector<std::map<std::uint32_t, std::vector<std::uint32_t>>> waited_for_;
    std::size_t waits_made_ = 0;
    std::int32_t semaphores_ = 0;
    std::vector<Writer> writers_;
};

/// Copies within one rank, in as many thread blocks as they need.
void add_copies(Draft& draft, std::uint32_t rank, std::vector<Task> copies, bool at_the_end) {
    const std::size_t most = kMostOperations - (at_the_end ? 1 : 0);
    for (std::size_t i = 0; i < copies.size(); ++i) {
        if (i % most == 0) draft.blocks.push_back({rank, {}});
        if (i % most == 0 && at_the_end) draft.blocks.back().tasks.push_back({.kind = Kind::Barrier});
        draft.blocks.back().tasks.push_back(std::move(copies[i]));
    }
}

plan::Address at(plan::Buffer buffer, std::int64_t offset) {
    return {buffer, plan::id_of<plan::ChunkOffset>(offset)};
}

Task copy(const plan::Address& from, const plan::Address& to, std::int32_t count) {
    return {Kind::Copy, 0, from, {}, to, count, {}};
}

/// Chunks that a rank has from the start and only has to copy; in place they are where they belong.
void add_own_copies(Draft& draft) {
    if (draft.in_place) return;
    std::vector<std::vector<Task>> copies(draft.ranks());
    for (const msccl::OwnCopy& own : draft.moves.copies) {
        copies[own.rank].push_back(
            copy(at(plan::Buffer::Input, own.input), at(plan::Buffer::Output, own.output), own.count));
    }
    for (std::uint32_t rank = 0; rank < draft.ranks(); ++rank)
        add_copies(draft, rank, std::move(copies[rank]), false);
}

/// By output chunk where the rank keeps it.
using Results = std::map<std::int64_t, plan::Address>;

std::vector<Results> results_of(const Draft& draft) {
    std::vector<Results> results(draft.ranks());
    for (const msccl::Transfer& t : draft.moves.transfers) {
        for (std::size_t k = 0; k < t.messages.size(); ++k) {
            const std::uint32_t chunk = draft.moves.part.messages[t.messages[k]].chunk;
            const auto output = draft.moves.places.output(t.to, chunk);
            if (output) results[t.to][*output] = t.target.plus(static_cast<std::int64_t>(k));
        }
    }
    return results;
}

/// Results that would overwrite what other blocks still read stay in scratch until all thread blocks of the
/// rank have done the rest.
void add_last_copies(Draft& draft) {
    if (!draft.moves.results_last) return;
    const std::vector<Results> results = results_of(draft);
    for (Block& block : draft.blocks) {
        if (!results[block.rank].empty()) block.tasks.push_back({.kind = Kind::Barrier});
    }
    for (std::uint32_t rank = 0; rank < draft.ranks(); ++rank) {
        std::vector<Task> copies;
        for (const auto& [output, place] : results[rank]) {
            const plan::Address to = at(plan::Buffer::Output, output);
            Task* last = copies.empty() ? nullptr : &copies.back();
            if (last != nullptr && last->src.plus(last->count) == place &&
                last->dst.plus(last->count) == to) {
                ++last->count;
            } else {
                copies.push_back(copy(place, to, 1));
            }
        }
        add_copies(draft, rank, std::move(copies), true);
    }
}

}  // namespace

void form_blocks(Draft& draft) {
    draft.semaphores.assign(draft.ranks(), 0);
    draft.sender.assign(draft.moves.transfers.size(), 0);
    draft.receiver.assign(draft.moves.transfers.size(), 0);
    std::vector<RankLanes> lanes(draft.ranks());
    for (std::uint32_t i = 0; i < draft.moves.lanes.size(); ++i) {
        lanes[draft.moves.lanes[i].to].in.push_back(i);
        lanes[draft.moves.lanes[i].from].out.push_back(i);
    }
    for (std::uint32_t rank = 0; rank < draft.ranks(); ++rank) {
        RankBlocks blocks(draft, rank, lanes[rank]);
        blocks.write();
        blocks.append_to(draft);
    }
    add_own_copies(draft);
    add_last_copies(draft);
}

}  // namespace tutti::compile::execution

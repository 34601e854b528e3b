// The plainest execution of an MSCCL plan that there is, written from docs/msccl-xml.md alone: memory of real
// words, a queue for each connection, a counter for each thread block's signals. A thread block goes through
// its steps in phases (wait for the dependency; then for each message: take it, read, write, pass it on; then
// signal), so that others can come between any two of them. Two drivers move the blocks: a thread for each,
// or one thread that draws lots. It proves nothing about all interleavings, as the verifier and the explorer
// do; it shares nothing with either, not even how values are represented.
//
// Elements are unsigned 64-bit numbers and sums wrap around, so the order of additions does not matter. What
// is undefined holds random words: whoever reads them ends with a wrong result.
//
// A thread that cannot go on says so under the one mutex; the last one that goes to sleep looks whether
// anybody could go on, and if not wakes all to end.

#include "tests/oracle/naive_interpreter.hpp"

#include "core/rng.hpp"
#include "tests/support/plan_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace tutti::oracle {
namespace {

using plan::Buffer;
using plan::Step;
using plan::StepType;
using test::number;
using Element = std::uint64_t;
using Elements = std::vector<Element>;

[[noreturn]] void impossible(const std::string& what) { throw std::invalid_argument(what); }

bool one_of(StepType type, std::initializer_list<StepType> types) {
    return std::ranges::find(types, type) != types.end();
}
bool takes_message(StepType type) {
    return one_of(type, {StepType::Receive, StepType::ReceiveCopySend, StepType::ReceiveReduceCopy,
                         StepType::ReceiveReduceSend, StepType::ReceiveReduceCopySend});
}
bool puts_message(StepType type) {
    return one_of(type, {StepType::Send, StepType::ReceiveCopySend, StepType::ReceiveReduceSend,
                         StepType::ReceiveReduceCopySend});
}
bool adds_to_message(StepType type) {
    return one_of(
        type, {StepType::ReceiveReduceCopy, StepType::ReceiveReduceSend, StepType::ReceiveReduceCopySend});
}
bool writes_memory(StepType type) {
    return !one_of(type, {StepType::Send, StepType::ReceiveReduceSend, StepType::Nop});
}

/// What a rank's chunk of the input is, element by element.
Element input_word(std::uint64_t seed, std::int64_t rank, std::int64_t chunk, std::size_t element) {
    Rng rng(seed ^ (static_cast<std::uint64_t>(rank) << 40U) ^ (static_cast<std::uint64_t>(chunk) << 16U) ^
            element);
    return rng.next();
}

/// The memory of a gpu: where its buffers begin, in chunks. In place one of the user's lies in the other.
struct GpuMemory {
    std::int64_t input = 0, output = 0, scratch = 0;
    std::int64_t inputs = 0, outputs = 0, scratches = 0;
    std::vector<std::atomic<Element>> words{};
};

struct Queue {
    std::deque<Elements> messages{};
    std::int64_t from = 0, to = 0, channel = 0;
};

enum class Phase { Await, Take, Read, Write, Put, Signal };

/// A thread block on its way.
struct Runner {
    std::int64_t gpu = 0, id = 0;
    const plan::ThreadBlock* block = nullptr;
    Queue *in = nullptr, *out = nullptr;
    std::size_t step = 0;
    Phase phase = Phase::Await;
    std::int64_t done = 0;  ///< chunks of the step
    Elements held{};
    std::int64_t signalled = -1;

    [[nodiscard]] bool ended() const { return step == block->steps.size(); }
    [[nodiscard]] const Step& now() const { return block->steps[step]; }
};

class Execution {
  public:
    Execution(const plan::MscclPlan& plan, const PlanCall& call, const NaiveOptions& options)
        : plan_(plan),
          call_(call),
          options_(options),
          capacity_(options.capacity.value_or(plan.protocol == plan::Protocol::Simple ? 2 : 8)) {
        if (plan.ranks < 1) impossible("no gpus");
        Rng garbage(options.seed ^ 0xDEADULL);
        for (const plan::Gpu& gpu : plan.gpus) lay_out(gpu, garbage);
        for (const plan::Gpu& gpu : plan.gpus) fill(gpu);
        for (const plan::Gpu& gpu : plan.gpus) {
            for (const plan::ThreadBlock& block : gpu.blocks) add(gpu, block);
        }
        for (Runner& runner : runners_) by_id_[{runner.gpu, runner.id}] = &runner;
        for (const Runner& runner : runners_) check(runner);
    }

    NaiveEnd by_turns() {
        Rng rng(options_.seed);
        std::vector<std::uint64_t> turn(runners_.size());
        std::vector<std::size_t> can;
        while (true) {
            can.clear();
            for (std::size_t i = 0; i < runners_.size(); ++i) {
                if (!runners_[i].ended() && ready(runners_[i])) can.push_back(i);
            }
            if (can.empty()) return end();
            // Mostly whoever comes first in an order that changes now and then, so that some run far ahead.
            if (rng.below(12) == 0) {
                for (std::uint64_t& t : turn) t = rng.next();
            }
            std::size_t chosen = can[rng.below(can.size())];
            if (rng.below(3) != 0) {
                chosen = *std::ranges::min_element(can, {}, [&](std::size_t i) { return turn[i]; });
            }
            act(runners_[chosen]);
        }
    }

    NaiveEnd by_threads() {
        live_ = runners_.size();
        {
            std::vector<std::jthread> threads;
            for (Runner& runner : runners_) threads.emplace_back([this, &runner] { go(runner); });
        }
        return end();
    }

  private:
    [[nodiscard]] std::int64_t chunks() const { return plan_.chunks_per_loop; }
    [[nodiscard]] std::int64_t ranks() const { return plan_.ranks; }
    [[nodiscard]] bool is_root(const plan::Gpu& gpu) const { return call_.root == number(gpu.id); }

    /// A share of the collectives that have a buffer of all ranks; of gather and scatter N is one share, or
    /// all.
    [[nodiscard]] std::int64_t share() const {
        if (call_.goal != CollectiveKind::Gather && call_.goal != CollectiveKind::Scatter) {
            return chunks() / ranks();
        }
        for (const plan::Gpu& gpu : plan_.gpus) {
            const std::int64_t declared =
                call_.goal == CollectiveKind::Gather ? gpu.output_chunks : gpu.input_chunks;
            if (is_root(gpu) && declared == chunks() && chunks() % ranks() == 0) return chunks() / ranks();
        }
        return chunks();
    }

    void lay_out(const plan::Gpu& gpu, Rng& garbage) {
        GpuMemory& memory = memories_[number(gpu.id)];
        const std::int64_t g = number(gpu.id), n = chunks(), b = share();
        bool one = call_.in_place;     // one of the buffers lies in the other,
        std::int64_t inner = 0;        // so far from its beginning
        bool input_is_larger = false;  // where they differ
        memory.inputs = memory.outputs = n;
        switch (call_.goal) {
            case CollectiveKind::AllGather:
                memory.inputs = b;
                inner = g * b;
                break;
            case CollectiveKind::ReduceScatter:
                memory.outputs = b;
                inner = g * b;
                input_is_larger = true;
                break;
            case CollectiveKind::Gather:
                memory.inputs = b;
                memory.outputs = is_root(gpu) ? ranks() * b : 0;
                one = one && is_root(gpu);
                inner = g * b;
                break;
            case CollectiveKind::Scatter:
                memory.inputs = is_root(gpu) ? ranks() * b : 0;
                memory.outputs = b;
                one = one && is_root(gpu);
                inner = g * b;
                input_is_larger = true;
                break;
            case CollectiveKind::AllReduce:
            case CollectiveKind::AllToAll:
            case CollectiveKind::Broadcast:
            case CollectiveKind::Reduce:
            case CollectiveKind::AllToNext:
                break;
            default:
                memory.inputs = gpu.input_chunks;
                memory.outputs = gpu.output_chunks;
                if (one) memory.inputs = memory.outputs = std::max(memory.inputs, memory.outputs);
                break;
        }
        memory.scratches = gpu.scratch_chunks;
        std::int64_t users = memory.inputs + memory.outputs;
        if (one) {
            users = std::max(memory.inputs, memory.outputs);
            (input_is_larger ? memory.output : memory.input) = inner;
        } else {
            memory.output = memory.inputs;
        }
        memory.scratch = users;
        memory.words = std::vector<std::atomic<Element>>(static_cast<std::size_t>(users + memory.scratches) *
                                                         options_.elements);
        for (std::atomic<Element>& word : memory.words) word = garbage.next();
    }

    void fill(const plan::Gpu& gpu) {
        GpuMemory& memory = memories_[number(gpu.id)];
        const auto write = [&](std::int64_t chunk) {
            for (std::size_t e = 0; e < options_.elements; ++e) {
                word(memory, memory.input + chunk, e) = input_word(options_.seed, number(gpu.id), chunk, e);
            }
        };
        if (call_.condition && call_.condition->inputs.contains(gpu.id)) {
            for (const std::int64_t chunk : call_.condition->inputs.at(gpu.id)) {
                if (chunk >= 0 && chunk < memory.inputs) write(chunk);
            }
        } else {
            for (std::int64_t chunk = 0; chunk < memory.inputs; ++chunk) write(chunk);
        }
        if (!call_.copies_first) return;
        for (const plan::LocalCopy& copy : gpu.copies) {
            store(memory,
                  address(memory, {Buffer::Output, test::maybe<plan::ChunkOffset>(copy.output_offset)}, 1),
                  load(memory,
                       address(memory, {Buffer::Input, test::maybe<plan::ChunkOffset>(copy.input_offset)}, 1),
                       1));
        }
    }

    std::atomic<Element>& word(GpuMemory& memory, std::int64_t chunk, std::size_t element) const {
        return memory.words[static_cast<std::size_t>(chunk) * options_.elements + element];
    }
    /// The first of `count` chunks, in the memory.
    static std::int64_t address(const GpuMemory& memory, const plan::Address& at, std::int64_t count) {
        const std::int64_t size = at.buffer == Buffer::Input    ? memory.inputs
                                  : at.buffer == Buffer::Output ? memory.outputs
                                                                : memory.scratches;
        const std::int64_t first = number(at.offset);
        if (first < 0 || count < 0 || first + count > size) impossible("an address outside of its buffer");
        return first + (at.buffer == Buffer::Input    ? memory.input
                        : at.buffer == Buffer::Output ? memory.output
                                                      : memory.scratch);
    }
    Elements load(GpuMemory& memory, std::int64_t first, std::int64_t count) const {
        Elements words;
        for (std::int64_t c = first; c < first + count; ++c) {
            for (std::size_t e = 0; e < options_.elements; ++e) {
                words.push_back(word(memory, c, e).load(std::memory_order_relaxed));
            }
        }
        return words;
    }
    void store(GpuMemory& memory, std::int64_t first, const Elements& words) const {
        for (std::size_t i = 0; i < words.size(); ++i) {
            word(memory, first + static_cast<std::int64_t>(i / options_.elements), i % options_.elements)
                .store(words[i], std::memory_order_relaxed);
        }
    }

    void add(const plan::Gpu& gpu, const plan::ThreadBlock& block) {
        Runner runner{.gpu = number(gpu.id), .id = number(block.id), .block = &block};
        const auto queue = [&](std::int64_t from, std::int64_t to) {
            Queue& found = queues_[{from, to, number(block.channel)}];
            found.from = from;
            found.to = to;
            found.channel = number(block.channel);
            return &found;
        };
        if (block.send_peer) runner.out = queue(runner.gpu, number(block.send_peer));
        if (block.recv_peer) runner.in = queue(number(block.recv_peer), runner.gpu);
        runners_.push_back(std::move(runner));
    }
    void check(const Runner& runner) {
        const GpuMemory& memory = memories_[runner.gpu];
        for (const Step& step : runner.block->steps) {
            if (takes_message(step.type) && runner.in == nullptr) impossible("a receive from nobody");
            if (puts_message(step.type) && runner.out == nullptr) impossible("a send to nobody");
            if (step.dep_block && !by_id_.contains({runner.gpu, number(step.dep_block)})) {
                impossible("a dependency on no thread block");
            }
            if (step.type == StepType::Nop) continue;
            if (reads_source(step.type)) (void)address(memory, step.src, step.count);
            if (writes_memory(step.type) || (adds_to_message(step.type) && call_.operand_is_destination)) {
                (void)address(memory, step.dst, step.count);
            }
        }
    }
    [[nodiscard]] bool reads_source(StepType type) const {
        return one_of(type, {StepType::Send, StepType::Copy, StepType::Reduce}) ||
               (adds_to_message(type) && !call_.operand_is_destination);
    }

    [[nodiscard]] bool has_room(const Queue& queue) const {
        return queue.messages.size() < static_cast<std::size_t>(capacity_);
    }
    /// Whether the block can do what comes next.
    [[nodiscard]] bool ready(const Runner& runner) const {
        const Step& step = runner.now();
        switch (runner.phase) {
            case Phase::Await:
                if (!step.dep_block) return true;
                if (number(step.dep_block) == runner.id &&
                    number(step.dep_step) < static_cast<std::int64_t>(runner.step)) {
                    return true;
                }
                return by_id_.at({runner.gpu, number(step.dep_block)})->signalled >= number(step.dep_step);
            case Phase::Take:
                if (!takes_message(step.type)) return true;
                if (puts_message(step.type) && !has_room(*runner.out)) return false;
                return !runner.in->messages.empty();
            case Phase::Put:
                return !puts_message(step.type) || has_room(*runner.out);
            default:
                return true;
        }
    }
    [[nodiscard]] std::int64_t message_size(const Step& step) const {
        return options_.message_per_chunk ? 1 : step.count;
    }

    /// Precondition: it is ready.
    void act(Runner& runner) {
        const Step& step = runner.now();
        switch (runner.phase) {
            case Phase::Await:
                runner.done = 0;
                runner.phase = step.type == StepType::Nop ? Phase::Signal : Phase::Take;
                return;
            case Phase::Take:
                if (takes_message(step.type)) {
                    runner.held = std::move(runner.in->messages.front());
                    runner.in->messages.pop_front();
                }
                runner.phase = Phase::Read;
                return;
            case Phase::Read:
                read(runner, step);
                runner.phase = Phase::Write;
                return;
            case Phase::Write:
                if (writes_memory(step.type) && !copies_onto_itself(runner, step)) {
                    GpuMemory& memory = memories_.at(runner.gpu);
                    store(memory, address(memory, step.dst, step.count) + runner.done, runner.held);
                }
                runner.phase = Phase::Put;
                return;
            case Phase::Put:
                if (puts_message(step.type)) runner.out->messages.push_back(runner.held);
                runner.done += message_size(step);
                runner.phase = runner.done < step.count ? Phase::Take : Phase::Signal;
                return;
            case Phase::Signal:
                if (step.signals && step.type != StepType::Nop) {
                    runner.signalled = static_cast<std::int64_t>(runner.step);
                }
                ++runner.step;
                runner.phase = Phase::Await;
                return;
        }
    }
    [[nodiscard]] bool copies_onto_itself(const Runner& runner, const Step& step) const {
        if (step.type != StepType::Copy) return false;
        const GpuMemory& memory = memories_.at(runner.gpu);
        return address(memory, step.src, step.count) == address(memory, step.dst, step.count);
    }
    void read(Runner& runner, const Step& step) {
        GpuMemory& memory = memories_.at(runner.gpu);
        const auto part = [&](const plan::Address& at) {
            return load(memory, address(memory, at, step.count) + runner.done, message_size(step));
        };
        const auto add_part = [&](const plan::Address& at) {
            const Elements words = part(at);
            if (words.size() != runner.held.size()) impossible("a message of another size");
            for (std::size_t i = 0; i < words.size(); ++i) runner.held[i] += words[i];
        };
        if (step.type == StepType::Send || step.type == StepType::Copy) runner.held = part(step.src);
        if (adds_to_message(step.type)) add_part(call_.operand_is_destination ? step.dst : step.src);
        if (step.type == StepType::Reduce) {
            runner.held = part(step.dst);
            add_part(step.src);
        }
    }

    void go(Runner& runner) {
        std::unique_lock lock(mutex_);
        while (!runner.ended()) {
            if (!ready(runner)) {
                ++sleeping_;
                stop_if_nobody_can_go_on();
                changed_.wait(lock, [&] { return stuck_ || ready(runner); });
                --sleeping_;
                if (!ready(runner)) return;
            }
            if (runner.phase == Phase::Read || runner.phase == Phase::Write) {
                lock.unlock();  // memory is touched by all at once
                act(runner);
                lock.lock();
            } else {
                act(runner);
                changed_.notify_all();
            }
        }
        --live_;
        stop_if_nobody_can_go_on();
    }
    void stop_if_nobody_can_go_on() {
        if (sleeping_ < live_ || live_ == 0) return;
        stuck_ = std::ranges::none_of(runners_, [&](const Runner& r) { return !r.ended() && ready(r); });
        if (stuck_) changed_.notify_all();
    }

    [[nodiscard]] std::string why_waiting(const Runner& runner) const {
        const Step& step = runner.now();
        const std::string who = fmt::format("gpu {} tb {} step {} ({})", runner.gpu, runner.id, runner.step,
                                            plan::name_of(step.type));
        if (runner.phase == Phase::Await) {
            return fmt::format("{} waits for step {} of tb {}", who, number(step.dep_step),
                               number(step.dep_block));
        }
        if (runner.phase == Phase::Take && runner.in->messages.empty()) {
            return fmt::format("{} waits for a message from gpu {}", who, runner.in->from);
        }
        return fmt::format("{} waits for room on the connection to gpu {}", who, runner.out->to);
    }
    NaiveEnd end() {
        NaiveEnd made;
        for (const Runner& runner : runners_) {
            if (!runner.ended()) made.stuck.push_back(why_waiting(runner));
        }
        if (!made.stuck.empty()) return made;
        for (const auto& [key, queue] : queues_) {
            if (queue.messages.empty()) continue;
            made.wrong.push_back(fmt::format("{} messages are left from gpu {} to gpu {} on channel {}",
                                             queue.messages.size(), queue.from, queue.to, queue.channel));
        }
        for (const plan::Gpu& gpu : plan_.gpus) compare(gpu, made);
        return made;
    }

    /// What an output chunk must hold, as rank and chunk; empty: anything.
    [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> wanted(const plan::Gpu& gpu,
                                                                            std::int64_t c) const {
        std::vector<std::pair<std::int64_t, std::int64_t>> parts;
        const std::int64_t g = number(gpu.id), b = std::max<std::int64_t>(share(), 1);
        const auto sum = [&](std::int64_t chunk) {
            for (std::int64_t r = 0; r < ranks(); ++r) parts.emplace_back(r, chunk);
        };
        if (call_.condition) {
            const auto rank = call_.condition->outputs.find(gpu.id);
            if (rank == call_.condition->outputs.end() || !rank->second.contains(c)) return parts;
            for (const plan::Contribution& one : rank->second.at(c)) {
                parts.emplace_back(number(one.rank), one.chunk);
            }
            return parts;
        }
        const std::int64_t root = call_.root.value_or(0);
        switch (call_.goal) {
            case CollectiveKind::AllReduce:
                sum(c);
                break;
            case CollectiveKind::AllGather:
                parts.emplace_back(c / b, c % b);
                break;
            case CollectiveKind::ReduceScatter:
                sum(g * b + c);
                break;
            case CollectiveKind::AllToAll:
                parts.emplace_back(c / b, g * b + c % b);
                break;
            case CollectiveKind::Broadcast:
                parts.emplace_back(root, c);
                break;
            case CollectiveKind::Reduce:
                if (is_root(gpu)) sum(c);
                break;
            case CollectiveKind::Gather:
                parts.emplace_back(c / b, c % b);
                break;
            case CollectiveKind::Scatter:
                parts.emplace_back(root, g * b + c);
                break;
            case CollectiveKind::AllToNext:
                if (g > 0) parts.emplace_back(g - 1, c);
                break;
            default:
                break;
        }
        return parts;
    }
    void compare(const plan::Gpu& gpu, NaiveEnd& made) {
        GpuMemory& memory = memories_.at(number(gpu.id));
        for (std::int64_t c = 0; c < memory.outputs; ++c) {
            const auto parts = wanted(gpu, c);
            for (std::size_t e = 0; e < options_.elements && !parts.empty(); ++e) {
                Element sum = 0;
                for (const auto& [rank, chunk] : parts) sum += input_word(options_.seed, rank, chunk, e);
                if (word(memory, memory.output + c, e) == sum) continue;
                made.wrong.push_back(fmt::format("gpu {} o[{}] is wrong", number(gpu.id), c));
                break;
            }
        }
    }

    const plan::MscclPlan& plan_;
    const PlanCall& call_;
    const NaiveOptions& options_;
    int capacity_;
    std::map<std::int64_t, GpuMemory> memories_;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Queue> queues_;
    std::deque<Runner> runners_;
    std::map<std::pair<std::int64_t, std::int64_t>, Runner*> by_id_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t live_ = 0, sleeping_ = 0;
    bool stuck_ = false;
};

}  // namespace

NaiveEnd run_with_threads(const plan::MscclPlan& plan, const PlanCall& call, const NaiveOptions& options) {
    return Execution(plan, call, options).by_threads();
}

NaiveEnd run_by_turns(const plan::MscclPlan& plan, const PlanCall& call, const NaiveOptions& options) {
    return Execution(plan, call, options).by_turns();
}

}  // namespace tutti::oracle

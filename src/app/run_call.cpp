#include "app/run_call.hpp"

#include "app/run_messages.hpp"
#include "core/call.hpp"
#include "core/error.hpp"
#include "plan/execution_plan.hpp"
#include "plan/msccl_plan.hpp"
#include "run/layout.hpp"
#include "run/process_call.hpp"
#include "verify/plan/judged_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <thread>
#include <utility>

namespace tutti::app {
namespace {

/// Places of one rank's larger buffer.
[[nodiscard]] std::int64_t places_of_call(const run::Executable& executable) {
    std::int64_t most = 1;
    for (const run::ExecutableMemory& memory : executable.memories) {
        if (memory.buffer != plan::Buffer::Scratch) most = std::max(most, memory.places);
    }
    return most;
}

/// Places that `count` elements are cut into: a share's, or the larger buffer's.
[[nodiscard]] std::int64_t places_of_count(const run::Executable& executable) {
    for (const run::ExecutableMemory& memory : executable.memories) {
        if (memory.block > 0) return memory.block;
    }
    return places_of_call(executable);
}

[[nodiscard]] double quantile(const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
}

[[nodiscard]] run::LocalOptions local_options(const RunOptions& options, const std::function<void()>& check) {
    return {options.engine, static_cast<std::size_t>(options.piece_bytes), check};
}

void add(const run::TestData::Check& check, RunOutcome& outcome) {
    outcome.compared += check.compared;
    outcome.wrong += check.wrong;
    if (!outcome.difference) outcome.difference = check.first;
}

/// How many elements differ; all count as compared.
[[nodiscard]] run::TestData::Check difference_of(const std::vector<std::byte>& one,
                                                 const std::vector<std::byte>& other, std::size_t size) {
    run::TestData::Check check;
    check.compared = one.size() / size;
    for (std::size_t at = 0; at < one.size(); at += size) {
        if (!std::equal(one.begin() + static_cast<std::ptrdiff_t>(at),
                        one.begin() + static_cast<std::ptrdiff_t>(at + size),
                        other.begin() + static_cast<std::ptrdiff_t>(at)))
            ++check.wrong;
    }
    return check;
}

/// A call's layout and inputs, which refer to each other.
struct Data {
    run::Layout layout;
    run::TestData inputs;
    Data(const run::Executable& executable, const RunCall& call, std::uint64_t seed)
        : layout(executable, call.count), inputs(executable, layout, call.type, call.op, seed) {}
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;
};

/// Messages that a connection of the plan holds, as its verdict has it: more than its protocol's where it
/// could hang otherwise.
[[nodiscard]] std::int64_t messages_held(const plan::PlanVerdict& verdict) {
    if (!verdict.fifo) return std::numeric_limits<std::int64_t>::max();
    return std::max(verdict.fifo->capacity, verdict.fifo->chunks);
}

/// The channels of an MSCCL plan's thread blocks.
[[nodiscard]] std::function<std::uint32_t(const plan::Place&)> channels_of(const JudgedPlan& judged) {
    std::map<std::pair<Rank, plan::BlockId>, std::uint32_t> channels;
    if (const auto* const plan = judged.plan ? std::get_if<plan::MscclPlan>(&*judged.plan) : nullptr) {
        for (const plan::Gpu& gpu : plan->gpus) {
            for (const plan::ThreadBlock& block : gpu.blocks) {
                if (block.channel) channels[{gpu.id, block.id}] = (*block.channel).value();
            }
        }
    }
    return [channels](const plan::Place& at) {
        const auto known = at.gpu && at.block ? channels.find({*at.gpu, *at.block}) : channels.end();
        return known == channels.end() ? 0 : known->second;
    };
}

/// Whether an operation of an execution plan is a put on a port channel, which a proxy sends.
[[nodiscard]] std::function<bool(const plan::Place&)> proxies_of(const JudgedPlan& judged) {
    const auto* const plan = judged.plan ? std::get_if<plan::ExecutionPlan>(&*judged.plan) : nullptr;
    if (plan == nullptr) return [](const plan::Place&) { return false; };
    return [plan](const plan::Place& at) {
        if (!at.gpu || !at.block || !at.step || (*at.gpu).index() >= plan->gpus.size()) return false;
        const auto& blocks = plan->gpus[(*at.gpu).index()].blocks;
        if ((*at.block).index() >= blocks.size()) return false;
        const auto& ops = blocks[(*at.block).index()].ops;
        return (*at.step).index() < ops.size() &&
               ops[(*at.step).index()].channel_type == plan::ChannelType::Port;
    };
}

}  // namespace

std::int64_t shares_of(const run::Executable& executable) {
    return std::max<std::int64_t>(places_of_call(executable) / places_of_count(executable), 1);
}

std::int64_t bytes_of(const RunCall& call) {
    return shares_of(call.plan->executable) * call.count * static_cast<std::int64_t>(run::size_of(call.type));
}

std::size_t memory_of(const RunCall& call, const RunOptions& options) {
    const run::Executable& executable = call.plan->executable;
    const run::Layout layout(executable, call.count);
    const std::size_t memories = run::bytes_of_call(executable, layout, call.type);
    // Messages on emulated links are few, but no bound is known that is better than all buffers once more.
    if (options.emulate) return 2 * memories;
    return memories +
           run::temporary_bytes_of_call(executable, layout, call.type, local_options(options, [] {}));
}

std::int64_t largest_that_fits(const RunCall& call, const RunOptions& options, std::uint64_t memory) {
    const auto fits = [&](std::int64_t count) {
        RunCall other = call;
        other.count = count;
        return memory_of(other, options) <= memory;
    };
    std::int64_t below = 0, above = call.count;
    while (above - below > 1) {
        const std::int64_t middle = below + (above - below) / 2;
        (fits(middle) ? below : above) = middle;
    }
    RunCall largest = call;
    largest.count = below;
    return bytes_of(largest);
}

Caller::Caller(const RunOptions& options, const Topology* network, run::MpiLibrary* mpi,
               std::function<void()> check)
    : options_(options),
      network_(network),
      mpi_(mpi),
      check_(std::move(check)),
      workers_(options.workers > 0 ? options.workers : std::max(std::thread::hardware_concurrency(), 1U)) {}

RunOutcome Caller::run(std::span<const RunCall> calls) {
    RunOutcome outcome = network_ != nullptr      ? run_on_links(calls)
                         : mpi_ != nullptr        ? run_by_messages(calls.front())
                         : options_.orders > 0    ? run_in_orders(calls.front())
                         : options_.processes > 0 ? run_in_processes(calls.front())
                                                  : run_here(calls);
    if (outcome.median_us <= 0) return outcome;
    std::int64_t bytes = 0;
    for (const RunCall& call : calls) bytes += bytes_of(call);
    outcome.algbw_GBps = static_cast<double>(bytes) / outcome.median_us / 1e3;
    if (calls.size() > 1) return outcome;
    const auto kind = kind_in_plan(calls.front().plan->judged->verdict.collective);
    const auto ranks = static_cast<std::size_t>(calls.front().plan->executable.ranks());
    if (const auto factor = kind ? bus_factor(*kind, ranks) : std::nullopt)
        outcome.busbw_GBps = *outcome.algbw_GBps * *factor;
    return outcome;
}

RunOutcome Caller::run_in_orders(const RunCall& call) {
    RunOutcome outcome;
    std::vector<std::byte> first;
    for (std::uint32_t order = 0; order < options_.orders; ++order) {
        const run::Executable shuffled =
            run::executable_of(*call.plan->program, {.shuffle = options_.seed + order});
        const Data data(shuffled, call, options_.seed);
        run::LocalCall local(shuffled, data.layout, call.type, call.op, workers_,
                             local_options(options_, check_));
        local.fill(data.inputs);
        local.run();
        const run::TestData::Check check = local.check(data.inputs);
        add(check, outcome);
        // Where nobody knows what is right, at least all orders should end alike.
        if (check.compared == 0) {
            std::vector<std::byte> outputs = local.outputs();
            if (order > 0) add(difference_of(first, outputs, run::size_of(call.type)), outcome);
            if (order == 0) first = std::move(outputs);
        }
        check_();
    }
    return outcome;
}

RunOutcome Caller::run_here(std::span<const RunCall> calls) {
    std::vector<std::unique_ptr<Data>> data;
    std::vector<std::unique_ptr<run::LocalCall>> locals;
    for (const RunCall& call : calls) {
        const run::Executable& executable = call.plan->executable;
        data.push_back(std::make_unique<Data>(executable, call, options_.seed));
        locals.push_back(std::make_unique<run::LocalCall>(executable, data.back()->layout, call.type, call.op,
                                                          workers_, local_options(options_, check_)));
        locals.back()->fill(data.back()->inputs);
        check_();
    }
    const auto run_all = [&] {
        for (const auto& local : locals) local->run();
    };
    run_all();
    RunOutcome outcome;
    for (std::size_t at = 0; at < locals.size(); ++at) add(locals[at]->check(data[at]->inputs), outcome);
    std::vector<double> times;
    measure(
        [&](std::uint32_t rounds) {
            using Clock = std::chrono::steady_clock;
            times.clear();
            for (std::uint32_t round = 0; round < rounds; ++round) {
                const auto start = Clock::now();
                run_all();
                times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
            }
            return std::span<const double>(times);
        },
        outcome);
    return outcome;
}

RunOutcome Caller::run_in_processes(const RunCall& call) {
    const run::Executable& executable = call.plan->executable;
    const auto ranks = static_cast<std::uint32_t>(executable.ranks());
    if (options_.processes > ranks || (options_.private_arrays && options_.processes != ranks)) {
        throw InputError(fmt::format("its {} ranks cannot be spread over {} processes{}", ranks,
                                     options_.processes,
                                     options_.private_arrays ? " with arrays of their own" : ""));
    }
    const Data data(executable, call, options_.seed);
    run::ProcessCall team(executable, data.layout, call.type, call.op, data.inputs,
                          {.processes = options_.processes,
                           .engine = options_.engine,
                           .piece_bytes = static_cast<std::size_t>(options_.piece_bytes),
                           .private_arrays = options_.private_arrays,
                           .check = check_});
    team.fill();
    team.run();
    RunOutcome outcome;
    add(team.check(), outcome);
    measure([&](std::uint32_t rounds) { return team.time(rounds); }, outcome);
    return outcome;
}

RunOutcome Caller::run_by_messages(const RunCall& call) {
    const Data data(call.plan->executable, call, options_.seed);
    MessageRun team(*mpi_, call.plan->executable, call.count, call.type, call.op, data.inputs,
                    static_cast<std::size_t>(options_.piece_bytes), check_);
    (void)team.time(1);
    RunOutcome outcome;
    add(team.check(), outcome);
    measure([&](std::uint32_t rounds) { return team.time(rounds); }, outcome);
    return outcome;
}

RunOutcome Caller::run_on_links(std::span<const RunCall> calls) {
    std::vector<std::unique_ptr<Data>> data;
    std::vector<std::unique_ptr<run::LocalMemories>> memories;
    std::vector<run::EmulatedJob> jobs;
    for (const RunCall& call : calls) {
        const run::Executable& executable = call.plan->executable;
        data.push_back(std::make_unique<Data>(executable, call, options_.seed));
        memories.push_back(
            std::make_unique<run::LocalMemories>(executable, data.back()->layout, call.type, call.op));
        memories.back()->fill(data.back()->inputs);
        run::EmulatedJob& job = jobs.emplace_back();
        job.program = call.plan->program;
        job.executable = &executable;
        job.memories = memories.back().get();
        job.place.npus = call.plan->npus;
        const auto size = static_cast<std::int64_t>(run::size_of(call.type));
        job.place.chunk = Bytes{std::max<std::int64_t>(data.back()->layout.stride(), 1) * size};
        job.place.capacity = messages_held(call.plan->judged->verdict);
        job.place.channel = channels_of(*call.plan->judged);
        job.place.by_proxy = proxies_of(*call.plan->judged);
    }
    const std::vector<Ticks> ends = run::run_emulated(*network_, jobs, {.check = check_});
    RunOutcome outcome;
    for (std::size_t at = 0; at < calls.size(); ++at) add(memories[at]->check(data[at]->inputs), outcome);
    outcome.rounds = 1;
    outcome.median_us = static_cast<double>(std::ranges::max(ends).count()) / 1e6;
    outcome.low_us = outcome.high_us = outcome.median_us;
    return outcome;
}

void Caller::measure(const Rounds& time, RunOutcome& outcome) const {
    constexpr std::uint32_t kWarmUp = 3, kLeast = 5, kMost = 1000;
    constexpr double kEnoughMicroseconds = 3e5, kUnknown = 1e9;
    std::vector<double> times;
    double total = 0;
    (void)time(options_.iterations > 0 ? std::min(options_.iterations, kWarmUp) : kWarmUp);
    const auto wanted = [&] {
        if (options_.iterations > 0) return times.size() < options_.iterations;
        return times.size() < kLeast || (times.size() < kMost && total < kEnoughMicroseconds);
    };
    while (wanted()) {
        check_();
        // Several in one go where a round is short, so that who measures does not disturb.
        const double each = times.empty() ? kUnknown : total / static_cast<double>(times.size());
        const std::uint32_t left = (options_.iterations > 0 ? options_.iterations : kMost) -
                                   static_cast<std::uint32_t>(times.size());
        const auto fitting = static_cast<std::uint32_t>(std::min(2e4 / each, 100.0));
        for (const double microseconds : time(std::clamp(fitting, 1U, left))) {
            times.push_back(microseconds);
            total += microseconds;
        }
    }
    std::ranges::sort(times);
    outcome.rounds = static_cast<std::uint32_t>(times.size());
    outcome.median_us = quantile(times, 0.5);
    outcome.low_us = quantile(times, 0.1);
    outcome.high_us = quantile(times, 0.9);
}

}  // namespace tutti::app

#include "app/bench_memory.hpp"

#include "app/bench_rounds.hpp"
#include "app/loaded_plan.hpp"
#include "app/memory.hpp"
#include "core/error.hpp"
#include "run/kernels.hpp"
#include "run/local_call.hpp"
#include "run/rank_arrays.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace tutti::app {
namespace {

using Clock = std::chrono::steady_clock;

[[nodiscard]] double microseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// All outputs = the sum of all inputs, a few elements at a time: each is read from memory and written to it
/// once.
class MemoryLoop {
  public:
    MemoryLoop(const run::LocalCall& call, const run::Executable& executable, const run::Layout& layout,
               const BenchOptions& options)
        : options_(options) {
        for (const Rank rank : plan::ranks_below(executable.ranks())) {
            const run::RankArrays arrays = run::arrays_of(executable, layout, rank);
            const std::size_t size = run::size_of(options.type);
            inputs_.push_back(call.memories()[arrays.input.memory] + arrays.input.first * size);
            outputs_.push_back(call.memories()[arrays.output.memory] + arrays.output.first * size);
            elements_ = std::min(arrays.input.elements, arrays.output.elements);
        }
    }
    void run(run::WorkerThreads& workers, std::size_t active) const {
        constexpr std::size_t kPart = 2048;
        const run::Kernels& kernels = run::kernels_of(options_.type, options_.op);
        const std::size_t parts = (elements_ + kPart - 1) / kPart, size = run::size_of(options_.type);
        workers.run(
            [&](std::size_t worker) {
                for (std::size_t part = parts * worker / active; part < parts * (worker + 1) / active;
                     ++part) {
                    const std::size_t first = part * kPart * size;
                    const std::size_t count = std::min(kPart, elements_ - part * kPart);
                    // In place the sum may be written once all were read; the rest happens in a cache.
                    std::byte* const sum = outputs_[0] + first;
                    kernels.reduce_two(sum, inputs_[0] + first, inputs_[1] + first, count);
                    for (std::size_t at = 2; at < inputs_.size(); ++at)
                        kernels.reduce_two(sum, sum, inputs_[at] + first, count);
                    for (std::size_t at = 1; at < outputs_.size(); ++at)
                        std::memcpy(outputs_[at] + first, sum, count * size);
                }
            },
            active);
    }

  private:
    const BenchOptions& options_;
    std::vector<std::byte*> inputs_, outputs_;
    std::size_t elements_ = 0;
};

}  // namespace

BenchResult bench_against_memory(const BenchOptions& options, const Watch& watch,
                                 const std::function<void(const BenchRow&)>& row_made) {
    BenchResult result;
    result.yardstick = "a loop that reads every input and writes every output once";
    run::WorkerThreads workers(options.workers > 0 ? options.workers
                                                   : std::max(std::thread::hardware_concurrency(), 1U));
    for (const std::string& file : options.files) {
        const auto plan = load_plan(file);
        const run::Executable& executable = plan->executables.front();
        if (plan->goal() != CollectiveKind::AllReduce || plan->ranks() < 2)
            throw InputError(
                "expected a plan of an all-reduce of two ranks or more: only its inputs and outputs are "
                "alike",
                {}, file);
        for (const std::int64_t bytes : options.sizes) {
            const std::int64_t count = count_for(executable, bytes, run::size_of(options.type));
            if (const auto free = free_memory_bytes())
                expect_room(file, executable, count, options.type, {*free});
            const run::Layout layout(executable, count);
            BenchRow row;
            row.file = file;
            row.collective = plan->judged.verdict.collective;
            row.ranks = plan->ranks();
            row.count = layout.count();
            row.bytes = row.count * static_cast<std::int64_t>(run::size_of(options.type));
            row.steps = executable.steps.size();
            run::LocalCall call(executable, layout, options.type, options.op, workers);
            const run::TestData data(executable, layout, options.type, options.op, 1);
            call.fill(data);
            call.run();
            const auto check = call.check(data);
            row.compared = check.compared;
            row.wrong = check.wrong;
            const MemoryLoop loop(call, executable, layout, options);
            const std::size_t active =
                run::bytes_of_call(executable, layout, options.type) < run::kAlone ? 1 : workers.count();
            const auto timed = [](const auto& work) {
                const auto start = Clock::now();
                work();
                return microseconds_since(start);
            };
            const double once = timed([&] { call.run(); });
            // Of calls shorter than the clock's resolution several count as one.
            const auto repeated =
                static_cast<std::uint32_t>(std::clamp(20 / std::max(once, 0.1), 1.0, 100.0));
            const auto repeat = [&](const std::function<void()>& work) {
                return [&timed, work, repeated] {
                    return timed([&] {
                               for (std::uint32_t at = 0; at < repeated; ++at) work();
                           }) /
                           repeated;
                };
            };
            run_rounds(
                {{"limit", repeat([&] { loop.run(workers, active); })},
                 {"pieces", repeat([&] { call.run(); })}},
                options.rounds, calls_in_round(once * repeated), true,
                [&] {
                    if (watch.was_interrupted()) throw LimitError("interrupted");
                },
                row);
            result.rows.push_back(std::move(row));
            row_made(result.rows.back());
        }
    }
    return result;
}

}  // namespace tutti::app

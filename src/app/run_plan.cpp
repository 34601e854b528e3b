#include "app/run_plan.hpp"

#include "app/plan_judge.hpp"
#include "core/call.hpp"
#include "core/error.hpp"
#include "run/executable.hpp"
#include "run/layout.hpp"
#include "run/process_call.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <thread>

namespace tutti::app {
namespace {

/// Raised inside of a call that is interrupted.
struct Interrupted {};

[[nodiscard]] std::uint64_t machine_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

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

/// The sizes of calls, in elements of a share, each once, in the order given.
[[nodiscard]] std::vector<std::int64_t> counts_of(const RunOptions& options,
                                                  const run::Executable& executable, run::ElementType type) {
    const std::int64_t shares =
        std::max<std::int64_t>(places_of_call(executable) / places_of_count(executable), 1);
    std::vector<std::int64_t> counts = options.counts;
    for (const std::int64_t bytes : options.sizes) {
        const std::int64_t elements = bytes / static_cast<std::int64_t>(run::size_of(type));
        counts.push_back(std::max<std::int64_t>(elements / shares, 1));
    }
    std::vector<std::int64_t> distinct;
    for (const std::int64_t count : counts) {
        if (std::ranges::find(distinct, count) == distinct.end()) distinct.push_back(count);
    }
    return distinct;
}

[[nodiscard]] double quantile(const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
}

class Runner {
  public:
    Runner(const RunOptions& options, const Watch& watch, const RunListener& listener)
        : options_(options),
          watch_(watch),
          listener_(listener),
          workers_(options.workers > 0 ? options.workers
                                       : std::max(std::thread::hardware_concurrency(), 1U)) {}

    RunResult run() && {
        try {
            JudgeOptions judging;
            judging.files = options_.files;
            judging.plan = options_.plan;
            const PlanJudge judge(judging, PlanJudge::OtherFiles::Malformed, true);
            for (std::size_t at = 0; at < options_.files.size(); ++at)
                run(judge.judge(options_.files[at], at, watch_.stop()), judge);
            result_.complete = true;
        } catch (const Interrupted&) {
        } catch (const run::LostPeerError& error) {
            result_.lost = error.what();
        }
        return std::move(result_);
    }

  private:
    void refuse(const JudgedPlan& judged, std::string reason) {
        result_.refused.push_back(
            {judged.file, std::string(plan::name_of(judged.verdict.verdict)), std::move(reason)});
        listener_.refused(result_.refused.back());
    }

    void run(const JudgedPlan& judged, const PlanJudge& judge) {
        const plan::PlanVerdict& verdict = judged.verdict;
        const auto first_violation = [&] {
            return verdict.violations.empty()
                       ? std::string("it is not known what it must end with (--as, --condition)")
                       : verdict.violations.front().message;
        };
        if (verdict.verdict == plan::PlanClass::Malformed) return refuse(judged, first_violation());
        const bool judgeable = verdict.acceptable() && verdict.verdict != plan::PlanClass::StructureOnly;
        if (!judgeable && !options_.anyway) return refuse(judged, first_violation());
        const auto programs = judge.programs_of(judged);
        if (programs.empty()) {
            return refuse(judged,
                          verdict.acceptable()
                              ? "plans of sends have no thread blocks that could run; convert it first"
                              : first_violation());
        }
        bool any = false;
        for (const verify::JudgedProgram& program : programs) {
            if (options_.in_place && *options_.in_place != program.in_place) continue;
            any = true;
            run(judged, program);
        }
        if (!any) {
            refuse(judged,
                   fmt::format("it cannot be called {}", *options_.in_place ? "in place" : "out of place"));
        }
    }

    void run(const JudgedPlan& judged, const verify::JudgedProgram& program) {
        try {
            const run::Executable executable = run::executable_of(program);
            for (const run::ElementType type : options_.types) {
                for (const run::Operator op : options_.operators) {
                    for (const std::int64_t count : counts_of(options_, executable, type))
                        run(judged, program, executable, type, op, count);
                }
            }
        } catch (const InputError& error) {
            refuse(judged, error.what());
        }
    }

    void run(const JudgedPlan& judged, const verify::JudgedProgram& program,
             const run::Executable& executable, run::ElementType type, run::Operator op, std::int64_t count) {
        const run::Layout layout(executable, count);
        RunRow row;
        row.file = judged.file;
        row.collective = judged.verdict.collective;
        row.count = count;
        row.type = type;
        row.op = op;
        row.root = judged.verdict.root;
        row.in_place = program.in_place;
        const std::int64_t shares =
            std::max<std::int64_t>(places_of_call(executable) / places_of_count(executable), 1);
        row.bytes = shares * count * static_cast<std::int64_t>(run::size_of(type));
        const std::size_t needed = run::bytes_of_call(executable, layout, type);
        if (machine_memory() > 0 && needed > machine_memory() / 10 * 8) {
            row.skipped = fmt::format("its memories take {}, this machine has {}", text::size_text(needed),
                                      text::size_text(machine_memory()));
            return add(std::move(row));
        }
        run::LocalOptions local;
        local.engine = options_.engine;
        local.piece_bytes = static_cast<std::size_t>(options_.piece_bytes);
        local.check = [this] { check_interrupt(); };
        if (options_.orders > 0) {
            for (std::uint32_t order = 0; order < options_.orders; ++order) {
                const run::Executable shuffled = run::executable_of(program, {options_.seed + order});
                const run::Layout same(shuffled, count);
                run::LocalCall call(shuffled, same, type, op, workers_, local);
                check_once(call, run::TestData(shuffled, same, type, op, options_.seed + order), row);
                check_interrupt();
            }
        } else if (options_.processes > 0) {
            const run::TestData data(executable, layout, type, op, options_.seed);
            run::ProcessCall call(executable, layout, type, op, data, process_options(executable));
            call.fill();
            call.run();
            enter(call.check(), row);
            measure([&](std::uint32_t rounds) { return call.time(rounds); }, executable.ranks(), row);
        } else {
            run::LocalCall call(executable, layout, type, op, workers_, local);
            check_once(call, run::TestData(executable, layout, type, op, options_.seed), row);
            measure([&](std::uint32_t rounds) { return times_of(call, rounds); }, executable.ranks(), row);
        }
        add(std::move(row));
    }

    void check_interrupt() const {
        if (watch_.was_interrupted()) throw Interrupted();
    }

    static void check_once(run::LocalCall& call, const run::TestData& data, RunRow& row) {
        call.fill(data);
        call.run();
        enter(call.check(data), row);
    }

    static void enter(const run::TestData::Check& check, RunRow& row) {
        row.compared += check.compared;
        row.wrong += check.wrong;
        if (!row.difference) row.difference = check.first;
    }

    [[nodiscard]] run::ProcessOptions process_options(const run::Executable& executable) const {
        const auto ranks = static_cast<std::uint32_t>(executable.ranks());
        if (options_.processes > ranks || (options_.private_arrays && options_.processes != ranks)) {
            throw InputError(fmt::format("its {} ranks cannot be spread over {} processes{}", ranks,
                                         options_.processes,
                                         options_.private_arrays ? " with arrays of their own" : ""));
        }
        return {.processes = options_.processes,
                .engine = options_.engine,
                .piece_bytes = static_cast<std::size_t>(options_.piece_bytes),
                .private_arrays = options_.private_arrays,
                .check = [this] { check_interrupt(); }};
    }

    /// Microseconds of each of so many rounds.
    static std::vector<double> times_of(run::LocalCall& call, std::uint32_t rounds) {
        using Clock = std::chrono::steady_clock;
        std::vector<double> times;
        for (std::uint32_t round = 0; round < rounds; ++round) {
            const auto start = Clock::now();
            call.run();
            times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
        }
        return times;
    }

    /// `time`: runs so many rounds and returns their times.
    template <class Time>
    void measure(const Time& time, std::int32_t ranks, RunRow& row) const {
        constexpr std::uint32_t kWarmUp = 3, kLeast = 5, kMost = 1000;
        constexpr double kEnoughMicroseconds = 3e5;
        (void)time(kWarmUp);
        std::vector<double> times;
        double total = 0;
        const auto wanted = [&] {
            if (options_.iterations > 0) return times.size() < options_.iterations;
            return times.size() < kLeast || (times.size() < kMost && total < kEnoughMicroseconds);
        };
        while (wanted()) {
            check_interrupt();
            // In one go where a round is short, so that who measures does not disturb.
            const double each = times.empty() ? 1e9 : total / static_cast<double>(times.size());
            const std::uint32_t most = options_.iterations > 0
                                           ? options_.iterations - static_cast<std::uint32_t>(times.size())
                                           : kMost - static_cast<std::uint32_t>(times.size());
            const auto fitting = static_cast<std::uint32_t>(std::min(2e4 / each, 100.0));
            for (const double microseconds : time(std::clamp(fitting, 1U, most))) {
                times.push_back(microseconds);
                total += microseconds;
            }
        }
        std::ranges::sort(times);
        row.rounds = static_cast<std::uint32_t>(times.size());
        row.median_us = quantile(times, 0.5);
        row.low_us = quantile(times, 0.1);
        row.high_us = quantile(times, 0.9);
        if (row.median_us <= 0) return;
        row.algbw_GBps = static_cast<double>(row.bytes) / row.median_us / 1e3;
        const auto kind = kind_in_plan(row.collective);
        if (const auto factor = kind ? bus_factor(*kind, static_cast<std::size_t>(ranks)) : std::nullopt)
            row.busbw_GBps = *row.algbw_GBps * *factor;
    }

    void add(RunRow row) {
        result_.rows.push_back(std::move(row));
        listener_.row(result_.rows.back());
        check_interrupt();
    }

    const RunOptions& options_;
    const Watch& watch_;
    const RunListener& listener_;
    run::WorkerThreads workers_;
    RunResult result_;
};

}  // namespace

bool RunResult::any_wrong() const {
    return std::ranges::any_of(rows, [](const RunRow& row) { return row.wrong > 0; });
}

RunResult run_plans(const RunOptions& options, const Watch& watch, const RunListener& listener) {
    return Runner(options, watch, listener).run();
}

io::Json json_of(const RunRow& row) {
    const auto or_null = [](const auto& value) { return value ? io::Json(*value) : io::Json(); };
    io::Json json{{"file", row.file},
                  {"collective", row.collective},
                  {"bytes", row.bytes},
                  {"count", row.count},
                  {"type", run::name_of(row.type)},
                  {"operator", run::name_of(row.op)},
                  {"root", row.root ? io::Json(row.root->value()) : io::Json()},
                  {"mode", row.in_place ? "in-place" : "out-of-place"}};
    if (!row.skipped.empty()) {
        json["skipped"] = row.skipped;
        return json;
    }
    json.update({{"rounds", row.rounds},
                 {"median_us", row.median_us},
                 {"p10_us", row.low_us},
                 {"p90_us", row.high_us},
                 {"algbw_GBps", or_null(row.algbw_GBps)},
                 {"busbw_GBps", or_null(row.busbw_GBps)},
                 {"compared", row.compared},
                 {"wrong", row.wrong}});
    if (row.difference) {
        json["first_wrong"] = {{"rank", row.difference->rank.value()},
                               {"element", row.difference->element},
                               {"expected", row.difference->expected},
                               {"found", row.difference->found}};
    }
    return json;
}

io::Json json_of(const RunResult& result) {
    io::Json json{{"rows", io::Json::array()}, {"refused", io::Json::array()}, {"complete", result.complete}};
    for (const RunRow& row : result.rows) json["rows"].push_back(json_of(row));
    for (const RefusedPlan& refused : result.refused)
        json["refused"].push_back(
            {{"file", refused.file}, {"verdict", refused.verdict}, {"reason", refused.reason}});
    return json;
}

}  // namespace tutti::app

#include "app/run_plan.hpp"

#include "app/memory.hpp"
#include "app/mpi_module.hpp"
#include "app/plan_judge.hpp"
#include "app/run_call.hpp"
#include "core/error.hpp"
#include "io/topology_file.hpp"
#include "run/executable.hpp"
#include "run/meeting.hpp"
#include "text/format.hpp"
#include "verify/plan/judged_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

namespace tutti::app {
namespace {

/// Raised inside of a call that is interrupted.
struct Interrupted {};

/// A plan with what it was judged as. Others refer to its parts.
struct JudgedSource {
    std::size_t number = 0;
    RunSource source{};
    JudgedPlan judged{};
    std::vector<verify::JudgedProgram> programs{};
    std::vector<RunnablePlan> modes{};
    bool reduces = false;  ///< makes sums
};

class Runner {
  public:
    Runner(const RunOptions& options, const Watch& watch, const RunListener& listener)
        : options_(options),
          watch_(watch),
          mpi_(options.mpi ? open_mpi() : nullptr),
          listener_(mpi_ && mpi_->process() > 0 ? silent_ : listener),
          network_(read_network(options)),
          caller_(options, network_ ? &*network_ : nullptr, mpi_.get(), [this] { check_interrupt(); }) {
        result_.is_first = !mpi_ || mpi_->process() == 0;
    }

    RunResult run() && {
        try {
            const RunSources sources(options_.names, watch_);
            check_numbers(sources.plans().size());
            const bool one_process = options_.processes == 0 && options_.orders == 0 && !options_.mpi;
            const bool together =
                sources.plans().size() > 1 && one_process && (options_.together || sources.of_instance());
            std::deque<JudgedSource> kept;
            for (const RunSource& source : sources.plans()) {
                kept.emplace_back();
                const bool runs = prepare(kept.size() - 1 + dropped_, source, kept.back());
                if (runs) run(kept.back());
                // Plans are only needed again where all run at once.
                if (!runs || !together) {
                    kept.pop_back();
                    ++dropped_;
                }
            }
            if (together && kept.size() > 1) run_together(kept);
            // Plans of groups that run at once are no alternatives of each other.
            if (!together) result_.comparisons = compare_runs(result_.rows);
            result_.complete = true;
        } catch (const Interrupted&) {
        } catch (const run::LostPeerError& error) {
            result_.lost = error.what();
        } catch (const LimitError&) {
            if (!watch_.was_interrupted()) throw;
        }
        return std::move(result_);
    }

  private:
    [[nodiscard]] static std::optional<Topology> read_network(const RunOptions& options) {
        if (!options.emulate) return std::nullopt;
        Topology topology = io::read_topology_file(*options.emulate);
        if (topology.units() == Units::Abstract) {
            throw InputError(
                "the topology is in abstract ticks; expected one with latencies and bandwidths, as bytes "
                "take time",
                {}, *options.emulate);
        }
        return topology;
    }

    void check_numbers(std::size_t plans) const {
        const auto check = [&](const char* option, std::size_t found) {
            if (found <= 1 || found == plans) return;
            throw InputError(fmt::format("{} was given {} times for {}; expected it once, or once for each",
                                         option, found, text::count_text(plans, "plan")));
        };
        check("--condition", options_.plan.conditions.size());
        check("--group", options_.plan.groups.size());
        if (plans == 0) throw InputError("there is no plan to run");
    }

    void check_interrupt() const {
        if (watch_.was_interrupted()) throw Interrupted();
    }

    void refuse(const JudgedSource& plan, std::string reason) {
        const std::string_view verdict = plan::name_of(plan.judged.verdict.verdict);
        result_.refused.push_back({plan.source.name, std::string(verdict), std::move(reason)});
        listener_.refused(result_.refused.back());
    }

    /// Judges a plan; whether it can run.
    bool prepare(std::size_t number, const RunSource& source, JudgedSource& plan) {
        check_interrupt();
        plan.number = number;
        plan.source = source;
        if (!source.invalid.empty()) {
            plan.judged.verdict.verdict = plan::PlanClass::Invalid;
            refuse(plan, source.invalid);
            return false;
        }
        JudgeOptions judging;
        judging.plan = options_.plan;
        const auto others = source.named ? PlanJudge::OtherFiles::Malformed : PlanJudge::OtherFiles::Skipped;
        const PlanJudge judge(judging, others, true);
        plan.judged = judge.judge(source.path, number, watch_.stop());
        if (!plan.judged.skipped.empty()) return false;
        const plan::PlanVerdict& verdict = plan.judged.verdict;
        const auto first_violation = [&] {
            return verdict.violations.empty()
                       ? std::string("it is not known what it must end with (--as, --condition)")
                       : verdict.violations.front().message;
        };
        const bool judgeable = verdict.acceptable() && verdict.verdict != plan::PlanClass::StructureOnly;
        const bool malformed = verdict.verdict == plan::PlanClass::Malformed;
        if (malformed || (!judgeable && !options_.anyway)) {
            refuse(plan, first_violation());
            return false;
        }
        plan.programs = judge.programs_of(plan.judged);
        if (plan.programs.empty()) {
            refuse(plan, verdict.acceptable()
                             ? "plans of sends have no thread blocks that could run; convert it first"
                             : first_violation());
            return false;
        }
        return make_modes(plan);
    }

    bool make_modes(JudgedSource& plan) {
        try {
            for (const verify::JudgedProgram& program : plan.programs) {
                if (options_.in_place && *options_.in_place != program.in_place) continue;
                plan.modes.push_back({&plan.judged, &program,
                                      run::executable_of(program, {.messages_apart = network_.has_value()}),
                                      npus_of(plan, program)});
            }
        } catch (const InputError& error) {
            refuse(plan, error.what());
            return false;
        }
        // Out of place comes first, as in the table.
        std::ranges::stable_sort(plan.modes, {},
                                 [](const RunnablePlan& mode) { return mode.program->in_place; });
        if (!plan.modes.empty()) {
            plan.reduces = std::ranges::any_of(plan.modes.front().executable.steps,
                                               [](const run::Step& step) { return step.sources > 1; });
            return true;
        }
        refuse(plan, fmt::format("it cannot be called {}", *options_.in_place ? "in place" : "out of place"));
        return false;
    }

    /// The NPUs of the plan's ranks, where there is a topology. Throws InputError where it is too small.
    [[nodiscard]] std::vector<NodeId> npus_of(const JudgedSource& plan,
                                              const verify::JudgedProgram& program) const {
        std::vector<NodeId> npus;
        if (!network_) return npus;
        const auto ranks = static_cast<std::size_t>(program.postcondition.ranks);
        const auto& groups = options_.plan.groups;
        std::vector<std::int32_t> numbers = plan.source.npus;
        if (!groups.empty()) numbers = groups[groups.size() == 1 ? 0 : plan.number];
        for (std::size_t rank = 0; numbers.size() < ranks && groups.empty() && plan.source.npus.empty();
             ++rank)
            numbers.push_back(static_cast<std::int32_t>(rank));
        if (numbers.size() != ranks) {
            throw InputError(
                fmt::format("the plan is for {} ranks, and its group has {} NPUs", ranks, numbers.size()));
        }
        for (const std::int32_t npu : numbers) {
            if (static_cast<std::uint32_t>(npu) >= network_->npus()) {
                throw InputError(fmt::format("the plan needs NPU {}, and the topology has {} NPUs", npu,
                                             network_->npus()));
            }
            npus.emplace_back(static_cast<std::size_t>(npu));
        }
        return npus;
    }

    /// The sizes of calls, in elements of a share, each once, in the order given.
    [[nodiscard]] std::vector<std::int64_t> counts_of(const JudgedSource& plan, run::ElementType type) const {
        const std::int64_t shares = shares_of(plan.modes.front().executable);
        std::vector<std::int64_t> counts = options_.counts, sizes = options_.sizes;
        if (counts.empty() && sizes.empty())
            sizes = {plan.source.bytes.value_or(0) > 0 ? *plan.source.bytes : std::int64_t{1} << 20};
        for (const std::int64_t bytes : sizes) {
            const std::int64_t elements = bytes / static_cast<std::int64_t>(run::size_of(type));
            counts.push_back(std::max<std::int64_t>(elements / shares, 1));
        }
        std::vector<std::int64_t> distinct;
        for (const std::int64_t count : counts) {
            if (std::ranges::find(distinct, count) == distinct.end()) distinct.push_back(count);
        }
        return distinct;
    }

    void run(const JudgedSource& plan) {
        tell_what_does_not_fit(plan);
        try {
            for (const run::ElementType type : options_.types) {
                for (const run::Operator op : options_.operators) {
                    for (const std::int64_t count : counts_of(plan, type)) run(plan, type, op, count);
                    if (!plan.reduces) break;  // they all do the same
                }
            }
        } catch (const InputError& error) {
            refuse(plan, error.what());
        }
    }

    void run(const JudgedSource& plan, run::ElementType type, run::Operator op, std::int64_t count) {
        std::vector<RunRow> rows;
        for (const RunnablePlan& mode : plan.modes) {
            const RunCall call{&mode, count, type, op};
            RunRow& row = rows.emplace_back();
            row.plan = plan.number;
            row.file = plan.source.name;
            row.collective = plan.judged.verdict.collective;
            row.ranks = mode.executable.ranks();
            row.count = count;
            row.bytes = bytes_of(call);
            row.type = type;
            if (plan.reduces) row.op = op;
            row.root = plan.judged.verdict.root;
            row.in_place = mode.program->in_place;
            listener_.begins(fmt::format("{}, {} {} {}", row.file,
                                         text::call_size_text(static_cast<std::uint64_t>(row.bytes)),
                                         run::name_of(type), run::name_of(op)));
            const std::string reason = why_not(call);
            if (reason.empty()) {
                row.outcome = caller_.run({&call, 1});
            } else {
                row.outcome.skipped = reason;
            }
        }
        result_.rows.insert(result_.rows.end(), rows.begin(), rows.end());
        listener_.call(rows);
        check_interrupt();
    }

    /// A part of what is free, so that the machine does not begin to swap.
    [[nodiscard]] static std::optional<std::uint64_t> usable_memory() {
        const auto free = free_memory_bytes();
        return free ? std::optional(*free / 10 * 9) : std::nullopt;
    }

    /// Why the call is not made; empty: it can be.
    [[nodiscard]] std::string why_not(const RunCall& call) const {
        const auto memory = usable_memory();
        const std::size_t needed = memory_of(call, options_);
        if (!memory || needed <= *memory) return {};
        const std::int64_t largest = largest_that_fits(call, options_, *memory);
        return fmt::format(
            "needs {} of memory, {} are free; {}", text::memory_text(needed), text::memory_text(*memory),
            largest > 0 ? fmt::format("up to {} fit", text::memory_text(static_cast<std::uint64_t>(largest)))
                        : std::string("no size fits"));
    }

    /// Before anything is allocated: which of the sizes will be skipped.
    void tell_what_does_not_fit(const JudgedSource& plan) const {
        std::int64_t least = 0;
        for (const run::ElementType type : options_.types) {
            for (const std::int64_t count : counts_of(plan, type)) {
                const RunCall call{&plan.modes.front(), count, type, run::Operator::Sum};
                if (why_not(call).empty()) continue;
                least = least == 0 ? bytes_of(call) : std::min(least, bytes_of(call));
            }
        }
        if (least == 0) return;
        listener_.note(fmt::format("{}: calls of {} and more do not fit in memory and will be skipped",
                                   plan.source.name,
                                   text::call_size_text(static_cast<std::uint64_t>(least))));
    }

    void run_together(const std::deque<JudgedSource>& plans) {
        for (const run::ElementType type : options_.types) {
            for (const run::Operator op : options_.operators) {
                std::size_t sizes = 1;
                for (const JudgedSource& plan : plans) sizes = std::max(sizes, counts_of(plan, type).size());
                for (std::size_t size = 0; size < sizes; ++size) run_together(plans, type, op, size);
                if (std::ranges::none_of(plans, &JudgedSource::reduces)) break;
            }
        }
    }

    void run_together(const std::deque<JudgedSource>& plans, run::ElementType type, run::Operator op,
                      std::size_t size) {
        std::vector<RunCall> calls;
        TogetherRow row{.plans = plans.size(), .type = type};
        if (std::ranges::any_of(plans, &JudgedSource::reduces)) row.op = op;
        std::size_t needed = 0;
        for (const JudgedSource& plan : plans) {
            const std::vector<std::int64_t> counts = counts_of(plan, type);
            // In place where the plan can do that: it takes less memory.
            calls.push_back({&plan.modes.back(), counts[std::min(size, counts.size() - 1)], type, op});
            row.bytes += bytes_of(calls.back());
            needed += memory_of(calls.back(), options_);
        }
        listener_.begins("all plans together");
        if (const auto memory = usable_memory(); memory && needed > *memory) {
            row.outcome.skipped = fmt::format("needs {} of memory, {} are free", text::memory_text(needed),
                                              text::memory_text(*memory));
        } else {
            row.outcome = caller_.run(calls);
        }
        result_.together.push_back(row);
        listener_.together(row);
        check_interrupt();
    }

    const RunOptions& options_;
    const Watch& watch_;
    std::unique_ptr<run::MpiLibrary> mpi_;
    RunListener silent_;
    const RunListener& listener_;
    std::optional<Topology> network_;
    Caller caller_;
    std::size_t dropped_ = 0;
    RunResult result_;
};

}  // namespace

bool RunResult::any_wrong() const {
    const auto is_wrong = [](const auto& row) { return row.outcome.wrong > 0; };
    return std::ranges::any_of(rows, is_wrong) || std::ranges::any_of(together, is_wrong);
}

bool RunResult::any_skipped() const {
    const auto is_skipped = [](const auto& row) { return !row.outcome.skipped.empty(); };
    return std::ranges::any_of(rows, is_skipped) || std::ranges::any_of(together, is_skipped);
}

RunResult run_plans(const RunOptions& options, const Watch& watch, const RunListener& listener) {
    return Runner(options, watch, listener).run();
}

}  // namespace tutti::app

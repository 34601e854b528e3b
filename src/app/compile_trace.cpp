#include "app/compile_trace.hpp"

#include "app/plan_cost.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/chunk_trace.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <vector>

namespace tutti::app {
namespace {

using Seconds = std::chrono::duration<double>;

/// Judges candidates and times them; keeps the verdicts, and how long judging took.
template <class Candidate>
class Judge {
  public:
    Judge(verify::PlanReading reading, std::optional<Rank> root, const TraceNetwork* network)
        : reading_(std::move(reading)), network_(network) {
        reading_.root = root;
    }

    compile::Judgement operator()(const Candidate& candidate) {
        const auto began = std::chrono::steady_clock::now();
        // A condition that asks for nothing judges nothing: the plan is judged by its structure.
        reading_.condition = asks_for_nothing(candidate) ? std::nullopt : candidate.condition;
        Told& told = told_.emplace_back();
        told.verdict = verify::verify(candidate.plan, reading_);
        if (network_ != nullptr && told.verdict.acceptable()) {
            CostJob job{&candidate.plan, told.verdict, network_->bytes};
            if (reading_.condition) job.condition = std::make_shared<plan::Condition>(*reading_.condition);
            told.time = timing_of(std::span(&job, 1), network_->topology).makespan.count();
        }
        seconds_ += Seconds(std::chrono::steady_clock::now() - began).count();
        return {told.verdict.verdict, told.time.value_or(0)};
    }

    /// Compiles with it: the best plan, its verdict, its time. An internal error names a reproducer.
    template <class Made, class Compile>
    Made run(const lang::Trace& trace, Compile compile) {
        Made made;
        const auto start = std::chrono::steady_clock::now();
        try {
            made.result = compile();
        } catch (const InternalError& error) {
            refuse_too_large();
            const bool says_why = !told_.empty() && !told_.back().verdict.violations.empty();
            const std::string first =
                says_why ? ": " + told_.back().verdict.violations.front().message : std::string();
            io::write_file("tutti-bug.chunks", io::chunk_trace_text(trace));
            throw InternalError(fmt::format("{}{}; the program is in tutti-bug.chunks", error.what(), first));
        }
        made.compile_seconds = Seconds(std::chrono::steady_clock::now() - start).count() - seconds_;
        made.verdict = std::move(told_[made.result.judged].verdict);
        made.time = told_[made.result.judged].time;
        made.verify_seconds = seconds_;
        return made;
    }

  private:
    static bool asks_for_nothing(const Candidate& candidate) {
        return candidate.condition && candidate.condition->outputs.empty();
    }

    /// Nothing leaves that could not be verified.
    void refuse_too_large() const {
        if (told_.empty() || told_.back().verdict.violations.empty()) return;
        const plan::PlanFinding& first = told_.back().verdict.violations.front();
        if (first.code == "too-large")
            throw InputError("the plan is too large to be verified: " + first.message);
    }

    verify::PlanReading reading_;
    const TraceNetwork* network_;
    struct Told {
        plan::PlanVerdict verdict{};
        std::optional<std::int64_t> time{};
    };
    std::vector<Told> told_;  ///< by call
    double seconds_ = 0;
};

compile::TraceOptions timed(compile::TraceOptions options, const TraceNetwork* network) {
    options.timed = network != nullptr;
    return options;
}

/// `TraceType`: const or not.
template <class TraceType>
CompiledTrace compiled(TraceType& trace, const compile::TraceOptions& options, const TraceNetwork* network) {
    verify::PlanReading reading;
    reading.strict_dependencies = true;
    Judge<compile::TraceResult> judge(reading, trace.shape.root, network);
    return judge.run<CompiledTrace>(
        trace, [&] { return compile::compile_trace(trace, timed(options, network), std::ref(judge)); });
}

}  // namespace

CompiledTrace compile_verified(const lang::Trace& trace, const compile::TraceOptions& options,
                               const TraceNetwork* network) {
    return compiled(trace, options, network);
}
CompiledTrace compile_verified(lang::Trace& trace, const compile::TraceOptions& options,
                               const TraceNetwork* network) {
    return compiled(trace, options, network);
}

CompiledExecution compile_verified_execution(const lang::Trace& trace, const compile::TraceOptions& options,
                                             const TraceNetwork* network) {
    verify::PlanReading reading;
    reading.target = plan::Target::Mscclpp;
    Judge<compile::TraceExecution> judge(reading, trace.shape.root, network);
    return judge.run<CompiledExecution>(trace, [&] {
        return compile::compile_trace_to_execution(trace, timed(options, network), std::ref(judge));
    });
}

}  // namespace tutti::app

// HiGHS through its C API, linked into the module tutti_highs.so. Never its C++ API: the wheel is built with
// the old std::string ABI, so that calls with strings would link to nothing, or worse.
//
// It knows rows only: models/linearise writes everything else as rows. It computes in doubles with
// tolerances, so what it finds is rounded and checked like every backend's answer.
//
// Threads: HiGHS keeps one scheduler of workers per thread that calls it, made by the first solve and never
// resized. So each solve runs in a thread of its own, whose scheduler ends with it: solves with different
// numbers of threads can follow each other and run at the same time, and nobody calls
// Highs_resetGlobalScheduler, which must not meet a solve under way.

#include "models/backends/claim.hpp"
#include "models/backends/library_file.hpp"
#include "models/backends/open_backend.hpp"
#include "models/linearise.hpp"

#include <interfaces/highs_c_api.h>

#include <algorithm>
#include <cmath>
#include <future>

namespace tutti::models {
namespace {

struct Destroy {
    void operator()(void* highs) const { Highs_destroy(highs); }
};
using Highs = std::unique_ptr<void, Destroy>;

/// Rows end to end, as Highs_passMip and Highs_passLp want them.
struct Matrix {
    std::vector<HighsInt> start, index;
    std::vector<double> value, lower, upper;

    void add(std::uint32_t column, std::int64_t coefficient) {
        index.push_back(static_cast<HighsInt>(column));
        value.push_back(static_cast<double>(coefficient));
    }
    void end_row(std::size_t begin, double least, double most) {
        start.push_back(static_cast<HighsInt>(begin));
        lower.push_back(least);
        upper.push_back(most);
    }
    [[nodiscard]] HighsInt rows() const { return static_cast<HighsInt>(start.size()); }
    [[nodiscard]] HighsInt entries() const { return static_cast<HighsInt>(index.size()); }
};

/// `guide` counts where the program has no objective.
[[nodiscard]] HighsInt pass(void* highs, const Program& program, std::span<const Term> guide) {
    const double infinity = Highs_getInfinity(highs);
    std::vector<double> cost(program.vars(), 0.0), lower, upper;
    for (const Term& term : program.objective().empty() ? guide : program.objective())
        cost[term.var.index] += static_cast<double>(term.coefficient);
    for (std::uint32_t i = 0; i < program.vars(); ++i) {
        lower.push_back(static_cast<double>(program.bounds(Var{i}).lower));
        upper.push_back(static_cast<double>(program.bounds(Var{i}).upper));
    }
    Matrix matrix;
    for (std::size_t i = 0; i < program.rows(); ++i) {
        const Row row = program.row(i);
        const std::size_t begin = matrix.index.size();
        for (const Term& term : row.terms) matrix.add(term.var.index, term.coefficient);
        matrix.end_row(begin, row.lower == kMinusInfinity ? -infinity : static_cast<double>(row.lower),
                       row.upper == kPlusInfinity ? infinity : static_cast<double>(row.upper));
    }
    const std::vector<HighsInt> integrality(program.vars(), kHighsVarTypeInteger);
    return Highs_passMip(highs, static_cast<HighsInt>(program.vars()), matrix.rows(), matrix.entries(),
                         kHighsMatrixFormatRowwise, kHighsObjSenseMinimize, 0.0, cost.data(), lower.data(),
                         upper.data(), matrix.lower.data(), matrix.upper.data(), matrix.start.data(),
                         matrix.index.data(), matrix.value.data(), integrality.data());
}

[[nodiscard]] HighsInt pass(void* highs, const LinearProgram& program) {
    const double infinity = Highs_getInfinity(highs);
    std::vector<double> cost;
    for (const std::int64_t value : program.cost) cost.push_back(static_cast<double>(value));
    const std::vector<double> lower(program.columns(), 0.0), upper(program.columns(), infinity);
    Matrix matrix;
    for (std::size_t row = 0; row < program.rows(); ++row) {
        const std::size_t begin = matrix.index.size();
        for (std::size_t i = program.row_begin[row]; i < program.row_begin[row + 1]; ++i) {
            matrix.add(program.entries[i].column, program.entries[i].value);
        }
        const double least = static_cast<double>(program.at_least[row]);
        matrix.end_row(begin, least, program.equal[row] ? least : infinity);
    }
    return Highs_passLp(highs, static_cast<HighsInt>(program.columns()), matrix.rows(), matrix.entries(),
                        kHighsMatrixFormatRowwise, kHighsObjSenseMinimize, 0.0, cost.data(), lower.data(),
                        upper.data(), matrix.lower.data(), matrix.upper.data(), matrix.start.data(),
                        matrix.index.data(), matrix.value.data());
}

/// A hint is given only where it is whole: HiGHS completes a partial one by a search of its own, which can
/// cost more than the hint saves. (The order of intervals it has to find in any case.)
void pass_hints(void* highs, const Program& original) {
    const auto hints = original.hints();
    if (hints.empty() || hints.size() < original.vars()) return;
    std::vector<HighsInt> index;
    std::vector<double> value;
    for (const auto& [var, hinted] : hints) {
        index.push_back(static_cast<HighsInt>(var.index));
        value.push_back(static_cast<double>(hinted));
    }
    // A hint that is refused is no hint; nothing depends on it.
    (void)Highs_setSparseSolution(highs, static_cast<HighsInt>(index.size()), index.data(), value.data());
}

void interrupt_if_stopped(int, const char*, const HighsCallbackDataOut*, HighsCallbackDataIn* in,
                          void* stop) {
    if (in != nullptr && static_cast<const Stop*>(stop)->requested()) in->user_interrupt = 1;
}

/// Quiet, with the limits set. Within half of the objective's unit, a solution is the best: it is an integer.
[[nodiscard]] Highs new_highs(const SolveLimits& limits) {
    Highs highs(Highs_create());
    void* const raw = highs.get();
    bool fine = Highs_setBoolOptionValue(raw, "output_flag", 0) == kHighsStatusOk;
    const auto threads = static_cast<HighsInt>(std::max(1u, limits.threads));
    fine &= Highs_setIntOptionValue(raw, "threads", threads) == kHighsStatusOk;
    fine &= Highs_setIntOptionValue(raw, "random_seed", static_cast<HighsInt>(limits.seed & 0x7fffffff)) ==
            kHighsStatusOk;
    fine &= Highs_setDoubleOptionValue(raw, "mip_rel_gap", 0.0) == kHighsStatusOk;
    fine &= Highs_setDoubleOptionValue(raw, "mip_abs_gap", 0.5) == kHighsStatusOk;
    // The callbacks are not asked everywhere (probing, sub-problems); the time limit is.
    if (const auto remaining = limits.stop.remaining()) {
        fine &= Highs_setDoubleOptionValue(raw, "time_limit", remaining->count()) == kHighsStatusOk;
    }
    // The callback only reads what it points to.
    fine &= Highs_setCallback(raw, interrupt_if_stopped, const_cast<Stop*>(&limits.stop)) == kHighsStatusOk;
    for (const HighsInt kind :
         {kHighsCallbackSimplexInterrupt, kHighsCallbackIpmInterrupt, kHighsCallbackMipInterrupt}) {
        fine &= Highs_startCallback(raw, kind) == kHighsStatusOk;
    }
    if (!fine) highs.reset();
    return highs;
}

[[nodiscard]] std::string status_text(HighsInt model_status) {
    switch (model_status) {
        case kHighsModelStatusOptimal:
            return "optimal";
        case kHighsModelStatusInfeasible:
            return "infeasible";
        case kHighsModelStatusUnbounded:
            return "unbounded";
        case kHighsModelStatusUnboundedOrInfeasible:
            return "unbounded or infeasible";
        case kHighsModelStatusInterrupt:
            return "interrupted";
        case kHighsModelStatusTimeLimit:
            return "time limit";
        case kHighsModelStatusSolutionLimit:
            return "solution found";
        case kHighsModelStatusModelEmpty:
            return "model empty";
        default:
            return "model status " + std::to_string(model_status);
    }
}

/// All variables are bounded, so "unbounded or infeasible" can only be the latter.
[[nodiscard]] Ended ended_as(HighsInt model_status, bool has_solution) {
    switch (model_status) {
        case kHighsModelStatusOptimal:
        case kHighsModelStatusModelEmpty:
            return Ended::Optimal;
        case kHighsModelStatusInfeasible:
        case kHighsModelStatusUnboundedOrInfeasible:
            return Ended::Infeasible;
        case kHighsModelStatusInterrupt:
        case kHighsModelStatusTimeLimit:
        case kHighsModelStatusSolutionLimit:
            return has_solution ? Ended::Feasible : Ended::Stopped;
        default:
            return Ended::Failed;
    }
}

[[nodiscard]] Claim claim_of(void* highs, const Program& program) {
    HighsInt primal = kHighsSolutionStatusNone;
    (void)Highs_getIntInfoValue(highs, "primal_solution_status", &primal);
    const HighsInt status = Highs_getModelStatus(highs);
    const bool found = primal == kHighsSolutionStatusFeasible;
    Claim claim{.ended = ended_as(status, found), .words = status_text(status)};
    std::vector<double> values(static_cast<std::size_t>(Highs_getNumCol(highs)), 0.0);
    (void)Highs_getSolution(highs, values.data(), nullptr, nullptr, nullptr);
    for (std::size_t i = 0; i < program.vars(); ++i) claim.values.push_back(std::llround(values[i]));
    if (program.objective().empty()) {
        if (found) claim.ended = Ended::Optimal;  // any solution will do
        return claim;
    }
    double bound = 0;
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (Highs_getDoubleInfoValue(highs, "mip_dual_bound", &bound) == kHighsStatusOk &&
        std::abs(bound) < kExact) {
        claim.bound = static_cast<std::int64_t>(std::ceil(bound - 1e-5 * std::max(1.0, std::abs(bound))));
    }
    return claim;
}

[[nodiscard]] Claim claim_for(const Program& program, const SolveLimits& limits) {
    if (limits.stop.requested()) return {.ended = Ended::Stopped, .words = "stopped before it began"};
    const Linearised rows = linearise(program);
    if (!rows.refusal.empty()) return {.words = "not for HiGHS: " + rows.refusal};
    if (rows.program.vars() == 0) {  // HiGHS looks at no row of a model without columns
        const bool holds = !program.broken_by({});
        return {.ended = holds ? Ended::Optimal : Ended::Infeasible,
                .words = holds ? "optimal" : "infeasible"};
    }
    const Highs highs = new_highs(limits);
    if (!highs || pass(highs.get(), rows.program, program.guide()) == kHighsStatusError)
        return {.words = "model refused"};
    if (program.objective().empty()) {
        (void)Highs_setIntOptionValue(highs.get(), "mip_max_improving_sols", 1);
    }
    if (!limits.presolve) (void)Highs_setStringOptionValue(highs.get(), "presolve", "off");
    pass_hints(highs.get(), program);
    if (Highs_run(highs.get()) == kHighsStatusError) return {.words = "error"};
    return claim_of(highs.get(), program);
}

[[nodiscard]] LinearAnswer linear_answer(const LinearProgram& program, const SolveLimits& limits) {
    if (limits.stop.requested()) return {.ended = Ended::Stopped, .words = "stopped before it began"};
    const Highs highs = new_highs(limits);
    if (!highs || pass(highs.get(), program) == kHighsStatusError) return {.words = "model refused"};
    HighsInt run = Highs_run(highs.get());
    if (Highs_getModelStatus(highs.get()) == kHighsModelStatusUnboundedOrInfeasible) {
        // Presolve cannot tell which; the simplex method can.
        (void)Highs_setStringOptionValue(highs.get(), "presolve", "off");
        run = Highs_run(highs.get());
    }
    if (run == kHighsStatusError) return {.words = "error"};
    const HighsInt status = Highs_getModelStatus(highs.get());
    LinearAnswer answer{.ended = ended_as(status, false), .words = status_text(status)};
    if (answer.ended != Ended::Optimal) return answer;
    answer.primal.resize(program.columns());
    answer.dual.resize(program.rows());
    (void)Highs_getSolution(highs.get(), answer.primal.data(), nullptr, nullptr, answer.dual.data());
    answer.objective = Highs_getObjectiveValue(highs.get());
    return answer;
}

class HighsBackend final : public Backend {
  public:
    [[nodiscard]] SolverLibrary library() const override {
        return {Highs_version(), library_file(reinterpret_cast<const void*>(&Highs_version))};
    }

    [[nodiscard]] Abilities abilities() const override {
        return {.intervals = true,          // as pairs with an order each: for few intervals
                .conditional_rows = false,  // with a big number
                .hints = true,
                .threads = true,
                .linear_programs = true};
    }

    [[nodiscard]] Answer solve(const Program& program, const SolveLimits& limits) const override {
        const Stopwatch stopwatch;
        Claim claim = std::async(std::launch::async, [&] { return claim_for(program, limits); }).get();
        Answer answer = checked("HiGHS", program, std::move(claim));
        answer.seconds = stopwatch.seconds();
        return answer;
    }

    [[nodiscard]] LinearAnswer solve(const LinearProgram& program, const SolveLimits& limits) const override {
        const Stopwatch stopwatch;
        LinearAnswer answer =
            std::async(std::launch::async, [&] { return linear_answer(program, limits); }).get();
        answer.seconds = stopwatch.seconds();
        return answer;
    }
};

}  // namespace

OpenedBackend open_backend() { return {std::make_unique<HighsBackend>(), {}}; }

}  // namespace tutti::models

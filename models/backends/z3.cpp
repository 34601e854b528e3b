// Z3 through its C++ API, linked into the module tutti_z3.so. Its exceptions end in this file.
//
// Booleans become Bool, other integers Int with bounds; rows of Booleans alone become pseudo-Boolean
// constraints, other rows linear arithmetic; no_overlap becomes a disjunction for every pair that can meet.
//
// The objective is minimised by a plain solver that is asked again and again for something better, in growing
// steps: unlike z3::optimize this can be interrupted with the best so far in hand, and what it has refuted is
// a bound.

#include "models/backends/claim.hpp"
#include "models/backends/library_file.hpp"
#include "models/backends/open_backend.hpp"
#include "models/backends/watcher.hpp"

#include <z3++.h>

#include <algorithm>
#include <sstream>

namespace tutti::models {
namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t kLargest = 1'000'000'000;  ///< sum of coefficients of a pseudo-Boolean constraint

/// The program in Z3's terms, within one solver.
class Z3Program {
  public:
    /// A large program takes seconds to write down: incomplete if stopped on the way.
    Z3Program(z3::context& context, z3::solver& solver, const Program& program, const Stop& stop)
        : context_(context), solver_(solver), program_(program), variables_(context), stop_(stop) {
        add_variables();
        for (std::size_t i = 0; i < program.rows() && may_continue(); ++i) add(program.row(i));
        for (std::size_t i = 0; i < program.choices() && may_continue(); ++i) add(program.choice(i));
        for (std::size_t i = 0; i < program.no_overlaps(); ++i) add_no_overlap(program.no_overlap(i));
    }
    [[nodiscard]] bool is_complete() const { return !stopped_; }

    [[nodiscard]] std::vector<std::int64_t> values(const z3::model& model) const {
        std::vector<std::int64_t> values(program_.vars());
        for (std::uint32_t i = 0; i < values.size(); ++i) {
            const z3::expr value = model.eval(variables_[i], true);
            if (value.is_bool()) {
                values[i] = value.is_true() ? 1 : 0;
            } else if (!value.is_numeral_i64(values[i])) {
                return {};  // not the program's: `checked` will refuse it
            }
        }
        return values;
    }

    [[nodiscard]] z3::expr at_most(std::span<const Term> terms, std::int64_t bound) const {
        const auto counted = as_pseudo_boolean({terms, kMinusInfinity, bound, {}});
        return counted ? *counted : sum(terms) <= context_.int_val(bound);
    }

  private:
    void add_variables() {
        for (std::uint32_t i = 0; i < program_.vars(); ++i) {
            const Var var{i};
            const std::string name = "v" + std::to_string(i);
            if (program_.is_boolean(var)) {
                variables_.push_back(context_.bool_const(name.c_str()));
                continue;
            }
            variables_.push_back(context_.int_const(name.c_str()));
            solver_.add(variables_.back() >= context_.int_val(program_.bounds(var).lower));
            solver_.add(variables_.back() <= context_.int_val(program_.bounds(var).upper));
        }
    }

    [[nodiscard]] z3::expr expression(Var var) const { return variables_[var.index]; }
    [[nodiscard]] z3::expr expression(Literal literal) const {
        const z3::expr variable = expression(literal.var);
        // A Boolean whose bounds have been fixed is an Int here.
        const z3::expr truth = variable.is_bool() ? variable : variable != 0;
        return literal.negated ? !truth : truth;
    }

    [[nodiscard]] z3::expr sum(std::span<const Term> terms) const {
        z3::expr_vector parts(context_);
        for (const Term& term : terms) {
            const z3::expr variable = expression(term.var), coefficient = context_.int_val(term.coefficient);
            parts.push_back(variable.is_bool()      ? z3::ite(variable, coefficient, context_.int_val(0))
                            : term.coefficient == 1 ? variable
                                                    : coefficient * variable);
        }
        return parts.empty() ? context_.int_val(0) : z3::sum(parts);
    }

    void add(const Row& row) {
        z3::expr_vector sides(context_);
        if (const auto both = as_pseudo_boolean(row)) {
            sides.push_back(*both);
        } else {
            const z3::expr total = sum(row.terms);
            if (row.lower == row.upper) {
                sides.push_back(total == context_.int_val(row.lower));
            } else {
                if (row.lower != kMinusInfinity) sides.push_back(total >= context_.int_val(row.lower));
                if (row.upper != kPlusInfinity) sides.push_back(total <= context_.int_val(row.upper));
            }
        }
        for (const z3::expr& side : sides) {
            solver_.add(row.only_if ? z3::implies(expression(*row.only_if), side) : side);
        }
    }

    /// A row of Booleans alone, where its numbers fit into the ints of that interface.
    [[nodiscard]] std::optional<z3::expr> as_pseudo_boolean(const Row& row) const {
        std::vector<int> coefficients;
        z3::expr_vector literals(context_);
        Wide negative = 0, total = 0;  // a negative coefficient is that of the negated literal
        for (const Term& term : row.terms) {
            const z3::expr variable = expression(term.var);
            if (!variable.is_bool()) return std::nullopt;
            const Wide size = term.coefficient < 0 ? -Wide{term.coefficient} : Wide{term.coefficient};
            total += size;
            if (term.coefficient < 0) negative += size;
            if (total > kLargest) return std::nullopt;
            coefficients.push_back(static_cast<int>(size));
            literals.push_back(term.coefficient < 0 ? !variable : variable);
        }
        if (row.terms.empty()) return std::nullopt;
        z3::expr both = context_.bool_val(true);
        if (row.lower != kMinusInfinity) {
            const Wide least = row.lower + negative;
            if (least > total) return context_.bool_val(false);
            if (least > 0) both = z3::pbge(literals, coefficients.data(), static_cast<int>(least));
        }
        if (row.upper != kPlusInfinity) {
            const Wide most = row.upper + negative;
            if (most < 0) return context_.bool_val(false);
            if (most < total) both = both && z3::pble(literals, coefficients.data(), static_cast<int>(most));
        }
        return both;
    }

    void add(const Choice& choice) {
        z3::expr_vector literals(context_);
        for (const Literal literal : choice.literals) literals.push_back(expression(literal));
        if (choice.promise != Promise::AtMostOne) {
            solver_.add(literals.empty() ? context_.bool_val(false) : z3::mk_or(literals));
        }
        if (choice.promise != Promise::AtLeastOne && literals.size() > 1) {
            solver_.add(z3::atmost(literals, 1));
        }
    }

    [[nodiscard]] bool may_continue() {
        constexpr std::size_t kBetweenPolls = 1000;
        if (++written_ % kBetweenPolls == 0 && stop_.requested()) stopped_ = true;
        return !stopped_;
    }

    void add_no_overlap(std::span<const Interval> intervals) {
        const auto meet = [&](const Interval& a, const Interval& b) {
            return Wide{program_.bounds(a.start).upper} + a.offset + a.duration >
                   Wide{program_.bounds(b.start).lower} + b.offset;
        };
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            for (std::size_t j = i + 1; j < intervals.size(); ++j) {
                const Interval &a = intervals[i], &b = intervals[j];
                if (!may_continue()) return;
                if (meet(a, b) && meet(b, a)) add_disjoint(a, b);
            }
        }
    }

    void add_disjoint(const Interval& a, const Interval& b) {
        const auto before = [&](const Interval& first, const Interval& second) {
            return number(first.start) + context_.int_val(first.offset + first.duration - second.offset) <=
                   number(second.start);
        };
        z3::expr_vector ways(context_);
        ways.push_back(before(a, b));
        ways.push_back(before(b, a));
        for (const Interval* const interval : {&a, &b}) {
            if (interval->present) ways.push_back(expression(!*interval->present));
        }
        solver_.add(z3::mk_or(ways));
    }

    [[nodiscard]] z3::expr number(Var var) const {
        const z3::expr variable = expression(var);
        return variable.is_bool() ? z3::ite(variable, context_.int_val(1), context_.int_val(0)) : variable;
    }

    z3::context& context_;
    z3::solver& solver_;
    const Program& program_;
    z3::expr_vector variables_;
    const Stop& stop_;
    std::size_t written_ = 0;
    bool stopped_ = false;
};

/// Whether a sum of 0/1 variables has coefficients that fit into the ints of Z3's pseudo-Boolean constraints.
[[nodiscard]] bool countable(std::span<const Term> terms) {
    Wide total = 0;
    for (const Term& term : terms)
        total += term.coefficient < 0 ? -Wide{term.coefficient} : Wide{term.coefficient};
    return total <= kLargest;
}

/// No variable but Booleans and no row that takes arithmetic: Z3's own SAT solver can then do it, which is
/// twice as fast and more on what the time-indexed encoding makes.
[[nodiscard]] bool is_propositional(const Program& program) {
    for (std::uint32_t i = 0; i < program.vars(); ++i) {
        if (!program.is_boolean(Var{i})) return false;
    }
    for (std::size_t i = 0; i < program.rows(); ++i) {
        const Row row = program.row(i);
        if (row.terms.empty() || !countable(row.terms)) return false;
    }
    return program.no_overlaps() == 0 && countable(program.objective());
}

/// Rows of one variable or the difference of two, as arrival times make them: Z3 has a theory for those,
/// which is far quicker than arithmetic in general.
[[nodiscard]] bool is_of_differences(const Program& program) {
    for (std::size_t i = 0; i < program.rows(); ++i) {
        const Row row = program.row(i);
        std::int64_t sum = 0;
        for (const Term& term : row.terms) {
            if (term.coefficient != 1 && term.coefficient != -1) return false;
            if (program.is_boolean(term.var)) return false;
            sum += term.coefficient;
        }
        if (row.terms.empty() || row.terms.size() > 2 || (row.terms.size() == 2 && sum != 0)) return false;
    }
    for (std::size_t i = 0; i < program.no_overlaps(); ++i) {
        for (const Interval& interval : program.no_overlap(i)) {
            if (program.is_boolean(interval.start)) return false;
        }
    }
    return program.objective().empty();
}

/// What the objective cannot fall below, whatever the constraints; none if that does not fit.
[[nodiscard]] std::optional<std::int64_t> trivial_bound(const Program& program) {
    Wide least = 0;
    for (const Term& term : program.objective()) {
        const auto [lower, upper] = program.bounds(term.var);
        least += Wide{term.coefficient} * (term.coefficient >= 0 ? lower : upper);
        if (least < kMinusInfinity || least > kPlusInfinity) return std::nullopt;
    }
    return static_cast<std::int64_t>(least);
}

class Z3Backend final : public Backend {
  public:
    [[nodiscard]] SolverLibrary library() const override {
        unsigned major = 0, minor = 0, build = 0, revision = 0;
        Z3_get_version(&major, &minor, &build, &revision);
        std::ostringstream version;
        version << major << '.' << minor << '.' << build << '.' << revision;
        return {version.str(), library_file(reinterpret_cast<const void*>(&Z3_get_version))};
    }

    [[nodiscard]] Abilities abilities() const override {
        return {.intervals = true,
                .conditional_rows = true,
                .hints = false,             // its solver has no phases to be set from outside
                .threads = false,           // parallel.enable is one setting for the whole process
                .linear_programs = false};  // its simplex gives no duals
    }

    using Backend::solve;
    [[nodiscard]] Answer solve(const Program& program, const SolveLimits& limits) const override {
        const Stopwatch stopwatch;
        Claim claim;
        try {
            claim = claim_for(program, limits);
        } catch (const z3::exception& failure) {
            claim = {.words = failure.msg()};
        }
        Answer answer = checked("Z3", program, std::move(claim));
        answer.seconds = stopwatch.seconds();
        return answer;
    }

  private:
    [[nodiscard]] static Claim claim_for(const Program& program, const SolveLimits& limits) {
        if (limits.stop.requested()) return {.ended = Ended::Stopped, .words = "stopped before it began"};
        z3::context context;
        z3::solver solver = is_propositional(program)    ? z3::solver(context, "QF_FD")
                            : is_of_differences(program) ? z3::solver(context, "QF_IDL")
                                                         : z3::solver(context);
        z3::params parameters(context);
        parameters.set("random_seed", static_cast<unsigned>(limits.seed & 0x7fffffff));
        parameters.set("ctrl_c", false);  // the program's own signals are none of its business
        solver.set(parameters);
        const Z3Program z3_program(context, solver, program, limits.stop);
        if (!z3_program.is_complete()) return {.ended = Ended::Stopped, .words = "stopped"};

        const auto check = [&] {
            const Watcher watcher(limits.stop, [&] { context.interrupt(); });
            return solver.check();
        };
        const z3::check_result first = check();
        if (first == z3::unsat) return {.ended = Ended::Infeasible, .words = "unsat"};
        if (first == z3::unknown) return unknown(solver, limits);
        Claim best{.ended = Ended::Optimal, .values = z3_program.values(solver.get_model()), .words = "sat"};
        if (program.objective().empty()) return best;
        improve(best, program, z3_program, solver, limits, check);
        return best;
    }

    /// The step doubles while there is something better, and falls back to 1 when there is not: few questions
    /// where the first solution is poor, and few unsatisfiable ones, which are the hard ones.
    template <typename Check>
    static void improve(Claim& best, const Program& program, const Z3Program& z3_program, z3::solver& solver,
                        const SolveLimits& limits, Check check) {
        best.bound = trivial_bound(program);
        const auto objective = program.objective_of(best.values);
        if (!objective || !best.bound)
            return void(best = {.words = "the objective does not fit into 64 bits"});
        for (std::int64_t value = *objective, step = 1; *best.bound < value;) {
            const std::int64_t target = value - *best.bound <= step ? *best.bound : value - step;
            solver.push();
            solver.add(z3_program.at_most(program.objective(), target));
            const z3::check_result result = check();
            if (result == z3::sat) {
                best.values = z3_program.values(solver.get_model());
                const auto better = program.objective_of(best.values);
                if (!better || *better > target) return void(best = {.words = "sat, but its values are not"});
                value = *better;
                step = step > kPlusInfinity / 2 ? step : 2 * step;
            } else if (result == z3::unsat) {
                best.bound = target + 1;
                step = 1;
            } else {
                best.words = unknown(solver, limits).words;
                best.ended = Ended::Feasible;
                return;
            }
            solver.pop();
        }
    }

    [[nodiscard]] static Claim unknown(const z3::solver& solver, const SolveLimits& limits) {
        return {.ended = limits.stop.requested() ? Ended::Stopped : Ended::Failed,
                .words = "unknown: " + solver.reason_unknown()};
    }
};

}  // namespace

OpenedBackend open_backend() { return {std::make_unique<Z3Backend>(), {}}; }

}  // namespace tutti::models

// The messages of CP-SAT: a program as the bytes of a CpModelProto, limits as those of SatParameters, and
// what a CpSolverResponse says. A model of a million literals is written in one pass, with packed fields.

#include "models/backends/cpsat_messages.hpp"

#include <protozero/exception.hpp>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

namespace tutti::models {
namespace {

// The fields we use of OR-Tools' cp_model.proto and sat_parameters.proto, package operations_research.sat.
// The wheel holds them as ortools/sat/*_pb2.py; a field number never changes its meaning.
using Tag = protozero::pbf_tag_type;
enum class CpModelProto : Tag { Variables = 2, Constraints = 3, Objective = 4, SolutionHint = 6 };
enum class IntegerVariableProto : Tag { Domain = 2 };
enum class ConstraintProto : Tag {
    EnforcementLiteral = 2,
    BoolOr = 3,
    Linear = 12,
    Interval = 19,
    NoOverlap = 20,
    AtMostOne = 26,
    ExactlyOne = 29
};
enum class BoolArgumentProto : Tag { Literals = 1 };
enum class LinearConstraintProto : Tag { Vars = 1, Coeffs = 2, Domain = 3 };
enum class LinearExpressionProto : Tag { Vars = 1, Coeffs = 2, Offset = 3 };
enum class IntervalConstraintProto : Tag { Start = 4, End = 5, Size = 6 };
enum class NoOverlapConstraintProto : Tag { Intervals = 1 };
enum class CpObjectiveProto : Tag { Vars = 1, Coeffs = 4 };
enum class PartialVariableAssignment : Tag { Vars = 1, Values = 2 };
enum class SatParameters : Tag {
    RandomSeed = 31,
    MaxMemoryInMb = 40,
    CpModelPresolve = 86,
    CpModelProbingLevel = 110,
    CatchSigintSignal = 135,
    SymmetryLevel = 183,
    NumWorkers = 206
};
enum class CpSolverResponse : Tag { Status = 1, Solution = 2, BestObjectiveBound = 4, SolutionInfo = 20 };
enum class CpSolverStatus { Unknown = 0, ModelInvalid = 1, Feasible = 2, Infeasible = 3, Optimal = 4 };

[[nodiscard]] std::int32_t number_of(Var var) { return static_cast<std::int32_t>(var.index); }
/// A negated literal is written as -1 - number.
[[nodiscard]] std::int32_t number_of(Literal literal) {
    return literal.negated ? -1 - number_of(literal.var) : number_of(literal.var);
}

/// A program as the bytes of a CpModelProto, in one pass. Names stay at home: nothing reads them there.
class ModelWriter {
  public:
    explicit ModelWriter(const Program& program) : program_(program) {
        bytes_.reserve(16 * program.vars() + 12 * program.size());
        write_variables();
        write_rows();
        write_choices();
        write_no_overlaps();
        write_objective();
        write_hints();
    }
    [[nodiscard]] std::string bytes() && { return std::move(bytes_); }

  private:
    template <typename Message, typename Range>
    static void add_int32s(protozero::pbf_builder<Message>& message, Message field, const Range& range) {
        message.add_packed_int32(field, std::ranges::begin(range), std::ranges::end(range));
    }
    template <typename Message, typename Range>
    static void add_int64s(protozero::pbf_builder<Message>& message, Message field, const Range& range) {
        message.add_packed_int64(field, std::ranges::begin(range), std::ranges::end(range));
    }
    /// Variables and coefficients, two lists in nearly all messages.
    template <typename Message>
    void add_terms(protozero::pbf_builder<Message>& message, std::span<const Term> terms) {
        numbers_.clear();
        coefficients_.clear();
        for (const Term& term : terms) {
            numbers_.push_back(number_of(term.var));
            coefficients_.push_back(term.coefficient);
        }
        add_int32s(message, Message::Vars, numbers_);
        add_int64s(message, Message::Coeffs, coefficients_);
    }

    void write_variables() {
        for (std::uint32_t i = 0; i < program_.vars(); ++i) {
            const auto [lower, upper] = program_.bounds(Var{i});
            protozero::pbf_builder<IntegerVariableProto> variable(model_, CpModelProto::Variables);
            add_int64s(variable, IntegerVariableProto::Domain, std::array{lower, upper});
        }
    }

    void write_rows() {
        for (std::size_t i = 0; i < program_.rows(); ++i) {
            const Row row = program_.row(i);
            protozero::pbf_builder<ConstraintProto> constraint = next_constraint(row.only_if);
            protozero::pbf_builder<LinearConstraintProto> linear(constraint, ConstraintProto::Linear);
            add_terms(linear, row.terms);
            // Our infinities are CP-SAT's: the least and the greatest int64.
            add_int64s(linear, LinearConstraintProto::Domain, std::array{row.lower, row.upper});
        }
    }

    void write_choices() {
        for (std::size_t i = 0; i < program_.choices(); ++i) {
            const Choice choice = program_.choice(i);
            if (choice.literals.empty()) {
                write_choice_of_nothing(choice.promise);
                continue;
            }
            const auto field = choice.promise == Promise::AtLeastOne  ? ConstraintProto::BoolOr
                               : choice.promise == Promise::AtMostOne ? ConstraintProto::AtMostOne
                                                                      : ConstraintProto::ExactlyOne;
            numbers_.clear();
            for (const Literal literal : choice.literals) numbers_.push_back(number_of(literal));
            protozero::pbf_builder<ConstraintProto> constraint = next_constraint({});
            protozero::pbf_builder<BoolArgumentProto> list(constraint, field);
            add_int32s(list, BoolArgumentProto::Literals, numbers_);
        }
    }

    /// protozero leaves out an empty message, and with it the constraint around it.
    void write_choice_of_nothing(Promise promise) {
        if (promise == Promise::AtMostOne) return;
        protozero::pbf_builder<ConstraintProto> constraint = next_constraint({});
        protozero::pbf_builder<LinearConstraintProto> linear(constraint, ConstraintProto::Linear);
        add_int64s(linear, LinearConstraintProto::Domain, std::array{std::int64_t{1}, std::int64_t{1}});
    }

    /// An interval is a constraint of its own, which no_overlap names by its place in the list of
    /// constraints.
    void write_no_overlaps() {
        for (std::size_t i = 0; i < program_.no_overlaps(); ++i) {
            if (program_.no_overlap(i).empty()) continue;  // see write_choice_of_nothing
            std::vector<std::int32_t> places;
            for (const Interval& interval : program_.no_overlap(i)) {
                places.push_back(constraints_);
                protozero::pbf_builder<ConstraintProto> constraint = next_constraint(interval.present);
                protozero::pbf_builder<IntervalConstraintProto> message(constraint,
                                                                        ConstraintProto::Interval);
                add_expression(message, IntervalConstraintProto::Start, interval.start, interval.offset);
                add_expression(message, IntervalConstraintProto::End, interval.start,
                               interval.offset + interval.duration);
                add_expression(message, IntervalConstraintProto::Size, {}, interval.duration);
            }
            protozero::pbf_builder<ConstraintProto> constraint = next_constraint({});
            protozero::pbf_builder<NoOverlapConstraintProto> list(constraint, ConstraintProto::NoOverlap);
            add_int32s(list, NoOverlapConstraintProto::Intervals, places);
        }
    }

    static void add_expression(protozero::pbf_builder<IntervalConstraintProto>& interval,
                               IntervalConstraintProto field, std::optional<Var> var, std::int64_t offset) {
        protozero::pbf_builder<LinearExpressionProto> expression(interval, field);
        if (var) {
            add_int32s(expression, LinearExpressionProto::Vars, std::array{number_of(*var)});
            add_int64s(expression, LinearExpressionProto::Coeffs, std::array{std::int64_t{1}});
        }
        expression.add_int64(LinearExpressionProto::Offset, offset);
    }

    void write_objective() {
        if (program_.objective().empty()) return;
        protozero::pbf_builder<CpObjectiveProto> objective(model_, CpModelProto::Objective);
        add_terms(objective, program_.objective());
    }

    void write_hints() {
        const auto hints = program_.hints();
        if (hints.empty()) return;
        numbers_.clear();
        coefficients_.clear();
        for (const auto& [var, value] : hints) {
            numbers_.push_back(number_of(var));
            coefficients_.push_back(value);
        }
        protozero::pbf_builder<PartialVariableAssignment> message(model_, CpModelProto::SolutionHint);
        add_int32s(message, PartialVariableAssignment::Vars, numbers_);
        add_int64s(message, PartialVariableAssignment::Values, coefficients_);
    }

    [[nodiscard]] protozero::pbf_builder<ConstraintProto> next_constraint(std::optional<Literal> only_if) {
        ++constraints_;
        protozero::pbf_builder<ConstraintProto> constraint(model_, CpModelProto::Constraints);
        if (only_if) {
            add_int32s(constraint, ConstraintProto::EnforcementLiteral, std::array{number_of(*only_if)});
        }
        return constraint;
    }

    const Program& program_;
    std::string bytes_;
    protozero::pbf_builder<CpModelProto> model_{bytes_};
    std::int32_t constraints_ = 0;
    std::vector<std::int32_t> numbers_;       // scratch
    std::vector<std::int64_t> coefficients_;  // scratch
};

}  // namespace

std::string model_bytes(const Program& program) { return ModelWriter(program).bytes(); }

/// Linearisation stays at its default: level 2 was 10 to 60 times slower on our programs. SIGINT is the
/// command's.
std::string parameter_bytes(const SolveLimits& limits) {
    std::string bytes;
    protozero::pbf_builder<SatParameters> parameters(bytes);
    parameters.add_int32(SatParameters::RandomSeed, static_cast<std::int32_t>(limits.seed & 0x7fffffff));
    parameters.add_int32(SatParameters::NumWorkers, static_cast<std::int32_t>(std::max(1u, limits.threads)));
    parameters.add_bool(SatParameters::CatchSigintSignal, false);
    if (!limits.presolve) {
        parameters.add_bool(SatParameters::CpModelPresolve, false);
        parameters.add_int32(SatParameters::CpModelProbingLevel, 0);
        parameters.add_int32(SatParameters::SymmetryLevel, 0);
    }
    if (limits.memory_bytes) {
        parameters.add_int64(SatParameters::MaxMemoryInMb,
                             static_cast<std::int64_t>(std::max<std::size_t>(1, *limits.memory_bytes >> 20)));
    }
    return bytes;
}

namespace {

[[nodiscard]] std::string status_text(CpSolverStatus status) {
    switch (status) {
        case CpSolverStatus::Unknown:
            return "unknown";
        case CpSolverStatus::ModelInvalid:
            return "model invalid";
        case CpSolverStatus::Feasible:
            return "feasible";
        case CpSolverStatus::Infeasible:
            return "infeasible";
        case CpSolverStatus::Optimal:
            return "optimal";
    }
    return "status " + std::to_string(static_cast<int>(status));
}

[[nodiscard]] Ended ended_as(CpSolverStatus status) {
    switch (status) {
        case CpSolverStatus::Unknown:
            return Ended::Stopped;
        case CpSolverStatus::Feasible:
            return Ended::Feasible;
        case CpSolverStatus::Infeasible:
            return Ended::Infeasible;
        case CpSolverStatus::Optimal:
            return Ended::Optimal;
        default:
            return Ended::Failed;
    }
}

}  // namespace

/// A field that is missing has its default, as proto3 wants it: status unknown, bound 0.
Claim claim_of(const std::string& response) try {
    auto status = CpSolverStatus::Unknown;
    double bound = 0;
    Claim claim;
    std::string remark;
    protozero::pbf_message<CpSolverResponse> message(response);
    while (message.next()) {
        switch (message.tag()) {
            case CpSolverResponse::Status:
                status = static_cast<CpSolverStatus>(message.get_enum());
                break;
            case CpSolverResponse::Solution: {
                const auto values = message.get_packed_int64();
                claim.values.assign(values.begin(), values.end());
                break;
            }
            case CpSolverResponse::BestObjectiveBound:
                bound = message.get_double();
                break;
            case CpSolverResponse::SolutionInfo:
                remark = message.get_string();
                break;
            default:
                message.skip();
        }
    }
    claim.ended = ended_as(status);
    claim.words = status_text(status);
    if (status == CpSolverStatus::ModelInvalid && !remark.empty()) claim.words += ": " + remark;
    // An unknown bound is said as -infinity. Beyond 2^53 a double no longer counts integers.
    constexpr double kExact = 9007199254740992.0;
    if (std::abs(bound) < kExact) claim.bound = static_cast<std::int64_t>(std::ceil(bound - 1e-6));
    return claim;
} catch (const protozero::exception& failure) {
    return {.words = std::string("response cannot be read: ") + failure.what()};
}

}  // namespace tutti::models

// CP-SAT, the constraint solver of OR-Tools, through the C API that libortools exports: bytes of a
// CpModelProto and of SatParameters in, bytes of a CpSolverResponse out. protozero writes and reads them, so
// that no header of OR-Tools and no protobuf is needed to build.
//
// libortools carries its own HiGHS, protobuf, abseil, SCIP and zlib. It is therefore loaded, not linked, with
// RTLD_LOCAL, so that nobody else sees its symbols, and RTLD_DEEPBIND, so that it sees its own HiGHS and not
// the newer one that we link. AddressSanitizer refuses RTLD_DEEPBIND (its malloc would be bypassed); a
// sanitized build loads without it. Then libortools' calls into HiGHS would meet ours, but CP-SAT makes none:
// it solves its linear programs with Glop. (Tried under ASan with 8 workers on a knapsack of 60 integers and
// 25 rows: the same optimum as without, and no report.)
//
// Memory: the response is malloc'ed by libortools and ours to free. Under RTLD_DEEPBIND "its malloc" is the C
// library's even where the program has another (a preloaded jemalloc, say), so the matching free is looked up
// in the same scope. The library is never unloaded, for we do not know that abseil and protobuf survive it.

#include "models/backends/library_file.hpp"
#include "models/backends/openers.hpp"

#include <dlfcn.h>
#include <protozero/exception.hpp>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>

namespace tutti::models {
namespace {

// The fields we use of OR-Tools' cp_model.proto and sat_parameters.proto, package operations_research.sat.
// The wheel holds them as ortools/sat/*_pb2.py; a field number never changes its meaning.
enum class CpModelProto : protozero::pbf_tag_type { Variables = 2, Constraints = 3, Objective = 4 };
enum class IntegerVariableProto : protozero::pbf_tag_type { Name = 1, Domain = 2 };
enum class ConstraintProto : protozero::pbf_tag_type { Linear = 12 };
enum class LinearConstraintProto : protozero::pbf_tag_type { Vars = 1, Coeffs = 2, Domain = 3 };
enum class CpObjectiveProto : protozero::pbf_tag_type { Vars = 1, ScalingFactor = 3, Coeffs = 4 };
enum class SatParameters : protozero::pbf_tag_type { RandomSeed = 31, NumWorkers = 206 };
enum class CpSolverResponse : protozero::pbf_tag_type { Status = 1, ObjectiveValue = 3 };
enum class CpSolverStatus { Unknown = 0, ModelInvalid = 1, Feasible = 2, Infeasible = 3, Optimal = 4 };

constexpr auto kNoLowerBound = std::numeric_limits<std::int64_t>::min();

template <typename Message>
void add_int32s(protozero::pbf_builder<Message>& message, Message field,
                std::initializer_list<std::int32_t> values) {
    message.add_packed_int32(field, values.begin(), values.end());
}

template <typename Message>
void add_int64s(protozero::pbf_builder<Message>& message, Message field,
                std::initializer_list<std::int64_t> values) {
    message.add_packed_int64(field, values.begin(), values.end());
}

/// CP-SAT minimises; a scaling factor of -1 makes it report what the negated objective maximises.
[[nodiscard]] std::string toy_model() {
    std::string bytes;
    protozero::pbf_builder<CpModelProto> model(bytes);
    for (const char* const name : {"x", "y"}) {
        protozero::pbf_builder<IntegerVariableProto> variable(model, CpModelProto::Variables);
        variable.add_string(IntegerVariableProto::Name, name);
        add_int64s(variable, IntegerVariableProto::Domain, {kToy.lower, kToy.upper});
    }
    for (const ToyRow& row : kToy.rows) {
        protozero::pbf_builder<ConstraintProto> constraint(model, CpModelProto::Constraints);
        protozero::pbf_builder<LinearConstraintProto> linear(constraint, ConstraintProto::Linear);
        add_int32s(linear, LinearConstraintProto::Vars, {0, 1});
        add_int64s(linear, LinearConstraintProto::Coeffs, {row.x, row.y});
        add_int64s(linear, LinearConstraintProto::Domain, {kNoLowerBound, row.at_most});
    }
    protozero::pbf_builder<CpObjectiveProto> objective(model, CpModelProto::Objective);
    add_int32s(objective, CpObjectiveProto::Vars, {0, 1});
    objective.add_double(CpObjectiveProto::ScalingFactor, -1.0);
    add_int64s(objective, CpObjectiveProto::Coeffs, {-kToy.x, -kToy.y});
    return bytes;
}

[[nodiscard]] std::string toy_parameters() {
    std::string bytes;
    protozero::pbf_builder<SatParameters> parameters(bytes);
    parameters.add_int32(SatParameters::RandomSeed, 1);
    parameters.add_int32(SatParameters::NumWorkers, 1);
    return bytes;
}

[[nodiscard]] std::string word_for(CpSolverStatus status) {
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

/// A field that is missing has its default, as proto3 wants it: status unknown, objective 0.
[[nodiscard]] ToyAnswer toy_answer(const std::string& response) {
    auto status = CpSolverStatus::Unknown;
    double objective = 0.0;
    protozero::pbf_message<CpSolverResponse> message(response);
    while (message.next()) {
        switch (message.tag()) {
            case CpSolverResponse::Status:
                status = static_cast<CpSolverStatus>(message.get_enum());
                break;
            case CpSolverResponse::ObjectiveValue:
                objective = message.get_double();
                break;
            default:
                message.skip();
        }
    }
    return {status == CpSolverStatus::Optimal, std::llround(objective), word_for(status)};
}

#ifdef __SANITIZE_ADDRESS__
constexpr int kBinding = 0;
#else
constexpr int kBinding = RTLD_DEEPBIND;
#endif

using SolveFunction = void(const void* model, int model_size, const void* parameters, int parameters_size,
                           void** response, int* response_size);
using FreeFunction = void(void*);
using VersionFunction = int();

constexpr const char* kSolve = "SolveCpModelWithParameters";
// operations_research::OrToolsMajorVersion() and its siblings: plain ints, hence safe to call by mangled
// name.
constexpr std::array kVersionParts{"_ZN19operations_research19OrToolsMajorVersionEv",
                                   "_ZN19operations_research19OrToolsMinorVersionEv",
                                   "_ZN19operations_research19OrToolsPatchVersionEv"};

template <typename Function>
[[nodiscard]] Function* find(void* library, const char* symbol) {
    return reinterpret_cast<Function*>(dlsym(library, symbol));
}

class CpsatBackend final : public Backend {
  public:
    /// `library` comes from dlopen and has kSolve.
    explicit CpsatBackend(void* library)
        : library_(library),
          solve_(find<SolveFunction>(library, kSolve)),
          free_(kBinding == 0 ? &std::free : find<FreeFunction>(library, "free")) {}

    [[nodiscard]] SolverLibrary library() const override {
        std::string version;
        for (const char* const part : kVersionParts) {
            auto* const number = find<VersionFunction>(library_, part);
            if (number == nullptr) return {"unknown", library_file(library_, kSolve)};
            if (!version.empty()) version += '.';
            version += std::to_string(number());
        }
        return {version, library_file(library_, kSolve)};
    }

    [[nodiscard]] ToyAnswer solve_toy() const override {
        try {
            return toy_answer(response_to(toy_model(), toy_parameters()));
        } catch (const protozero::exception& failure) {
            return {.status = std::string("response cannot be read: ") + failure.what()};
        }
    }

  private:
    [[nodiscard]] std::string response_to(const std::string& model, const std::string& parameters) const {
        void* response = nullptr;
        int size = 0;
        solve_(model.data(), static_cast<int>(model.size()), parameters.data(),
               static_cast<int>(parameters.size()), &response, &size);
        const std::unique_ptr<void, FreeFunction*> owner(response, free_);
        return {static_cast<const char*>(response), static_cast<std::size_t>(size)};
    }

    void* library_;
    SolveFunction* solve_;
    FreeFunction* free_;
};

}  // namespace

OpenedBackend open_cpsat() {
    const char* const chosen = std::getenv("TUTTI_ORTOOLS");
    const bool from_user = chosen != nullptr && *chosen != '\0';
    const std::string file = from_user ? chosen : TUTTI_ORTOOLS_LIBRARY;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | kBinding);
    if (library == nullptr) {
        return {nullptr,
                std::string("cannot be loaded: ") + dlerror() +
                    (from_user ? " (named by TUTTI_ORTOOLS)" : " (TUTTI_ORTOOLS may name another file)")};
    }
    if (dlsym(library, kSolve) == nullptr) return {nullptr, file + " has no " + kSolve};
    return {std::make_unique<CpsatBackend>(library), {}};
}

}  // namespace tutti::models

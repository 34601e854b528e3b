#pragma once

#include "models/linear_program.hpp"
#include "models/program.hpp"

#include "core/stop.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::models {

/// What a solver can take. A "no" has its reason beside it in the backend's file.
struct Abilities {
    bool intervals = false;         ///< no_overlap: natively, or by a form of its own that works
    bool conditional_rows = false;  ///< rows with only_if, without a big number
    bool hints = false;             ///< a hint may speed it up (else it is ignored)
    bool threads = false;           ///< uses more than one thread if told so
    bool linear_programs = false;   ///< solve(LinearProgram)
};

struct SolveLimits {
    Stop stop;  ///< polled often; a solver ends within about a second of it, or later if the model is large
    unsigned threads = 1;
    std::uint64_t seed = 1;
    std::optional<std::size_t> memory_bytes = {};  ///< where the solver can limit itself
    /// Not before `stop`: from then on nobody waits for the answer. Only a solver in a process of its own
    /// (models/remote) can be made to heed it. None: the same as `stop`.
    std::optional<Stop> must_end = {};
};

/// Why a solve ended. Infeasible and Optimal are proofs (as far as the solver is to be believed).
enum class Ended { Optimal, Infeasible, Feasible, Stopped, Failed };

struct Answer {
    Ended ended = Ended::Failed;
    std::vector<std::int64_t> values = {};       ///< of every variable, when Optimal or Feasible
    std::optional<std::int64_t> objective = {};  ///< of `values`
    std::optional<std::int64_t> bound = {};      ///< no solution has a smaller objective
    std::string words = {};                      ///< the solver's own status, for people
    double seconds = 0;

    [[nodiscard]] bool has_solution() const { return ended == Ended::Optimal || ended == Ended::Feasible; }
};

/// The answer to a linear program, in floating point: a claim, to be checked by who uses it.
struct LinearAnswer {
    Ended ended = Ended::Failed;
    double objective = 0;
    std::vector<double> primal = {};  ///< per column
    std::vector<double> dual = {};    ///< per row; >= 0 where the row is an inequality
    std::string words = {};
    double seconds = 0;
};

/// The solver's library as this process has loaded it: asked of the library itself, not of its headers.
struct SolverLibrary {
    std::string version;
    std::string file;
};

/// A solver behind glass. Its headers are included by one file in models/backends and nowhere else.
/// One thread at a time may use a backend; several backends may live side by side, also of one solver.
/// Nothing it does throws but std::bad_alloc: a solver that fails says so in the answer.
class Backend {
  public:
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    [[nodiscard]] virtual SolverLibrary library() const = 0;
    [[nodiscard]] virtual Abilities abilities() const = 0;

    /// Without an objective the first solution found ends it, as Optimal. Precondition: no `no_overlap`
    /// unless abilities().intervals. Values are checked against the program before they are returned: what
    /// does not solve it makes the answer Failed.
    [[nodiscard]] virtual Answer solve(const Program& program, const SolveLimits& limits) const = 0;

    /// Precondition: abilities().linear_programs.
    [[nodiscard]] virtual LinearAnswer solve(const LinearProgram& program, const SolveLimits& limits) const;
};

/// The settings with which a backend solves, in one line, for certificates.
[[nodiscard]] std::string parameters_of(const SolveLimits& limits);

/// A program of two integers, small enough to be solved by eye, that proves a solver to be alive:
/// maximise 3x + 2y subject to x + y <= 4, x + 3y <= 6, x <= 3. The answer is 11 (here -11, minimised), at
/// (3, 1).
[[nodiscard]] Program toy();
inline constexpr std::int64_t kToyOptimum = -11;

}  // namespace tutti::models

#pragma once

#include "models/linear_program.hpp"
#include "models/program.hpp"

#include "core/stop.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::models {

/// What a solver supports. The backend's file has the reason for each "no".
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
    /// Not before `stop`: after this the answer is no longer awaited. Only a solver in a helper process
    /// (models/remote) can be forced to end then. None: the same as `stop`.
    std::optional<Stop> must_end = {};
    /// Whether the solver may rewrite the program first, where that can be turned off. It makes hard
    /// questions easier, but takes several times as long as answering many easy ones does.
    bool presolve = true;
};

/// Why a solve ended. Infeasible and Optimal are proofs (if the solver is correct).
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

/// The answer to a linear program, in floating point: a claim that the caller must check.
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

/// The interface to a solver. The solver's headers are included by one file in models/backends and nowhere
/// else. One thread at a time may use a backend; several backends may exist at once, also of one solver. Only
/// std::bad_alloc is thrown: a solver's failure is in the answer.
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

/// A program of two integers that tests whether a solver works:
/// maximise 3x + 2y subject to x + y <= 4, x + 3y <= 6, x <= 3. The answer is 11 (here -11, minimised), at
/// (3, 1).
[[nodiscard]] Program toy();
inline constexpr std::int64_t kToyOptimum = -11;

}  // namespace tutti::models

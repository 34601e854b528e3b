#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::models {

/// One row of the toy: x and y times their coefficients are at most `at_most`.
struct ToyRow {
    std::int64_t x, y, at_most;
};

/// A program of two integers, small enough to be solved by eye, that proves a solver to be alive:
/// maximise 3x + 2y subject to x + y <= 4, x + 3y <= 6, x <= 3. The answer is 11, at (3, 1).
struct Toy {
    std::int64_t x = 3, y = 2;
    std::array<ToyRow, 3> rows{{{1, 1, 4}, {1, 3, 6}, {1, 0, 3}}};
    std::int64_t lower = 0, upper = 10;
    std::int64_t optimum = 11;
};
inline constexpr Toy kToy{};

/// What a solver claims about the toy. `status` is the solver's own word, for people to read.
struct ToyAnswer {
    bool optimal = false;
    std::int64_t objective = 0;
    std::string status;

    [[nodiscard]] bool right() const { return optimal && objective == kToy.optimum; }
};

/// The solver's library as this process has loaded it: asked of the library itself, not of its headers.
struct SolverLibrary {
    std::string version;
    std::string file;
};

/// A solver behind glass. Its headers are included by one file in models/backends and nowhere else.
/// One thread at a time may use a backend; several backends may live side by side.
class Backend {
  public:
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    [[nodiscard]] virtual SolverLibrary library() const = 0;

    /// Solves kToy. A solver that fails says so in `status`; it does not throw.
    [[nodiscard]] virtual ToyAnswer solve_toy() const = 0;
};

}  // namespace tutti::models

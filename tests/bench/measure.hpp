#pragma once

#include "core/instance.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tutti::bench {

enum class Encoding { TimeIndexed, Intervals, Symmetric };

/// One solver with one encoding.
struct Contestant {
    std::string_view title;  ///< of its column
    std::string_view backend;
    Encoding encoding;
};

/// How far somebody got with an instance.
struct Measured {
    std::optional<Ticks> makespan = {};  ///< of the best schedule
    std::optional<Ticks> bound = {};
    std::optional<Ticks> composed = {};  ///< of an all-reduce: the best of two halves, if proven
    double seconds = 0;                  ///< of processor time
    std::string who = {};                ///< found it, or proved it
    std::string trouble = {};            ///< a crash, or why it cannot even try

    [[nodiscard]] bool proven() const { return makespan && bound && *makespan <= *bound; }
};

struct Limits {
    double seconds = 60;  ///< of processor time
    std::size_t bytes = std::size_t{8} << 30;
    bool story = false;  ///< tell on stderr how it goes
};

/// The walk with one encoding alone: from the best bound that needs no solver upwards, one horizon at a time,
/// without greedy's help, until a schedule is found (and verified). A symmetric encoding that finds none asks
/// the full one.
[[nodiscard]] Measured alone(const Instance& instance, const Contestant& who, const Limits& limits);

/// `--method auto`, as a user has it. Of an all-reduce also the composition, by itself if `auto` did not need
/// it.
[[nodiscard]] Measured automatically(const Instance& instance, const Limits& limits);

/// "OR-Tools CP-SAT 9.15, HiGHS 1.10, …": the solvers that are there.
[[nodiscard]] std::string solvers();

}  // namespace tutti::bench

#pragma once

#include "core/schedule.hpp"
#include "heuristics/exchange/exchanges.hpp"
#include "heuristics/spread.hpp"
#include "heuristics/trees/pipelined_all_reduce.hpp"
#include "symmetry/symmetric_schedule.hpp"

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tutti::heuristics {

/// The properties of a problem that decide which heuristics are tried on it.
struct SpreadTraits {
    std::size_t sends = 1;  ///< about
    std::size_t nodes = 0;
    bool unicast = true;  ///< every chunk has one target
    bool whole = true;    ///< every chunk goes to every NPU
    bool alike = true;    ///< there are several chunks, and all have the same holders
    bool direct = true;   ///< every hop is a link between NPUs
};
[[nodiscard]] SpreadTraits traits_of(const SpreadProblem& problem);

/// Solves one phase of an instance: reductions, backwards, or everything else.
struct PhaseHeuristic {
    /// Why it cannot solve the problem, as a message; empty if it can.
    std::string (*why_not)(const SpreadProblem&);
    /// Whether the portfolio tries it. Those that are tried run in the table's order.
    bool (*is_tried)(const SpreadTraits&, const SearchOptions&);
    /// Its tries are those of the portfolio divided by this, at least one.
    std::size_t tries_divisor;
    /// The best of that many tries. None: it cannot solve the problem, or `stop` came first.
    std::optional<SpreadSolution> (*run)(const SpreadProblem&, Rng&, const Stop&, std::size_t tries);
};
inline constexpr std::size_t kOneTry = std::numeric_limits<std::size_t>::max();

/// Improves a solution of a phase by local search. Alone it starts from tree-insertion.
struct Improvement {
    std::string (*why_not)(const SpreadProblem&);
    SpreadSolution (*run)(const SpreadProblem&, SpreadSolution, Rng&, const Stop&, std::uint64_t moves);
};

/// Both phases of all-reduces at once.
struct FlowHeuristic {
    std::optional<PipelinedAllReduce> (*run)(const SpreadProblem& gather, const SpreadProblem& spread, Rng&,
                                             const Stop&);
};

/// A whole instance as a schedule in generator form.
struct OrbitHeuristic {
    std::string (*why_not)(const Instance&);
    std::optional<symmetry::SymmetricSchedule> (*run)(const Instance&, Ticks target, Rng&, const Stop&,
                                                      std::uint64_t effort);
};

/// A whole instance at once, in time linear in its sends.
struct DirectHeuristic {
    std::string (*why_not)(const Instance&);
    /// Whether it is tried before the portfolio.
    bool (*is_tried)(const Instance&);
    std::optional<Schedule> (*run)(const Instance&, const Stop&);
};

/// A textbook algorithm on a whole instance: its messages in rounds or along trees.
struct ExchangeHeuristic {
    std::string (*why_not)(const Instance&);
    std::optional<Schedule> (*run)(const Exchanges&, Ticks target, const ExchangeTurn&);
    /// What it takes, about; null: there is no estimate, and the table's order counts.
    Ticks (*estimate)(const Exchanges&) = nullptr;
};

/// A row of the table.
struct Heuristic {
    std::string_view name;
    std::string_view help;  ///< one sentence
    std::variant<OrbitHeuristic, PhaseHeuristic, Improvement, FlowHeuristic, DirectHeuristic,
                 ExchangeHeuristic>
        how;

    template <class How>
    [[nodiscard]] const How* as() const {
        return std::get_if<How>(&how);
    }
};

/// Every heuristic, in the order in which they are tried (heuristic_table.cpp).
[[nodiscard]] std::span<const Heuristic> heuristics();
/// The row of that name, or null.
[[nodiscard]] const Heuristic* find_heuristic(std::string_view name);

/// Names that are used outside the table.
inline constexpr std::string_view kSymmetry = "symmetry";
inline constexpr std::string_view kSymmetricTrees = "symmetric-trees";
inline constexpr std::string_view kSynchronousSteps = "synchronous-steps";
inline constexpr std::string_view kTreeInsertion = "tree-insertion";
inline constexpr std::string_view kRuinAndRecreate = "ruin-and-recreate";
inline constexpr std::string_view kPipelinedAllReduce = "pipelined-all-reduce";
inline constexpr std::string_view kRing = "ring";
inline constexpr std::string_view kLevelRounds = "level-rounds";
inline constexpr std::string_view kSwitchSums = "switch-sums";
inline constexpr std::string_view kMessageOrders = "message-orders";
inline constexpr std::string_view kBroadcastRounds = "broadcast-rounds";
inline constexpr std::string_view kGrownTrees = "grown-trees";

}  // namespace tutti::heuristics

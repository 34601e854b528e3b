#pragma once

#include "core/candidate.hpp"
#include "core/instance.hpp"
#include "core/outcome.hpp"
#include "core/search_options.hpp"
#include "core/stop.hpp"
#include "symmetry/symmetric_schedule.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tutti::synth {

struct Result {
    Status status = Status::Unknown;
    std::string method;  ///< what made the schedule
    /// Which heuristic, if one did: a name of heuristics(), or two joined by " + ", where one made the sums
    /// and another distributed the chunks. Else empty.
    std::string heuristic = {};
    std::vector<Candidate> candidates = {};  ///< what each heuristic reached that had a turn
    std::string proof;                       ///< why it is optimal, or why that is not known; one sentence
    Schedule schedule;                       ///< verified; without sends where there are too many to hold
    /// Where there are too many to hold: the schedule in generator form, verified as such. Else, if this is
    /// empty too, they went through the request's tap.
    std::optional<symmetry::SymmetricSchedule> symmetric = {};
    std::uint64_t sends = 0;
    std::vector<Ticks> finish = {};          ///< when each collective is finished (Verdict::finish)
    Bound bound;                             ///< the best lower bound known
    std::vector<SkippedBound> skipped = {};  ///< bounds that were not computed, or not completely
    /// Of an all-reduce: the best makespan of a reduce-scatter followed by an all-gather, if both were
    /// proven.
    std::optional<Ticks> composed = {};
    std::map<std::string, std::string> solver_versions = {};  ///< of the solvers that were asked
    bool stopped = false;  ///< the request ended the search, and a longer one may find more
    double seconds = 0;
};

/// Takes a schedule by whoever is named. Returns whether it was valid and shorter than what there was.
using ProposalTaker = std::function<bool(std::string_view who, const Schedule& schedule)>;
/// Schedules that somebody else knows for an instance: calls the taker for those that are shorter than
/// `below`, which need not be valid. It ends soon after the stop.
using Proposals =
    std::function<void(const Instance& instance, Ticks below, const Stop& stop, const ProposalTaker& take)>;

struct Request {
    std::string method = "auto";  ///< a name of methods()
    /// A name of heuristics(): only this one is asked, and no solver. Only with the methods auto and greedy.
    std::string heuristic = {};
    SearchOptions options = {};
    std::uint64_t seed = 1;
    unsigned threads = 1;
    /// Within about half a second of it synthesize() returns, with the best so far: solvers that would not
    /// hear it work in a helper process, which is killed (models/remote). Without a helper program it is
    /// as long as the solver takes to hear it.
    Stop stop;
    std::optional<std::size_t> memory_bytes = {};  ///< beyond it the search ends with the best so far
    /// Told, one line at a time, how the synthesis goes. May be empty.
    std::function<void(const std::string&)> story = {};
    /// A schedule too large to hold is verified while it is made. Who wants its sends gives a function that
    /// wraps the source of the sends in one that also keeps them (io::TeeSource); they count only once
    /// synthesize() has returned. May be empty: then nobody has them.
    std::function<std::unique_ptr<SendSource>(SendSource&)> tap = {};
    /// Asked where the heuristics do not meet the bound. What it offers is verified, and forgotten where it
    /// is wrong or no better. May be empty.
    Proposals proposals = {};
    /// Told whenever there is a better schedule or bound: the makespan (none before there is a schedule) and
    /// the bound. What it is told is verified. May be empty.
    std::function<void(std::optional<Ticks> makespan, std::optional<Ticks> bound)> found = {};
};

/// The methods there are, with a sentence for each.
struct Method {
    std::string_view name;
    std::string_view help;
};
[[nodiscard]] std::span<const Method> methods();
/// The same for the heuristics that greedy chooses from.
[[nodiscard]] std::vector<Method> heuristics();

/// Schedules of more sends are not held in memory, if they can be made otherwise.
inline constexpr std::uint64_t kMostSendsHeld = 20'000'000;

/// Finds a schedule, verifies it and bounds how good it can be. Throws InfeasibleError when a receiver cannot
/// be reached, LimitError when the request stops it before there is a schedule or no solver is there for an
/// exact method, InternalError when a schedule or a bound does not stand its check, InputError for an unknown
/// method or heuristic, and for a heuristic that does not apply to the instance.
[[nodiscard]] Result synthesize(const Instance& instance, const Request& request);

}  // namespace tutti::synth

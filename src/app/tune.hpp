#pragma once

#include "app/json.hpp"
#include "app/tensor_sizes.hpp"
#include "app/watch.hpp"
#include "tune/tune.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

struct TuneOptions {
    std::string program{}, topology{}, device{};  ///< files
    std::string output{};                         ///< a folder; empty: nothing is written
    std::vector<std::int64_t> pieces{4, 8, 16};
    std::optional<double> memory_GB{};   ///< of state, of a rank
    std::size_t top = 10;                ///< rows of the table
    std::optional<double> time_limit{};  ///< seconds, of the search
    std::size_t measure = 0;             ///< so many of the best are run here
    TensorSizes sizes{};                 ///< instead of the program's own
    friend bool operator==(const TuneOptions&, const TuneOptions&) = default;
};

/// A collective of the best schedule, with its files in the folder.
struct TunedCall {
    tune::Call call{};
    std::string words{};
    std::vector<std::string> axes{};
    std::uint64_t chunks = 1;
    Ticks makespan{}, lower_bound{};
    std::string method{};
    std::string instance{}, schedule{}, page{};  ///< empty where nothing was written
};

struct TuneAnswer {
    std::string program{}, device{};
    std::int64_t ranks = 0;
    tune::TuneResult result{};
    std::vector<std::vector<std::string>> steps{};  ///< of each schedule, as text
    std::vector<TunedCall> collectives{};
    std::string timeline{};  ///< the page; empty where none was written
    double seconds = 0;

    /// What they take on this machine, of each schedule, and of the program as written; empty: not asked for.
    std::vector<std::optional<double>> measured_us{};
    std::optional<double> unscheduled_measured_us{};
    std::string not_measured{};  ///< why, where something should have been
};

/// Finds the best schedules of a tensor program for a network and a device, and writes the best one with all
/// that belongs to it: program.json and schedule.json, collectives/ with each instance, its verified schedule
/// and its page, timeline.html, and tune.json, which is json_of(). Throws tensor::Refusal, InputError,
/// LimitError, InfeasibleError.
[[nodiscard]] TuneAnswer tune(const TuneOptions& options, const Watch& watch = {});

[[nodiscard]] io::Json json_of(const TuneAnswer& answer);

struct TimelineOptions {
    std::string program{}, schedule{}, topology{}, device{};
    std::string output{};  ///< the page; empty: named after the schedule
    std::optional<double> time_limit{};
    friend bool operator==(const TimelineOptions&, const TimelineOptions&) = default;
};

/// The page of a given schedule, with a folder of its collectives' pages beside it.
struct Timeline {
    std::string page{};
    std::uint64_t bytes = 0;
    TuneAnswer answer{};  ///< with this one schedule
};
[[nodiscard]] Timeline timeline(const TimelineOptions& options, const Watch& watch = {});

}  // namespace tutti::app

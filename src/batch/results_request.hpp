#pragma once

#include <optional>
#include <string>

/// What can be asked of results: show, compare, merge.
namespace tutti::batch {

enum class SortBy { Label, Gap, Seconds, Makespan, Memory, Busbw };

/// Which rows of a run are shown, and in which order.
struct Selection {
    SortBy sort = SortBy::Label;
    bool reverse = false;
    std::string filter{};  ///< a part of the key, label, method or collective
    bool failed = false;   ///< only failures
    friend bool operator==(const Selection&, const Selection&) = default;
};

/// How two runs are compared.
struct Comparing {
    bool by_label = false;                   ///< pair by what was to be solved, not by key
    double tolerance = 0;                    ///< of makespans, as a fraction
    std::optional<double> time_tolerance{};  ///< of seconds, as a fraction; none: slower is no change
    friend bool operator==(const Comparing&, const Comparing&) = default;
};

/// How several are merged.
struct Merging {
    std::string output{};
    bool prefer_last = false;  ///< of results of different files, take the last run's
    bool force = false;        ///< into a folder that holds something
    friend bool operator==(const Merging&, const Merging&) = default;
};

}  // namespace tutti::batch

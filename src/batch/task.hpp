#pragma once

#include "batch/expand.hpp"
#include "core/search_options.hpp"
#include "core/variation.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::batch {

/// What a run file varies over the same instances.
struct Variant {
    std::string method = "auto";
    std::uint64_t seed = 1;
    unsigned threads = 1;
    std::optional<std::uint64_t> chunks{};  ///< as Variation has them
    std::optional<Bytes> bytes{};
    std::string heuristic{};  ///< to be run alone; empty: all
    SearchOptions options{};

    [[nodiscard]] Variation variation() const { return {chunks, bytes}; }
    friend bool operator==(const Variant&, const Variant&) = default;
};

/// One line of the results to be: an instance, and how it is to be solved.
struct Task {
    Job job;
    Variant variant;
    std::string key{};   ///< names it within its run, by which a later one finds it again
    std::string stem{};  ///< of its schedule's file, below the folder of the results: "schedules/ring/a"

    friend bool operator==(const Task&, const Task&) = default;
};

/// Which parts of a variant a name tells.
struct Told {
    bool method = false, chunks = false, bytes = false, seed = false, heuristic = false, options = false;
};
/// Those that are not the same for all.
[[nodiscard]] Told differing_among(const std::vector<Variant>& variants);
/// Those that are not as usual. Chunks, bytes, heuristic and options count as such: they are told where they
/// are given.
[[nodiscard]] Told unusual_in(const Variant& variant);
/// The label with those parts: "ring/a method=greedy seed=2". Chunks, bytes and heuristic only where they are
/// given, of the options those that are not as usual.
[[nodiscard]] std::string name_with(const std::string& label, const Variant& variant, Told told);

/// What holds for every task of a run.
struct Limits {
    std::optional<double> time{};           ///< seconds for each
    std::optional<std::uint64_t> memory{};  ///< bytes for each

    friend bool operator==(const Limits&, const Limits&) = default;
};

/// What is varied. An empty list leaves that as it is: the method auto, seed 1, what the instances say.
struct Matrix {
    std::vector<std::string> methods{};
    std::vector<std::uint64_t> chunks{};
    std::vector<Bytes> bytes{};
    std::vector<std::uint64_t> seeds{};
    unsigned threads = 1;
    std::vector<std::string> heuristics{};
    SearchOptions options{};

    friend bool operator==(const Matrix&, const Matrix&) = default;
};

/// What a key says after the label: those parts of the variant that are not as usual, " method=greedy
/// seed=2".
[[nodiscard]] std::string details_of(const Variant& variant);

/// Where the schedule of a task goes, below the folder of the results; the key's details are `details`. Every
/// part of it is safe as the name of a file, whatever the job is called.
[[nodiscard]] std::string stem_of(const Job& job, const std::string& details);

/// One part of a run that several share: those tasks whose number modulo `of` is `part` modulo `of`, so that
/// the parts 0…of-1, or 1…of, are all of them.
struct Shard {
    std::uint64_t part = 0, of = 1;
    friend bool operator==(const Shard&, const Shard&) = default;
};

}  // namespace tutti::batch

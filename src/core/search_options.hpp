#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tutti {

/// The tunable parameters of a search: effort, shares of the time, and size limits beyond which a technique
/// is not tried. Correctness depends on none of them. They are passed in the request; the results in results/
/// were made with the defaults. search_option_table() has the meaning and the range of each; docs/options.md
/// is generated from it.
struct SearchOptions {
    using Count = std::uint64_t;

    // Every method.
    double auto_seconds = 60;
    Count bound_entries = 12'000;
    double bound_share = 0.25;
    double composition_share = 0.25;
    Count exact_size = 4'000'000;
    Count exact_size_auto = 60'000;
    double exact_share = 0.7;
    double proof_seconds = 2;
    double small_gap = 0.03;

    // The search over horizons in exact synthesis.
    Count horizon_steps = 24;
    Count model_alone = 20'000;
    Count model_pairs = 100'000;
    Count model_size = 10'000'000;
    Count model_starts = 400'000;
    Count model_units = 20'000;
    Count model_ways = 60'000;
    double slice_growth = 4;
    double slice_seconds = 1.5;

    // The portfolio of heuristics.
    Count fresh_start = 4;
    Count many_npus = 3'000;
    double reduction_share = 0.5;
    Count slow_sends = 50'000;
    Count tries = 64;
    Count tries_work = 150'000;

    // Single heuristics.
    Count exchange_tries = 1'024;
    Count exchange_trees = 8;
    Count justification_moves = Count{1} << 21;
    Count justification_patience = 4;
    Count justification_sends = Count{1} << 21;
    Count matching_finalists = 3;
    Count matching_height_nodes = 1'024;
    Count paths_many = 65'536;
    double paths_steepness = 50;
    double paths_toll = 0.01;
    Count pipeline_rounds = 4;
    Count pipeline_sends = 300'000;
    Count pipeline_sends_anytime = 4'000'000;
    Count repair_moves = 1'000;
    Count repair_sends = 4'000;
    Count repair_trees = 12;
    Count repair_work = 300'000;
    Count order_work = 12'000'000;
    Count reroute_work = Count{1} << 26;
    Count steiner_large = Count{1} << 23;
    Count steiner_passes = 4;
    Count steiner_passes_large = 2;
    Count steiner_samples = 16;
    double steiner_steepness = 12;
    double steiner_toll = 0.2;
    Count symmetry_effort = 25'000;
    double symmetry_share = 0.25;
    double textbook_share = 0.2;
    double tree_share = 0.5;
    Count trim_resolution = 256;

    friend bool operator==(const SearchOptions&, const SearchOptions&) = default;
};

/// One row of the table.
struct SearchOption {
    std::string_view name;
    double least, most;        ///< its range, both included
    std::string_view meaning;  ///< one sentence
    std::variant<SearchOptions::Count SearchOptions::*, double SearchOptions::*> member;

    /// Whether only whole numbers are allowed.
    [[nodiscard]] bool is_count() const { return member.index() == 0; }
    [[nodiscard]] double value(const SearchOptions& options) const;
    /// Whether the value lies in the range, and is whole where it has to be.
    [[nodiscard]] bool allows(double value) const;
    /// Precondition: allows(value).
    void set(SearchOptions& options, double value) const;
    /// "a whole number from 1 to 64".
    [[nodiscard]] std::string range() const;
};

/// All of them, sorted by name.
[[nodiscard]] std::span<const SearchOption> search_option_table();

/// The row of that name, or null.
[[nodiscard]] const SearchOption* find_search_option(std::string_view name);

/// The options that differ from their default, by name.
[[nodiscard]] std::map<std::string, double> changed_options(const SearchOptions& options);

/// A value as text: whole numbers without a fraction, and reading it back gives the same number.
[[nodiscard]] std::string option_text(double value);

}  // namespace tutti

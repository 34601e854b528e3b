#include "core/search_options.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tutti {
namespace {

using O = SearchOptions;

/// Every whole number up to here is exact as a double.
constexpr double kMany = 1e15;
constexpr double kMostSecondsOfSearch = 1e9;

constexpr auto kTable = std::to_array<SearchOption>({
    {"auto-seconds", 0.001, kMostSecondsOfSearch,
     "how long the method auto looks for a proof where there is no time limit", &O::auto_seconds},
    {"bound-entries", 0, 1e8,
     "lower bounds: entries of a linear program beyond which it is not put to the solver", &O::bound_entries},
    {"bound-share", 0, 1,
     "share of the remaining time that a search gives to the lower bounds that are not near-linear",
     &O::bound_share},
    {"composition-share", 0, 1,
     "share of the remaining time for each half of an all-reduce that is solved as its two halves; without a "
     "time limit, of auto-seconds",
     &O::composition_share},
    {"exact-share", 0, 1,
     "share of the remaining time that auto gives to the solvers; the heuristics have the rest",
     &O::exact_share},
    {"exact-size", 0, kMany, "chunks times links beyond which the exact methods run no solver",
     &O::exact_size},
    {"exact-size-auto", 0, kMany, "exact-size where the method is auto", &O::exact_size_auto},
    {"exchange-trees", 1, kMany,
     "steiner-trees: one tree in this many may be completed by exchange with others when trees are trimmed",
     &O::exchange_trees},
    {"exchange-tries", 0, kMany, "steiner-trees: exchanges that are tried for one deadline",
     &O::exchange_tries},
    {"fresh-start", 1, kMany,
     "with a time limit, one round in this many starts the heuristics from scratch; the others repair the "
     "best "
     "solution",
     &O::fresh_start},
    {"horizon-steps", 0, kMany,
     "exact methods: up to this many horizons are tried one by one; more are halved", &O::horizon_steps},
    {"justification-moves", 0, kMany,
     "priced-paths: starts of sends that may be moved by justification, each time counted",
     &O::justification_moves},
    {"justification-patience", 1, kMany,
     "priced-paths: rounds of justification in a row that may gain nothing", &O::justification_patience},
    {"justification-sends", 0, 4e9, "priced-paths: beyond this many sends there is no justification",
     &O::justification_sends},
    {"many-npus", 1, kMany, "from this many NPUs on synchronous-steps is tried before link-matching",
     &O::many_npus},
    {"matching-finalists", 1, kMany, "link-matching: variants that are run more than once",
     &O::matching_finalists},
    {"matching-height-nodes", 0, 32'768,
     "link-matching: up to this many NPUs there are variants that prefer the chunk with the longest "
     "remaining path "
     "(memory: the square of this)",
     &O::matching_height_nodes},
    {"model-alone", 0, kMany,
     "exact methods: terms and literals of the model of one chunk alone beyond which it is given up",
     &O::model_alone},
    {"model-pairs", 0, kMany, "exact methods: pairs of transfers beyond which intervals are left to CP-SAT",
     &O::model_pairs},
    {"model-size", 0, kMany, "exact methods: terms and literals of a model beyond which it is given up",
     &O::model_size},
    {"model-starts", 0, kMany,
     "exact methods: start variables beyond which a time-indexed model is not built", &O::model_starts},
    {"model-units", 0, 1e9, "exact methods: units of time beyond which a time-indexed model is not built",
     &O::model_units},
    {"model-ways", 0, kMany, "exact methods: paths of chunks beyond which an interval model is not built",
     &O::model_ways},
    {"order-work", 0, kMany,
     "message-orders: messages placed by the quick search, and by the heuristic alone", &O::order_work},
    {"paths-many", 1, kMany,
     "priced-paths: above this many chunks a few thousandths of the makespan are given up for speed",
     &O::paths_many},
    {"paths-steepness", 0, 500, "priced-paths: exponent of the price of a full link", &O::paths_steepness},
    {"paths-toll", 0, 1000, "priced-paths: price of a link that is empty, as a share of its transit time",
     &O::paths_toll},
    {"pipeline-rounds", 1, 1000,
     "pipelined-all-reduce: rounds in which gathering and spreading trees are planned alternately",
     &O::pipeline_rounds},
    {"pipeline-sends", 0, kMany, "pipelined-all-reduce: sends beyond which it is not tried",
     &O::pipeline_sends},
    {"pipeline-sends-anytime", 0, kMany, "pipeline-sends where there is a time limit to be used",
     &O::pipeline_sends_anytime},
    {"proof-seconds", 0, kMostSecondsOfSearch,
     "how long a proof that anybody can check is looked for where a solver has one", &O::proof_seconds},
    {"reduction-share", 0, 1,
     "share of the remaining time for reductions where chunks are distributed afterwards",
     &O::reduction_share},
    {"repair-moves", 1, kMany, "ruin-and-recreate: moves in a round of a search with a time limit",
     &O::repair_moves},
    {"repair-sends", 0, kMany,
     "ruin-and-recreate: without a time limit, problems of more sends are not repaired", &O::repair_sends},
    {"repair-trees", 2, kMany, "ruin-and-recreate: trees that a move takes out, at most", &O::repair_trees},
    {"repair-work", 0, kMany, "ruin-and-recreate: without a time limit, moves times sends of the problem",
     &O::repair_work},
    {"reroute-work", 0, kMany,
     "priced-paths: links to be looked at beyond which chunks are not sent by detours", &O::reroute_work},
    {"slice-growth", 1, 1000, "exact methods: how much longer each slice of a solver's time is than the last",
     &O::slice_growth},
    {"slice-seconds", 0.001, kMostSecondsOfSearch, "exact methods: the first slice of a solver's time",
     &O::slice_seconds},
    {"slow-sends", 0, kMany, "up to this many sends the slow heuristics are tried wherever they apply",
     &O::slow_sends},
    {"small-gap", 0, 1000, "a gap to the lower bound that is not worth a better composition of an all-reduce",
     &O::small_gap},
    {"steiner-large", 0, kMany, "steiner-trees: trees times links of a problem that counts as large",
     &O::steiner_large},
    {"steiner-passes", 1, 1'000'000, "steiner-trees: how often all trees are grown again",
     &O::steiner_passes},
    {"steiner-passes-large", 1, 1'000'000, "steiner-passes of large problems", &O::steiner_passes_large},
    {"steiner-samples", 1, kMany,
     "steiner-trees: trees that are grown first to learn how much is to be carried", &O::steiner_samples},
    {"steiner-steepness", 0, 500, "steiner-trees: exponent of the price of a full link",
     &O::steiner_steepness},
    {"steiner-toll", 0, 1000, "steiner-trees: price of depth, as a share of the transit times",
     &O::steiner_toll},
    {"symmetry-effort", 1, kMany, "symmetry: transfers of one chunk per orbit that may be tried",
     &O::symmetry_effort},
    {"symmetry-share", 0, 1, "symmetry: share of the time that is left after the quick search",
     &O::symmetry_share},
    {"textbook-share", 0, 1, "share of the remaining time that the textbook all-reduces may take",
     &O::textbook_share},
    {"tree-share", 0, 1,
     "grown-trees, broadcast-rounds, message-orders: share of the time that is left after the quick search",
     &O::tree_share},
    {"tries", 1, 1'000'000, "how often a heuristic is tried on a problem, at most", &O::tries},
    {"tries-work", 1, kMany,
     "sends that the tries of a heuristic may make together: small problems are tried often, large ones once",
     &O::tries_work},
    {"trim-resolution", 2, kMany, "steiner-trees: the deadline of trimming is found to one part in this many",
     &O::trim_resolution},
});

static_assert(std::ranges::is_sorted(kTable, {}, &SearchOption::name));
static_assert(std::ranges::adjacent_find(kTable, {}, &SearchOption::name) == kTable.end());

}  // namespace

double SearchOption::value(const SearchOptions& options) const {
    return std::visit([&](auto which) { return static_cast<double>(options.*which); }, member);
}

bool SearchOption::allows(double value) const {
    return value >= least && value <= most && (!is_count() || value == std::floor(value));
}

void SearchOption::set(SearchOptions& options, double value) const {
    expects(allows(value));
    std::visit(
        [&](auto which) {
            auto& place = options.*which;
            place = static_cast<std::remove_reference_t<decltype(place)>>(value);
        },
        member);
}

std::string SearchOption::range() const {
    return std::string(is_count() ? "a whole number from " : "a number from ") + option_text(least) + " to " +
           option_text(most);
}

std::span<const SearchOption> search_option_table() { return kTable; }

const SearchOption* find_search_option(std::string_view name) {
    const auto found = std::ranges::find(kTable, name, &SearchOption::name);
    return found == kTable.end() ? nullptr : &*found;
}

std::map<std::string, double> changed_options(const SearchOptions& options) {
    const SearchOptions usual;
    std::map<std::string, double> changed;
    for (const SearchOption& option : kTable) {
        if (option.value(options) != option.value(usual))
            changed[std::string(option.name)] = option.value(options);
    }
    return changed;
}

std::string option_text(double value) {
    std::array<char, 64> text{};
    const bool whole = value == std::floor(value) && std::abs(value) < 1e17;
    const auto end =
        whole ? std::to_chars(text.data(), text.data() + text.size(), static_cast<std::int64_t>(value))
              : std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end.ptr};
}

}  // namespace tutti

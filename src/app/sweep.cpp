#include "app/sweep.hpp"

#include <algorithm>

namespace tutti::app {
namespace {

template <class T>
std::vector<T> ascending(std::vector<T> values) {
    std::ranges::sort(values);
    const auto repeated = std::ranges::unique(values);
    values.erase(repeated.begin(), repeated.end());
    return values;
}

/// The values, each as an option; one that is not given if there are none.
template <class T>
std::vector<std::optional<T>> choices(const std::vector<T>& values) {
    if (values.empty()) return {std::nullopt};
    return {values.begin(), values.end()};
}

/// Positions within one size of the fastest; empty if there is no schedule.
std::vector<std::size_t> fastest_of(std::span<const Synthesized> of_one_size) {
    std::optional<Ticks> least;
    for (const Synthesized& one : of_one_size) {
        if (one.line.makespan && (!least || *one.line.makespan < *least)) least = one.line.makespan;
    }
    std::vector<std::size_t> fastest;
    for (std::size_t i = 0; least && i < of_one_size.size(); ++i) {
        if (of_one_size[i].line.makespan == least) fastest.push_back(i);
    }
    return fastest;
}

/// Marks the fastest of each size, and finds where another number of chunks becomes it.
void compare(Sweep& sweep, const std::vector<std::int64_t>& sizes) {
    const std::size_t each = sweep.chunks.size();
    sweep.fastest.assign(sweep.all.size(), false);
    if (sizes.empty() || each < 2 || sweep.all.size() != sizes.size() * each) return;
    std::vector<std::vector<std::size_t>> fastest;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        fastest.push_back(fastest_of(std::span(sweep.all).subspan(s * each, each)));
        for (const std::size_t i : fastest.back()) sweep.fastest[s * each + i] = true;
    }
    if (std::ranges::any_of(fastest, [](const auto& some) { return some.empty(); })) return;
    sweep.crossovers = listed_crossovers(sizes, [&](std::int64_t bytes) {
        return fastest[static_cast<std::size_t>(std::ranges::lower_bound(sizes, bytes) - sizes.begin())];
    });
}

}  // namespace

Sweep sweep(const SweepOptions& options, const Watch& watch,
            const std::function<void(const Synthesized&)>& done) {
    const auto sizes = ascending(options.bytes);
    Sweep sweep{.chunks = ascending(options.chunks)};
    for (const auto& bytes : choices(sizes)) {
        for (const auto& chunks : choices(sweep.chunks)) {
            if (watch.was_interrupted()) break;
            SynthesisOptions each = options.each;
            each.variation.chunks = chunks;
            if (bytes) each.variation.bytes = Bytes{*bytes};
            Synthesized& made = sweep.all.emplace_back(synthesize(each, watch));
            if (done) done(made);
            // Written already, and many of them would not fit.
            if (made.result) made.result->schedule.sends = {};
            if (made.result) made.result->symmetric.reset();
        }
    }
    compare(sweep, sizes);
    return sweep;
}

io::Json json_of(const Sweep& sweep) {
    io::Json results = io::Json::array(), crossovers = io::Json::array();
    for (std::size_t i = 0; i < sweep.all.size(); ++i) {
        results.push_back(json_of(sweep.all[i]));
        results.back()["fastest"] = static_cast<bool>(sweep.fastest[i]);
    }
    for (const Crossover& crossover : sweep.crossovers) {
        crossovers.push_back({{"before", sweep.chunks[crossover.before]},
                              {"below", crossover.below},
                              {"after", sweep.chunks[crossover.after]},
                              {"from", crossover.from}});
    }
    return {{"results", std::move(results)}, {"crossovers", std::move(crossovers)}};
}

}  // namespace tutti::app

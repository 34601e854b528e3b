#pragma once

#include "app/synthesize.hpp"
#include "core/crossover.hpp"

#include <functional>
#include <vector>

namespace tutti::app {

/// One instance at several sizes of its calls, in several numbers of chunks: every combination.
struct SweepOptions {
    SynthesisOptions each{};              ///< its variation and output say nothing
    std::vector<std::uint64_t> chunks{};  ///< none: as the instance has it
    std::vector<std::int64_t> bytes{};    ///< likewise
    friend bool operator==(const SweepOptions&, const SweepOptions&) = default;
};

struct Sweep {
    /// The smallest size first, and of one size the fewest chunks first.
    std::vector<Synthesized> all{};
    std::vector<bool> fastest{};  ///< by position in `all`: whether none of the same size is faster
    /// Where another number of chunks becomes the fastest from one size to the next; positions are those of
    /// `chunks`, ascending. Nothing is asked between two sizes.
    std::vector<std::uint64_t> chunks{};
    std::vector<Crossover> crossovers{};
};

/// Synthesizes each as synthesize() does, with a file for each schedule and its instance. `done` hears of
/// each. A combination without a schedule is an answer. Throws as synthesize() does.
[[nodiscard]] Sweep sweep(const SweepOptions& options, const Watch& watch = {},
                          const std::function<void(const Synthesized&)>& done = {});

/// `results`, each as of synthesize() and with `fastest`; `crossovers`, each with `before` and `after`
/// (numbers of chunks), `below` and `from` (two of the sizes, next to each other).
[[nodiscard]] io::Json json_of(const Sweep& sweep);

}  // namespace tutti::app

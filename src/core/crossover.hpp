#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tutti {

/// As calls grow, another one becomes the fastest.
struct Crossover {
    std::int64_t below = 0;  ///< a size at which `before` is among the fastest
    std::int64_t from = 0;   ///< a larger one at which `after` is
    std::size_t before = 0, after = 0;

    /// Nothing lies between the two sizes.
    [[nodiscard]] bool exact() const { return from == below + 1; }
    friend bool operator==(const Crossover&, const Crossover&) = default;
};

/// Which ones are the fastest at a size: several if they take equally long, never none.
using FastestAt = std::function<std::vector<std::size_t>(std::int64_t bytes)>;

/// The changes from each size to the next; `sizes` ascend. One stays the fastest until another is faster than
/// it, so that the order in which equally fast ones are numbered does not matter. Nothing is asked between
/// the sizes.
[[nodiscard]] std::vector<Crossover> listed_crossovers(std::span<const std::int64_t> sizes,
                                                       const FastestAt& fastest_at);

/// The same, but where the fastest one changes between two sizes it is searched for by halves until the
/// change is between one byte and the next. Between two sizes with the same one nothing is asked. Asks at
/// most `most_questions` times (and once for each size); what is left then is as listed_crossovers has it.
[[nodiscard]] std::vector<Crossover> searched_crossovers(std::span<const std::int64_t> sizes,
                                                         const FastestAt& fastest_at,
                                                         std::size_t most_questions = 1000);

}  // namespace tutti

#pragma once

#include "core/crossover.hpp"
#include "core/instance.hpp"
#include "text/safe_text.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::text {

/// What one way of doing a call takes at one size of it.
struct SizeRow {
    bool fastest = false;  ///< of those of its size
    std::string name{};
    std::optional<std::uint64_t> bytes{};  ///< none: it has no one size
    std::optional<Ticks> time{}, bound{};
    std::optional<double> gap{}, algbw_GBps{}, busbw_GBps{};
    std::string remark{};
};

/// The rows under each other; > marks the fastest of each size. `head` says what the names are of.
[[nodiscard]] SafeText size_table(const std::string& head, std::span<const SizeRow> rows, Units units);

/// Which one is the fastest from where on: a line for each crossover, whose numbers are positions in `names`.
[[nodiscard]] SafeText crossover_lines(std::span<const std::string> names,
                                       std::span<const Crossover> crossovers);

}  // namespace tutti::text

#pragma once

#include "run/piece_ranges.hpp"
#include "run/task_graph.hpp"
#include "tensor/program.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tutti::run {

/// Mistakes that tests plant in what is planned for a run, to see whether checks find them. Each may be
/// empty.
struct RunFaults {
    /// Changes what waits for what.
    TaskGraph::Change waits{};
    /// Changes when a value's memory is needed: from its first to its last stage.
    std::function<void(tensor::ValueId id, std::size_t& first, std::size_t& last)> life{};
    /// Changes where a rank's part of a value is in its memory.
    std::function<std::size_t(tensor::ValueId id, std::int64_t rank, std::size_t offset)> offset{};
    /// Changes what a rank does of a value in each piece.
    std::function<void(tensor::ValueId id, std::int64_t rank, std::vector<PieceRanges>& pieces)> pieces{};
};

}  // namespace tutti::run

#pragma once

#include "tensor/device.hpp"
#include "tensor/program.hpp"
#include "tune/collective_cost.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::tune {

/// What a rank is busy with: a kernel or a piece of one, on its compute stream, its network stream or both.
struct Bar {
    std::string kernel{};
    bool computes = false, communicates = false;
    double start_us = 0, end_us = 0;
    std::int64_t piece = -1;           ///< of an overlap: which; else -1
    std::vector<std::size_t> calls{};  ///< positions in Prediction::calls
};

/// What one step of a program takes on a device and a network.
struct Prediction {
    double us = 0;
    std::int64_t state_bytes = 0;  ///< of a rank
    std::uint64_t wire_bytes = 0;  ///< over all links
    std::size_t kernels = 0;
    std::vector<Call> calls{};  ///< each once; of an overlap that of a piece, or of all pieces as one
    std::vector<Bar> bars{};    ///< in order of start
};

struct PredictOptions {
    bool bars = false;   ///< make them
    bool joint = false;  ///< try one schedule for all pieces of an overlap: a few per cent on uneven
                         ///< networks; takes long
    bool guess = false;  ///< calls take what they are estimated to: nothing is synthesized, no wire_bytes
};

/// The makespan of the program's kernels in their order on two streams, compute and network: each starts when
/// its operands are there and its stream is free. A kernel with collectives needs both; it takes its calls,
/// and an eighth of its computation, because all but the last piece is done while others are on the wires. An
/// overlap starts when both streams are free; each of its pieces when the one before it in the chain is there
/// and its stream is free. The network is free again when the busiest link of a call is: latencies are waited
/// for once, as messages of the next pieces follow on the same links.
[[nodiscard]] Prediction predict(const tensor::Program& program, const tensor::Device& device,
                                 CallSchedules& calls, const PredictOptions& options = {});

}  // namespace tutti::tune

#pragma once

#include "plan/execution_plan.hpp"
#include "verify/plan/findings.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::verify {

/// A counter that some steps raise and others wait for and lower: the inbound side of a channel, or a
/// semaphore.
struct Counter {
    std::int64_t initial = 0;
    bool semaphore = false;
    Rank gpu{};               ///< whose it is
    OptionalId<Rank> peer{};  ///< who raises it (channels)
    plan::ChannelType type = plan::ChannelType::Memory;
    std::optional<std::uint32_t> number{};  ///< channel of that type, or semaphore; none: the GPU has none
};
/// "memory channel 2 of gpu 1 (from gpu 0)", "semaphore 3 of gpu 0".
[[nodiscard]] std::string text_of(const Counter& counter);

/// The channels, remote buffers and semaphores that a GPU declares, numbered as its thread blocks name them.
struct GpuWires {
    struct Channel {
        Rank peer{};
        std::uint32_t inbound = 0, outbound = 0;  ///< counters that its waits lower, its signals raise
    };
    std::array<std::vector<Channel>, 2> channels{};  ///< memory, port
    std::vector<plan::GroupChannel> groups{};        ///< switch
    std::vector<std::uint32_t> semaphores{};         ///< counters

    [[nodiscard]] std::size_t count(plan::ChannelType type) const {
        return type == plan::ChannelType::Switch ? groups.size()
                                                 : channels[static_cast<std::size_t>(type)].size();
    }
};

/// The n-th memory (port) channel of rank a to rank b is paired with the n-th of b to a. An unpaired one
/// raises a counter that no step waits for. Dangling ids are violations `channel` and `buffer`.
struct ExecutionWiring {
    std::vector<GpuWires> gpus{};
    std::vector<Counter> counters{};
};
[[nodiscard]] ExecutionWiring wire(const plan::ExecutionPlan& plan, Findings& violations);

}  // namespace tutti::verify

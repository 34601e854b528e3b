#pragma once

#include "plan/execution_plan.hpp"
#include "timing/timed_program.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace tutti::timing {

/// Resolves the numbers in an execution plan's operations: channels and their peers' counters, remote
/// buffers, switch groups, semaphores. Throws InputError for a dangling number. The verifier checks sizes and
/// semantics.
class ExecutionWires {
  public:
    /// Adds the counters to the program. The plan must outlive the wires.
    ExecutionWires(const plan::ExecutionPlan& plan, TimedProgram& program);

    /// One end of a memory or port channel.
    struct Channel {
        Rank peer{};
        CounterId inbound = 0;                ///< decremented by waits on it
        std::optional<CounterId> outbound{};  ///< incremented by signals on it; none: no wait can use them
        std::size_t number = 0;               ///< over all channels of all GPUs
    };
    /// Precondition of all: gpu and block are indices of the plan.
    [[nodiscard]] const Channel& channel(std::size_t gpu, std::size_t block, plan::ChannelType type,
                                         plan::Slot slot) const;
    [[nodiscard]] std::size_t channels() const { return channel_count_; }
    /// The rank that owns the block's remote buffer.
    [[nodiscard]] Rank rank_of_buffer(std::size_t gpu, std::size_t block, plan::ChannelType type,
                                      plan::Slot slot) const;
    [[nodiscard]] std::span<const Rank> group(std::size_t gpu, std::size_t block, plan::Slot slot) const;
    [[nodiscard]] CounterId semaphore(std::size_t gpu, plan::SemaphoreId id) const;

  private:
    struct Gpu {
        std::array<std::vector<Channel>, 2> channels{};  ///< memory, port
        std::vector<plan::GroupChannel> groups{};
        CounterId first_semaphore = 0;
    };
    void list_channels(std::size_t gpu, TimedProgram& program);
    void join_channels();

    const plan::ExecutionPlan& plan_;
    std::vector<Gpu> gpus_;
    std::size_t channel_count_ = 0;
};

}  // namespace tutti::timing

#pragma once

#include "plan/execution_plan.hpp"
#include "timing/timed_program.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace tutti::timing {

/// What the numbers in an execution plan's operations stand for: channels and their partners' counters,
/// remote buffers, switch groups, semaphores. Throws InputError where one stands for nothing. Sizes and
/// meaning are for the verifier.
class ExecutionWires {
  public:
    /// Adds the counters to the program. The plan must outlive the wires.
    ExecutionWires(const plan::ExecutionPlan& plan, TimedProgram& program);

    /// One end of a memory or port channel.
    struct Channel {
        Rank peer{};
        CounterId inbound = 0;                ///< what waits on it take from
        std::optional<CounterId> outbound{};  ///< what signals on it raise; none: nobody can wait for them
        std::size_t number = 0;               ///< over all channels of all GPUs
    };
    /// Precondition of all: gpu and block are positions in the plan.
    [[nodiscard]] const Channel& channel(std::size_t gpu, std::size_t block, plan::ChannelType type,
                                         plan::Slot slot) const;
    [[nodiscard]] std::size_t channels() const { return channel_count_; }
    /// The rank whose memory the block's remote buffer is.
    [[nodiscard]] Rank rank_of_buffer(std::size_t gpu, std::size_t block, plan::ChannelType type,
                                      plan::Slot slot) const;
    [[nodiscard]] std::span<const Rank> group(std::size_t gpu, std::size_t block, plan::Slot slot) const;
    [[nodiscard]] CounterId semaphore(std::size_t gpu, std::int32_t id) const;

  private:
    struct Gpu {
        std::array<std::vector<Channel>, 2> channels{};  ///< memory, port
        std::vector<const plan::SwitchGroup*> groups{};
        CounterId first_semaphore = 0;
    };
    void list_channels(std::size_t gpu, TimedProgram& program);
    void join_channels();

    const plan::ExecutionPlan& plan_;
    std::vector<Gpu> gpus_;
    std::size_t channel_count_ = 0;
};

}  // namespace tutti::timing

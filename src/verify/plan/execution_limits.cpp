// Figures and faults from the sources of the executor (microsoft/mscclpp, version 0.9), as
// docs/mscclpp-json.md lists them.

#include "verify/plan/execution_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::verify {
namespace {

using plan::ChannelType;
using plan::Operand;
using plan::Operation;
using plan::OperationType;

constexpr std::size_t kMostOperations = 64;  ///< of a thread block; a pipeline counts one, and its body
constexpr std::size_t kMostChannels = 16;    ///< of a thread block and type; remote buffers likewise
constexpr std::size_t kMostOpChannels = 8;   ///< of an operation
constexpr std::size_t kMostOpBuffers = 10;   ///< sources, or destinations, of an operation
constexpr std::size_t kMostOpSemaphores = 16;
constexpr std::size_t kMostBarriers = 16;      ///< of a GPU
constexpr std::size_t kMostPipelineOps = 255;  ///< an 8-bit number

class LimitCheck {
  public:
    LimitCheck(const plan::ExecutionPlan& plan, Findings& warnings) : plan_(plan), warnings_(warnings) {}

    void run() {
        for (const plan::ExecutionGpu& gpu : plan_.gpus) {
            for (const plan::ExecutionBlock& block : gpu.blocks) {
                place_ = {.gpu = gpu.id, .block = block.id};
                check_block(block);
                check_operations(block);
            }
        }
    }

  private:
    void warn(const char* code, const std::string& what) {
        warnings_.add(code, fmt::format("mscclpp: {}: {}", text_of(place_), what), place_);
    }
    void at_most(const char* code, std::size_t count, std::size_t most, std::string_view what) {
        if (count > most) warn(code, fmt::format("{} {}, at most {} are possible", count, what, most));
    }

    void check_block(const plan::ExecutionBlock& block) {
        std::size_t operations = block.ops.size();
        for (const Operation& op : block.ops) operations += op.body.size();
        at_most("limit-ops", operations, kMostOperations, "operations");
        std::array<std::size_t, plan::kChannelTypes> channels{}, buffers{};
        for (const auto& list : block.channels)
            channels[static_cast<std::size_t>(list.type)] += list.ids.size();
        for (const auto& list : block.buffers)
            buffers[static_cast<std::size_t>(list.type)] += list.ids.size();
        for (std::size_t type = 0; type < channels.size(); ++type) {
            const std::string_view name = name_of(static_cast<ChannelType>(type));
            at_most("limit-channels", channels[type], kMostChannels, fmt::format("{} channels", name));
            at_most("limit-buffers", buffers[type], kMostChannels,
                    fmt::format("remote buffers by {} channel", name));
        }
    }

    void check_operations(const plan::ExecutionBlock& block) {
        for (std::size_t i = 0; i < block.ops.size(); ++i) {
            place_.step = plan::StepId(i);
            place_.inner.reset();
            check(block.ops[i]);
            for (std::size_t k = 0; k < block.ops[i].body.size(); ++k) {
                place_.inner = plan::StepId(k);
                check(block.ops[i].body[k]);
            }
        }
    }

    void check(const Operation& op) {
        at_most("limit-channels", op.channels.size(), kMostOpChannels, "channels of one operation");
        at_most("limit-buffers", std::max(op.src.size(), op.dst.size()), kMostOpBuffers,
                "buffers of one operation");
        at_most("limit-semaphores", op.semaphores.size(), kMostOpSemaphores, "semaphores of one operation");
        at_most("limit-ops", op.body.size(), kMostPipelineOps, "operations of a pipeline");
        if (op.type == OperationType::Barrier && op.barrier.index() >= kMostBarriers) {
            warn("limit-barriers", fmt::format("barrier {}, there are {}", op.barrier, kMostBarriers));
        }
        check_faults(op);
    }

    /// Where the executor deviates from the plan.
    void check_faults(const Operation& op) {
        const auto other_index = [&](std::size_t i) {
            return i < op.dst.size() && op.src[i].index != op.dst[i].index;
        };
        const auto other_buffer = [&](const Operand& operand) {
            return operand.buffer != op.src.front().buffer;
        };
        switch (op.type) {
            case OperationType::Get:
                for (std::size_t i = 0; i < op.src.size(); ++i) {
                    if (!other_index(i)) continue;
                    warn("target-get",
                         "get exchanges the offsets of source and destination, which differ here");
                    break;
                }
                break;
            case OperationType::Flush:
                warn("target-flush",
                     "flush takes its number of channels from its destinations and does nothing");
                break;
            case OperationType::GroupReduce:
                warn("target-op", "glre is unknown to the executor");
                break;
            case OperationType::PutPackets:
            case OperationType::Put:
                if (op.channel_type == ChannelType::Memory && std::ranges::any_of(op.src, other_buffer)) {
                    warn("target-put",
                         fmt::format("{} reads all its sources from the buffer of the first one",
                                     name_of(op.type)));
                }
                break;
            default:
                break;
        }
        if (op.reduce.value_or(plan::ReduceOp::Sum) != plan::ReduceOp::Sum) {
            warn("target-reduce",
                 fmt::format("reduce_op {} is ignored, the executor adds", name_of(*op.reduce)));
        }
    }

    const plan::ExecutionPlan& plan_;
    Findings& warnings_;
    plan::Place place_;
};

}  // namespace

void warn_of_execution_limits(const plan::ExecutionPlan& plan, Findings& warnings) {
    LimitCheck(plan, warnings).run();
}

}  // namespace tutti::verify

#include "verify/plan/execution_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

// Text for steps and counters. Every id is checked, because messages are also written for plans with dangling
// ids.

namespace tutti::verify {
namespace {

using plan::ChannelType;
using plan::Operand;

std::string range_text(plan::Buffer buffer, const Operand& operand) {
    if (operand.size == 1) return fmt::format("{}[{}]", letter_of(buffer), operand.index);
    return fmt::format("{}[{}..{})", letter_of(buffer), operand.index, operand.index + operand.size);
}

class Words {
  public:
    Words(const plan::ExecutionPlan& plan, const ExecutionStep& step)
        : op_(*step.op),
          gpu_(plan.gpus[(*step.place.gpu).index()]),
          block_(gpu_.blocks[(*step.place.block).index()]) {}

    [[nodiscard]] std::string text() const {
        std::string words(name_of(op_.type));
        if (!op_.src.empty()) words += " " + operands(op_.src);
        if (!op_.dst.empty()) words += " -> " + operands(op_.dst);
        if (!op_.channels.empty() && op_.channel_type && !shape_of(op_.type).moves_data()) {
            words += fmt::format(" {}", channels());
        }
        if (op_.type == plan::OperationType::Barrier) words += fmt::format(" {}", op_.barrier);
        if (!op_.semaphores.empty()) words += fmt::format(" {}", fmt::join(op_.semaphores, ", "));
        if (op_.slice) words += fmt::format(", part {} of {}", op_.slice->part, op_.slice->parts);
        return words;
    }

  private:
    [[nodiscard]] std::string channels() const {
        const std::vector<Rank> ends = peers_of(gpu_, *op_.channel_type);
        std::vector<std::string> peers;
        for (const plan::Slot slot : op_.channels) {
            const auto channel = listed(block_.channels, *op_.channel_type, slot);
            const bool known = channel && channel->index() < ends.size();
            peers.push_back(known ? fmt::format("{}", ends[channel->index()])
                                  : fmt::format("? (channel {})", slot));
        }
        return fmt::format("{} gpu {}", waits(op_.type) ? "from" : "to", fmt::join(peers, ", "));
    }

    [[nodiscard]] std::string operands(const std::vector<Operand>& list) const {
        constexpr std::size_t kMost = 4;
        std::vector<std::string> words;
        for (std::size_t i = 0; i < list.size() && i < kMost; ++i) words.push_back(operand(list[i]));
        if (list.size() > kMost) words.push_back(fmt::format("{} more", list.size() - kMost));
        return fmt::format("{}", fmt::join(words, ", "));
    }

    [[nodiscard]] std::string operand(const Operand& operand) const {
        switch (operand.kind) {
            case Operand::Kind::Local:
                return range_text(operand.buffer, operand);
            case Operand::Kind::Remote:
                return remote(operand);
            case Operand::Kind::Switch:
                break;
        }
        const auto channel = listed(block_.channels, ChannelType::Switch, operand.id);
        const auto groups = group_channels(gpu_);
        if (channel && channel->index() < groups.size()) {
            const plan::GroupChannel& found = groups[channel->index()];
            return fmt::format("{} of gpus {}", range_text(found.buffer, operand),
                               fmt::join(found.group->ranks, ","));
        }
        return fmt::format("[{}] of switch channel {}", operand.index, operand.id);
    }

    [[nodiscard]] std::string remote(const Operand& operand) const {
        const auto buffer =
            op_.channel_type ? listed(block_.buffers, *op_.channel_type, operand.id) : std::nullopt;
        if (!buffer || buffer->index() >= gpu_.remote_buffers.size()) {
            return fmt::format("[{}] of remote buffer {}", operand.index, operand.id);
        }
        const plan::RemoteBuffer& found = gpu_.remote_buffers[buffer->index()];
        return fmt::format("{} of gpu {}", range_text(found.buffer, operand), found.rank);
    }

    const plan::Operation& op_;
    const plan::ExecutionGpu& gpu_;
    const plan::ExecutionBlock& block_;
};

}  // namespace

std::string text_of(const plan::ExecutionPlan& plan, const ExecutionStep& step) {
    return Words(plan, step).text();
}

}  // namespace tutti::verify

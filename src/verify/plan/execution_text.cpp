#include "verify/plan/execution_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

// Steps and counters in words. Nothing here trusts an id: messages are also written about plans whose ids
// lead nowhere.

namespace tutti::verify {
namespace {

using plan::ChannelType;
using plan::Operand;

std::optional<std::int32_t> listed(const std::vector<plan::BlockChannels>& lists, ChannelType type,
                                   std::int32_t number) {
    for (const plan::BlockChannels& list : lists) {
        if (list.type != type) continue;
        if (static_cast<std::size_t>(number) < list.ids.size())
            return list.ids[static_cast<std::size_t>(number)];
        number -= static_cast<std::int32_t>(list.ids.size());
    }
    return std::nullopt;
}

std::string range_text(plan::Buffer buffer, const Operand& operand) {
    if (operand.size == 1) return fmt::format("{}[{}]", letter_of(buffer), operand.index);
    return fmt::format("{}[{}..{})", letter_of(buffer), operand.index, operand.index + operand.size);
}

class Words {
  public:
    Words(const plan::ExecutionPlan& plan, const ExecutionStep& step)
        : op_(*step.op),
          gpu_(plan.gpus[static_cast<std::size_t>(step.place.gpu)]),
          block_(gpu_.blocks[static_cast<std::size_t>(step.place.block)]) {}

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
        std::vector<std::string> peers;
        for (const std::int32_t number : op_.channels) {
            const auto channel = listed(block_.channels, *op_.channel_type, number);
            const auto peer = channel ? peer_of(*channel) : std::nullopt;
            peers.push_back(peer ? fmt::format("{}", *peer) : fmt::format("? (channel {})", number));
        }
        return fmt::format("{} gpu {}", waits(op_.type) ? "from" : "to", fmt::join(peers, ", "));
    }

    [[nodiscard]] std::optional<std::int32_t> peer_of(std::int32_t channel) const {
        for (const plan::GpuChannels& list : gpu_.channels) {
            if (list.type != *op_.channel_type) continue;
            if (static_cast<std::size_t>(channel) < list.peers.size()) {
                return list.peers[static_cast<std::size_t>(channel)];
            }
            channel -= static_cast<std::int32_t>(list.peers.size());
        }
        return std::nullopt;
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
        std::int32_t left = channel.value_or(-1);
        for (const plan::GpuChannels& list : gpu_.channels) {
            if (list.type != ChannelType::Switch || left < 0) continue;
            if (static_cast<std::size_t>(left) < list.groups.size()) {
                const auto& ranks = list.groups[static_cast<std::size_t>(left)].ranks;
                return fmt::format("{} of gpus {}", range_text(list.buffer, operand), fmt::join(ranks, ","));
            }
            left -= static_cast<std::int32_t>(list.groups.size());
        }
        return fmt::format("[{}] of switch channel {}", operand.index, operand.id);
    }

    [[nodiscard]] std::string remote(const Operand& operand) const {
        const auto buffer =
            op_.channel_type ? listed(block_.buffers, *op_.channel_type, operand.id) : std::nullopt;
        if (!buffer || static_cast<std::size_t>(*buffer) >= gpu_.remote_buffers.size()) {
            return fmt::format("[{}] of remote buffer {}", operand.index, operand.id);
        }
        const plan::RemoteBuffer& found = gpu_.remote_buffers[static_cast<std::size_t>(*buffer)];
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

plan::PlanPlace place_of(const ExecutionStep& step) {
    return {step.place.gpu, step.place.block, step.place.step, step.place.inner, std::nullopt, -1};
}

}  // namespace tutti::verify

#include "verify/plan/execution_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {

void ExecutionNames::enter(std::int32_t gpu, const plan::ExecutionBlock& block) {
    gpu_ = gpu;
    const plan::PlanPlace place{gpu_, block.id, -1, -1, std::nullopt, -1};
    for (auto& ids : channels_) ids.clear();
    for (auto& ids : buffers_) ids.clear();
    for (const plan::BlockChannels& list : block.channels) {
        for (const std::int32_t id : list.ids) {
            if (static_cast<std::size_t>(id) >= wires().count(list.type)) {
                violations_.add("channel",
                                fmt::format("{} uses {} channel {}; the gpu has {}", text_of(place),
                                            name_of(list.type), id, wires().count(list.type)),
                                place);
            }
            channels_[static_cast<std::size_t>(list.type)].push_back(id);
        }
    }
    const auto& remote = plan_.gpus[static_cast<std::size_t>(gpu_)].remote_buffers;
    for (const plan::BlockChannels& list : block.buffers) {
        for (const std::int32_t id : list.ids) {
            const bool known = static_cast<std::size_t>(id) < remote.size();
            if (!known || std::ranges::find(remote[static_cast<std::size_t>(id)].access, list.type) ==
                              remote[static_cast<std::size_t>(id)].access.end()) {
                violations_.add("buffer",
                                fmt::format("{} uses remote buffer {} by {} channel; {}", text_of(place), id,
                                            name_of(list.type),
                                            known ? "the buffer does not allow it"
                                                  : fmt::format("the gpu has {}", remote.size())),
                                place);
            }
            buffers_[static_cast<std::size_t>(list.type)].push_back(id);
        }
    }
}

std::optional<std::size_t> ExecutionNames::channel(plan::ChannelType type, std::int32_t number) {
    const auto& ids = channels_[static_cast<std::size_t>(type)];
    if (static_cast<std::size_t>(number) >= ids.size()) {
        complain("channel", fmt::format("the thread block has no {} channel {}", name_of(type), number));
        return std::nullopt;
    }
    const auto id = static_cast<std::size_t>(ids[static_cast<std::size_t>(number)]);
    if (id >= wires().count(type)) return std::nullopt;  // told of the thread block
    return id;
}

const plan::RemoteBuffer* ExecutionNames::remote_buffer(const plan::Operand& operand) {
    const plan::ChannelType type = *step_.op->channel_type;
    const auto& ids = buffers_[static_cast<std::size_t>(type)];
    if (static_cast<std::size_t>(operand.id) >= ids.size()) {
        complain("buffer", fmt::format("the thread block has no remote buffer {} for {} channels", operand.id,
                                       name_of(type)));
        return nullptr;
    }
    const auto id = static_cast<std::size_t>(ids[static_cast<std::size_t>(operand.id)]);
    const auto& remote = plan_.gpus[static_cast<std::size_t>(gpu_)].remote_buffers;
    if (id >= remote.size()) return nullptr;  // told of the thread block
    if (static_cast<std::size_t>(remote[id].rank) >= plan_.gpus.size()) return nullptr;
    return &remote[id];
}

void ExecutionNames::complain(const char* code, const std::string& message) {
    if (!violations_.open()) return violations_.count_one();
    violations_.add(code, fmt::format("{}: {}", words(), message), place());
}

std::string ExecutionNames::words() const {
    return fmt::format("{} ({})", text_of(place()), text_of(plan_, step_));
}

}  // namespace tutti::verify

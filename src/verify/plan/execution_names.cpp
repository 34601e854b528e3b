#include "verify/plan/execution_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {

void ExecutionNames::enter(Rank gpu, const plan::ExecutionBlock& block) {
    gpu_ = gpu;
    const plan::Place place{.gpu = gpu_, .block = block.id};
    for (auto& ids : channels_) ids.clear();
    for (auto& ids : buffers_) ids.clear();
    for (const plan::BlockChannels& list : block.channels) {
        for (const plan::ChannelId id : list.ids) {
            if (id.index() >= wires().count(list.type)) {
                violations_.add("channel",
                                fmt::format("{} uses {} channel {}; the gpu has {}", text_of(place),
                                            name_of(list.type), id, wires().count(list.type)),
                                place);
            }
            channels_[static_cast<std::size_t>(list.type)].push_back(id);
        }
    }
    const auto& remote = plan_.gpus[gpu_.index()].remote_buffers;
    for (const plan::BlockBuffers& list : block.buffers) {
        for (const plan::RemoteBufferId id : list.ids) {
            const bool known = id.index() < remote.size();
            if (!known ||
                std::ranges::find(remote[id.index()].access, list.type) == remote[id.index()].access.end()) {
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

std::optional<std::size_t> ExecutionNames::channel(plan::ChannelType type, plan::Slot slot) {
    const auto& ids = channels_[static_cast<std::size_t>(type)];
    if (slot.index() >= ids.size()) {
        complain("channel", fmt::format("the thread block has no {} channel {}", name_of(type), slot));
        return std::nullopt;
    }
    const std::size_t id = ids[slot.index()].index();
    if (id >= wires().count(type)) return std::nullopt;  // reported for the thread block
    return id;
}

const plan::RemoteBuffer* ExecutionNames::remote_buffer(const plan::Operand& operand) {
    const plan::ChannelType type = *step_.op->channel_type;
    const auto& ids = buffers_[static_cast<std::size_t>(type)];
    if (operand.id.index() >= ids.size()) {
        complain("buffer", fmt::format("the thread block has no remote buffer {} for {} channels", operand.id,
                                       name_of(type)));
        return nullptr;
    }
    const std::size_t id = ids[operand.id.index()].index();
    const auto& remote = plan_.gpus[gpu_.index()].remote_buffers;
    if (id >= remote.size()) return nullptr;  // reported for the thread block
    if (remote[id].rank.index() >= plan_.gpus.size()) return nullptr;
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

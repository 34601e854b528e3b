#include "timing/execution_wires.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <map>

namespace tutti::timing {

using plan::ChannelType;

namespace {

/// What a block's slot stands for, below `most`.
template <class Lists>
std::size_t checked(const Lists& lists, ChannelType type, plan::Slot slot, std::size_t most) {
    const auto found = listed(lists, type, slot);
    if (found && found->index() < most) return found->index();
    throw InputError(
        fmt::format("an operation names a {} channel or buffer {} that its thread block does not have",
                    name_of(type), slot));
}

}  // namespace

ExecutionWires::ExecutionWires(const plan::ExecutionPlan& plan, TimedProgram& program)
    : plan_(plan), gpus_(plan.gpus.size()) {
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        list_channels(gpu, program);
        gpus_[gpu].first_semaphore = static_cast<CounterId>(program.counters.size());
        const auto& semaphores = plan.gpus[gpu].semaphores;
        program.counters.insert(program.counters.end(), semaphores.begin(), semaphores.end());
    }
    join_channels();
}

void ExecutionWires::list_channels(std::size_t gpu, TimedProgram& program) {
    gpus_[gpu].groups = group_channels(plan_.gpus[gpu]);
    for (const ChannelType type : {ChannelType::Memory, ChannelType::Port}) {
        for (const Rank peer : peers_of(plan_.gpus[gpu], type)) {
            if (peer.index() >= gpus_.size())
                throw InputError(
                    fmt::format("gpu {} has a channel to rank {}, which is not there", gpu, peer));
            gpus_[gpu].channels[static_cast<std::size_t>(type)].push_back(
                {peer, static_cast<CounterId>(program.counters.size()), std::nullopt, channel_count_++});
            program.counters.push_back(0);
        }
    }
}

/// The n-th channel of a type from a to b is connected with the n-th of that type from b to a.
void ExecutionWires::join_channels() {
    for (std::size_t type = 0; type < 2; ++type) {
        std::map<std::pair<std::size_t, std::size_t>, std::vector<Channel*>> between;
        for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
            for (Channel& channel : gpus_[gpu].channels[type])
                between[{gpu, channel.peer.index()}].push_back(&channel);
        }
        for (auto& [ends, channels] : between) {
            const auto partners = between.find({ends.second, ends.first});
            if (partners == between.end()) continue;
            for (std::size_t n = 0; n < channels.size() && n < partners->second.size(); ++n)
                channels[n]->outbound = partners->second[n]->inbound;
        }
    }
}

const ExecutionWires::Channel& ExecutionWires::channel(std::size_t gpu, std::size_t block, ChannelType type,
                                                       plan::Slot slot) const {
    expects(gpu < plan_.gpus.size() && block < plan_.gpus[gpu].blocks.size());
    if (type == ChannelType::Switch) throw InputError("switch channels carry no signals");
    const auto& channels = gpus_[gpu].channels[static_cast<std::size_t>(type)];
    return channels[checked(plan_.gpus[gpu].blocks[block].channels, type, slot, channels.size())];
}

Rank ExecutionWires::rank_of_buffer(std::size_t gpu, std::size_t block, ChannelType type,
                                    plan::Slot slot) const {
    expects(gpu < plan_.gpus.size() && block < plan_.gpus[gpu].blocks.size());
    const auto& buffers = plan_.gpus[gpu].remote_buffers;
    const Rank rank =
        buffers[checked(plan_.gpus[gpu].blocks[block].buffers, type, slot, buffers.size())].rank;
    if (rank.index() >= gpus_.size())
        throw InputError(fmt::format("gpu {} has a remote buffer of rank {}, which is not there", gpu, rank));
    return rank;
}

std::span<const Rank> ExecutionWires::group(std::size_t gpu, std::size_t block, plan::Slot slot) const {
    expects(gpu < plan_.gpus.size() && block < plan_.gpus[gpu].blocks.size());
    const auto& groups = gpus_[gpu].groups;
    const auto& lists = plan_.gpus[gpu].blocks[block].channels;
    const auto& ranks = groups[checked(lists, ChannelType::Switch, slot, groups.size())].group->ranks;
    for (const Rank rank : ranks) {
        if (rank.index() >= gpus_.size())
            throw InputError(
                fmt::format("gpu {} has a switch channel with rank {}, which is not there", gpu, rank));
    }
    return ranks;
}

CounterId ExecutionWires::semaphore(std::size_t gpu, plan::SemaphoreId id) const {
    expects(gpu < plan_.gpus.size());
    if (id.index() >= plan_.gpus[gpu].semaphores.size())
        throw InputError(fmt::format("gpu {} has no semaphore {}", gpu, id));
    return gpus_[gpu].first_semaphore + id.value();
}

}  // namespace tutti::timing

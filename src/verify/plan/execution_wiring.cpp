#include "verify/plan/execution_wiring.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

namespace tutti::verify {
namespace {

using plan::ChannelType;

class Wiring {
  public:
    Wiring(const plan::ExecutionPlan& plan, Findings& violations)
        : plan_(plan), violations_(violations), ranks_(static_cast<std::int32_t>(plan.gpus.size())) {}

    ExecutionWiring run() {
        result_.gpus.resize(plan_.gpus.size());
        for (std::int32_t gpu = 0; gpu < ranks_; ++gpu) declare(gpu);
        for (std::int32_t gpu = 0; gpu < ranks_; ++gpu) connect(gpu);
        return std::move(result_);
    }

  private:
    [[nodiscard]] bool is_rank(std::int32_t rank) const { return rank < ranks_; }

    void complain(const char* code, std::int32_t gpu, const std::string& message) {
        violations_.add(code, fmt::format("gpu {}: {}", gpu, message), {gpu, -1, -1, -1, std::nullopt, -1});
    }

    std::uint32_t add(const Counter& counter) {
        result_.counters.push_back(counter);
        return static_cast<std::uint32_t>(result_.counters.size() - 1);
    }

    void declare(std::int32_t gpu) {
        const plan::ExecutionGpu& declared = plan_.gpus[static_cast<std::size_t>(gpu)];
        GpuWires& wires = result_.gpus[static_cast<std::size_t>(gpu)];
        for (const plan::GpuChannels& list : declared.channels) {
            if (list.type == ChannelType::Switch) {
                for (const plan::SwitchGroup& group : list.groups) declare_group(gpu, list.buffer, group);
                continue;
            }
            auto& channels = wires.channels[static_cast<std::size_t>(list.type)];
            for (const std::int32_t peer : list.peers) {
                const auto number = static_cast<std::int32_t>(channels.size());
                if (!is_rank(peer) || peer == gpu) {
                    complain("channel", gpu,
                             fmt::format("{} channel {} is connected to {}, {}", name_of(list.type), number,
                                         peer, peer == gpu ? "the gpu itself" : "which is no rank"));
                }
                channels.push_back({peer, add({0, false, gpu, peer, list.type, number}), 0});
            }
        }
        for (std::size_t i = 0; i < declared.remote_buffers.size(); ++i) {
            if (is_rank(declared.remote_buffers[i].rank)) continue;
            complain("buffer", gpu,
                     fmt::format("remote buffer {} lies on {}, which is no rank", i,
                                 declared.remote_buffers[i].rank));
        }
        for (std::size_t i = 0; i < declared.semaphores.size(); ++i) {
            wires.semaphores.push_back(add(
                {declared.semaphores[i], true, gpu, -1, ChannelType::Memory, static_cast<std::int32_t>(i)}));
        }
    }

    void declare_group(std::int32_t gpu, plan::Buffer buffer, const plan::SwitchGroup& group) {
        auto& groups = result_.gpus[static_cast<std::size_t>(gpu)].groups;
        std::set<std::int32_t> members;
        for (const std::int32_t rank : group.ranks) {
            if (is_rank(rank) && members.insert(rank).second) continue;
            complain("channel", gpu,
                     fmt::format("switch channel {} has {} among its ranks, {}", groups.size(), rank,
                                 is_rank(rank) ? "twice" : "which is none"));
        }
        if (!members.contains(gpu)) {
            complain("channel", gpu,
                     fmt::format("switch channel {} is of a group without the gpu itself", groups.size()));
        }
        groups.push_back({&group, buffer});
    }

    void connect(std::int32_t gpu) {
        for (const ChannelType type : {ChannelType::Memory, ChannelType::Port}) {
            auto& channels =
                result_.gpus[static_cast<std::size_t>(gpu)].channels[static_cast<std::size_t>(type)];
            std::map<std::int32_t, std::size_t> used;
            for (GpuWires::Channel& channel : channels) {
                if (!is_rank(channel.peer)) continue;
                const auto& partners = towards(channel.peer, type, gpu);
                const std::size_t n = used[channel.peer]++;
                channel.outbound =
                    n < partners.size() ? partners[n] : add({0, false, channel.peer, gpu, type, -1});
            }
        }
    }

    /// The inbound counters of a GPU's channels towards another, in order.
    const std::vector<std::uint32_t>& towards(std::int32_t gpu, ChannelType type, std::int32_t peer) {
        const auto [at, fresh] = towards_.try_emplace({gpu, type});
        if (fresh) {
            const auto& wires = result_.gpus[static_cast<std::size_t>(gpu)];
            for (const auto& channel : wires.channels[static_cast<std::size_t>(type)]) {
                at->second[channel.peer].push_back(channel.inbound);
            }
        }
        return at->second[peer];
    }

    const plan::ExecutionPlan& plan_;
    Findings& violations_;
    std::int32_t ranks_;
    ExecutionWiring result_;
    std::map<std::pair<std::int32_t, ChannelType>, std::map<std::int32_t, std::vector<std::uint32_t>>>
        towards_;
};

}  // namespace

std::string text_of(const Counter& counter) {
    if (counter.semaphore) return fmt::format("semaphore {} of gpu {}", counter.number, counter.gpu);
    if (counter.number < 0) {
        return fmt::format("a {} channel from gpu {} that gpu {} does not have", name_of(counter.type),
                           counter.peer, counter.gpu);
    }
    return fmt::format("{} channel {} of gpu {} (from gpu {})", name_of(counter.type), counter.number,
                       counter.gpu, counter.peer);
}

ExecutionWiring wire(const plan::ExecutionPlan& plan, Findings& violations) {
    return Wiring(plan, violations).run();
}

}  // namespace tutti::verify

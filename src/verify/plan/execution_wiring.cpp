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
        : plan_(plan), violations_(violations), ranks_(plan.gpus.size()) {}

    ExecutionWiring run() {
        result_.gpus.resize(plan_.gpus.size());
        for (const Rank gpu : plan::ranks_below(std::ssize(plan_.gpus))) declare(gpu);
        for (const Rank gpu : plan::ranks_below(std::ssize(plan_.gpus))) connect(gpu);
        return std::move(result_);
    }

  private:
    [[nodiscard]] bool is_rank(Rank rank) const { return rank.index() < ranks_; }

    void complain(const char* code, Rank gpu, const std::string& message) {
        violations_.add(code, fmt::format("gpu {}: {}", gpu, message), {.gpu = gpu});
    }

    std::uint32_t add(const Counter& counter) {
        result_.counters.push_back(counter);
        return static_cast<std::uint32_t>(result_.counters.size() - 1);
    }

    void declare(Rank gpu) {
        const plan::ExecutionGpu& declared = plan_.gpus[gpu.index()];
        GpuWires& wires = result_.gpus[gpu.index()];
        for (const ChannelType type : {ChannelType::Memory, ChannelType::Port}) {
            auto& channels = wires.channels[static_cast<std::size_t>(type)];
            for (const Rank peer : peers_of(declared, type)) {
                const auto number = static_cast<std::uint32_t>(channels.size());
                if (!is_rank(peer) || peer == gpu) {
                    complain("channel", gpu,
                             fmt::format("{} channel {} is connected to {}, {}", name_of(type), number, peer,
                                         peer == gpu ? "the gpu itself" : "which is no rank"));
                }
                channels.push_back({peer, add({0, false, gpu, peer, type, number}), 0});
            }
        }
        wires.groups = group_channels(declared);
        for (std::size_t i = 0; i < wires.groups.size(); ++i) check_group(gpu, i, *wires.groups[i].group);
        for (std::size_t i = 0; i < declared.remote_buffers.size(); ++i) {
            if (is_rank(declared.remote_buffers[i].rank)) continue;
            complain("buffer", gpu,
                     fmt::format("remote buffer {} lies on {}, which is no rank", i,
                                 declared.remote_buffers[i].rank));
        }
        for (std::size_t i = 0; i < declared.semaphores.size(); ++i) {
            wires.semaphores.push_back(add(
                {declared.semaphores[i], true, gpu, {}, ChannelType::Memory, static_cast<std::uint32_t>(i)}));
        }
    }

    void check_group(Rank gpu, std::size_t number, const plan::SwitchGroup& group) {
        std::set<Rank> members;
        for (const Rank rank : group.ranks) {
            if (is_rank(rank) && members.insert(rank).second) continue;
            complain("channel", gpu,
                     fmt::format("switch channel {} has {} among its ranks, {}", number, rank,
                                 is_rank(rank) ? "twice" : "which is none"));
        }
        if (!members.contains(gpu)) {
            complain("channel", gpu,
                     fmt::format("switch channel {} is of a group without the gpu itself", number));
        }
    }

    void connect(Rank gpu) {
        for (const ChannelType type : {ChannelType::Memory, ChannelType::Port}) {
            auto& channels = result_.gpus[gpu.index()].channels[static_cast<std::size_t>(type)];
            std::map<Rank, std::size_t> used;
            for (GpuWires::Channel& channel : channels) {
                if (!is_rank(channel.peer)) continue;
                const auto& partners = towards(channel.peer, type, gpu);
                const std::size_t n = used[channel.peer]++;
                channel.outbound =
                    n < partners.size() ? partners[n] : add({0, false, channel.peer, gpu, type, {}});
            }
        }
    }

    /// The inbound counters of a GPU's channels towards another, in order.
    const std::vector<std::uint32_t>& towards(Rank gpu, ChannelType type, Rank peer) {
        const auto [at, fresh] = towards_.try_emplace({gpu, type});
        if (fresh) {
            const auto& wires = result_.gpus[gpu.index()];
            for (const auto& channel : wires.channels[static_cast<std::size_t>(type)]) {
                at->second[channel.peer].push_back(channel.inbound);
            }
        }
        return at->second[peer];
    }

    const plan::ExecutionPlan& plan_;
    Findings& violations_;
    std::size_t ranks_;
    ExecutionWiring result_;
    std::map<std::pair<Rank, ChannelType>, std::map<Rank, std::vector<std::uint32_t>>> towards_;
};

}  // namespace

std::string text_of(const Counter& counter) {
    if (counter.semaphore) return fmt::format("semaphore {} of gpu {}", *counter.number, counter.gpu);
    if (!counter.number) {
        return fmt::format("a {} channel from gpu {} that gpu {} does not have", name_of(counter.type),
                           *counter.peer, counter.gpu);
    }
    return fmt::format("{} channel {} of gpu {} (from gpu {})", name_of(counter.type), *counter.number,
                       counter.gpu, *counter.peer);
}

ExecutionWiring wire(const plan::ExecutionPlan& plan, Findings& violations) {
    return Wiring(plan, violations).run();
}

}  // namespace tutti::verify

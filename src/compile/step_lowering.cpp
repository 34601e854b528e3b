#include "compile/step_lowering.hpp"

#include "compile/messages.hpp"
#include "compile/step_network.hpp"
#include "compile/step_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

// Chunks get their numbers as addresses. An all-to-all on all NPUs is the exception: runtimes cut its buffers
// into one block per rank, the own one included, so there the chunks that stay where they are get addresses
// too, and all are numbered by source, destination and number.

namespace tutti::compile {
namespace {

using plan::NodeSend;
using plan::PlanNode;
using plan::ScclPlan;

PlanNode plan_node(NodeId node) { return PlanNode(node.index()); }

std::vector<PlanNode> plan_nodes(std::span<const NodeId> nodes) {
    std::vector<PlanNode> result;
    for (const NodeId node : nodes) result.push_back(plan_node(node));
    return result;
}

/// The only collective, if it is on all NPUs in order; runtimes know no other.
const Collective* whole_collective(const Instance& instance) {
    if (instance.collectives().size() != 1) return nullptr;
    const Collective& collective = instance.collectives().front();
    const auto& members = instance.groups()[collective.group.index()].members;
    if (members.size() != instance.topology().npus()) return nullptr;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
        if (members[rank] != NodeId(rank)) return nullptr;
    }
    return &collective;
}

std::string runtime_name(const Collective* collective) {
    if (collective == nullptr) return "custom";
    switch (collective->kind) {
        case CollectiveKind::AllGather:
            return "allgather";
        case CollectiveKind::AllToAll:
            return "alltoall";
        case CollectiveKind::AllReduce:
            return "allreduce";
        case CollectiveKind::ReduceScatter:
            return "reduce_scatter";
        default:
            return "custom";
    }
}

class StepLowering {
  public:
    StepLowering(const Instance& instance, const Schedule& schedule)
        : instance_(instance), schedule_(schedule), whole_(whole_collective(instance)) {}

    ScclPlan run() {
        refuse_what_cannot_be_said();
        network_ = step_network(instance_);
        plan_.links = network_.links;
        plan_.switches = network_.switches;
        describe();
        add_chunks();
        gather_messages();
        // TACCL's lowering does not order what is added in one step, msccl-tools' does.
        const bool timed = std::ranges::any_of(messages_, &StepMessage::replaces);
        put_into_steps(messages_, timed);
        add_sends();
        if (timed) say_times();
        return std::move(plan_);
    }

  private:
    void refuse_what_cannot_be_said() const {
        if (instance_.topology().npus() > kMostStepNpus) {
            throw InputError(
                fmt::format("expected at most {} NPUs: SCCL writes a number for each pair of them",
                            kMostStepNpus),
                "/topology");
        }
        for (const Collective& collective : instance_.collectives()) {
            if (last_release(collective) == Ticks(0)) continue;
            throw InputError(
                fmt::format("collective '{}' is released at tick {}: steps cannot say when "
                            "something may begin",
                            collective.id, last_release(collective).count()));
        }
    }

    void describe() {
        plan_.name = instance_.name();
        plan_.nodes = static_cast<std::int32_t>(instance_.topology().npus());
        plan_.network = instance_.name();
        plan_.runtime = runtime_name(whole_);
        for (const Collective& collective : instance_.collectives()) {
            plan_.collective +=
                fmt::format("{}{}(n={})", plan_.collective.empty() ? "" : ",", name_of(collective.kind),
                            instance_.groups()[collective.group.index()].members.size());
        }
        plan_.has_links = true;
    }

    void add_chunks() {
        const bool exchange = whole_ != nullptr && whole_->kind == CollectiveKind::AllToAll;
        const auto ranks = static_cast<std::int64_t>(instance_.topology().npus());
        const auto share = exchange ? static_cast<std::int64_t>(whole_->chunks) : 1;
        std::map<std::pair<NodeId, NodeId>, std::int64_t> given;
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const Demand demand = instance_.demand(ChunkId(c));
            auto address = static_cast<std::int64_t>(c);
            if (exchange) {
                const std::pair ends{demand.holders[0], demand.receivers[0]};
                address = (ends.first.value() * ranks + ends.second.value()) * share + given[ends]++;
            }
            addresses_.push_back(address);
            const auto receivers = plan_nodes(demand.receivers);
            if (demand.reduction) {
                for (const NodeId holder : demand.holders)
                    plan_.chunks.push_back({{plan_node(holder)}, receivers, address});
            } else {
                plan_.chunks.push_back({plan_nodes(demand.holders), receivers, address});
            }
        }
        for (std::int64_t own = 0; exchange && own < ranks * share; ++own) {
            const std::int64_t rank = own / share;
            const auto node = plan::id_of<PlanNode>(rank);
            plan_.chunks.push_back({{node}, {node}, (rank * ranks + rank) * share + own % share});
        }
        std::ranges::stable_sort(plan_.chunks, {}, &plan::SendChunk::address);
    }

    /// Messages in order of start, without those that bring a plain chunk where it is already.
    void gather_messages() {
        for (std::size_t c = 0; c < instance_.collectives().size(); ++c) {
            for (const Message& message : messages_of(instance_, schedule_, CollectiveId(c)).all) {
                messages_.push_back({message, instance_.demands().is_reduction(message.chunk), false, 0});
            }
        }
        std::ranges::stable_sort(messages_, {}, [](const StepMessage& each) { return each.message.arrival; });
        std::set<std::pair<NodeId, ChunkId>> has;
        std::erase_if(messages_, [&](StepMessage& each) {
            const Message& message = each.message;
            const auto holders = instance_.demand(message.chunk).holders;
            const bool there = !has.emplace(message.to, message.chunk).second ||
                               std::ranges::binary_search(holders, message.to);
            each.replaces = each.sums && there && message.op == Op::Copy;
            return there && !each.sums;
        });
        std::ranges::stable_sort(messages_, {}, [](const StepMessage& each) {
            return std::pair(each.message.start, each.message.chunk);
        });
    }

    void add_sends() {
        std::ranges::stable_sort(messages_, {}, &StepMessage::step);
        for (const StepMessage& each : messages_) {
            NodeSend send;
            send.address = addresses_[each.message.chunk.index()];
            send.src = plan_node(each.message.from);
            send.dst = plan_node(each.message.to);
            send.list = static_cast<std::int32_t>(each.step);
            send.when = send.list;
            const bool first = plan_.sends.empty() || plan_.sends.back().list != send.list;
            send.position = first ? 0 : *plan_.sends.back().position + 1;
            plan_.sends.push_back(send);
        }
        plan_.rounds = rounds_of(network_, plan_.sends, messages_.empty() ? 0 : messages_.back().step + 1);
        plan_.extra_rounds = std::accumulate(plan_.rounds.begin(), plan_.rounds.end(), std::int64_t{0}) -
                             static_cast<std::int64_t>(plan_.rounds.size());
    }

    /// The same in TACCL's terms: a step starts when the rounds before it are over, every link takes one
    /// round for a chunk, and the sends of a pair are dealt to its links in turn.
    void say_times() {
        constexpr std::int64_t kRound = 10;
        std::vector<std::int64_t> begin(plan_.rounds.size());
        std::exclusive_scan(plan_.rounds.begin(), plan_.rounds.end(), begin.begin(), std::int64_t{0});
        std::map<std::pair<PlanNode, PlanNode>, std::int64_t> lanes, dealt;
        for (plan::ScclLink& link : plan_.links) {
            lanes[{link.src, link.dst}] = link.capacity;
            link.beta = kRound * plan::kFinePerTime;
        }
        for (std::size_t i = 0; i < plan_.sends.size(); ++i) {
            NodeSend& send = plan_.sends[i];
            if (send.position == 0) dealt.clear();
            const std::pair ends{send.src, send.dst};
            send.when = begin[static_cast<std::size_t>(send.list)] * kRound;
            send.lane = static_cast<std::int32_t>(dealt[ends]++ % lanes[ends]);
            send.replaces = !messages_[i].sums || messages_[i].replaces;
        }
        for (std::int64_t& rounds : plan_.rounds) rounds *= kRound;
        plan_.clock = plan::SendClock::Times;
        plan_.has_latencies = true;
        plan_.extra_rounds.reset();
        plan_.runtime.clear();
        plan_.switches.clear();
    }

    const Instance& instance_;
    const Schedule& schedule_;
    const Collective* whole_;
    StepNetwork network_;
    ScclPlan plan_;
    std::vector<std::int64_t> addresses_;  ///< by chunk
    std::vector<StepMessage> messages_;
};

}  // namespace

ScclPlan lower_to_steps(const Instance& instance, const Schedule& schedule) {
    return StepLowering(instance, schedule).run();
}

}  // namespace tutti::compile

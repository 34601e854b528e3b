// Converts a plan of sends between nodes to tasks.
//
// Such plans have no thread blocks and no buffers, only sends of addresses between nodes, with times on the
// producer's own clock. Only the order of these times is kept:
//
// - A plain chunk can be sent by its initial holders, and by a node that received it before (by the clock),
// as
//   soon as the first copy has arrived.
// - Chunks that share an address are added up. A send carries the sum of all that arrived before it (by the
//   clock), so it waits for all of it; and a later arrival is added only when the earlier sends have started,
//   as a lowering with buffers must do.
// - Sends from one node to another are sequential. A plan of queues has the order of each link instead.
//
// A plan of trees broadcasts every root's share, in as many chunks as the tree carries. As a reduce-scatter
// the trees are reversed: each node adds up what its children send before it sends. An all-reduce is the
// reversed trees followed by the trees.

#include "timing/send_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace tutti::timing {
namespace {
using plan::ForestCollPlan;
using plan::NodeSend;
using plan::PlanNode;
using plan::SendClock;
using plan::SendProgram;

/// Times on the producer's clock: data that is usable at t can be sent by a send that starts at t.
struct ClockTimes {
    std::int64_t start = 0, usable = 0;
};
/// TACCL's second phase, whose sends replace, comes after its first.
std::int64_t phase(const SendProgram& plan, const NodeSend& send) {
    return plan.clock == SendClock::Times && send.replaces ? std::int64_t{1} << 62U : 0;
}
ClockTimes clock_times(const SendProgram& plan, const NodeSend& send) {
    if (plan.clock == SendClock::Queues) return {0, 0};
    const std::int64_t when =
        std::clamp<std::int64_t>(send.when, 0, std::int64_t{1} << 61U) + phase(plan, send);
    const bool has_arrival = plan.clock != SendClock::Times && send.arrives && *send.arrives > send.when;
    return {when, has_arrival ? std::min(*send.arrives, std::int64_t{1} << 62U) : when + 1};
}

class SendWriter {
  public:
    SendWriter(TimedProgram& program, Placement& placement, const SendProgram& plan)
        : program_(program), placement_(placement), plan_(plan) {}

    void write() {
        find_holders();
        order_.resize(plan_.sends.size());
        std::iota(order_.begin(), order_.end(), 0U);
        std::ranges::stable_sort(order_, {},
                                 [&](std::uint32_t i) { return clock_times(plan_, plan_.sends[i]).start; });
        write_transfers();
        write_data();
    }

  private:
    struct Place {
        PlanNode node{};
        std::int64_t address = 0;
        friend auto operator<=>(const Place&, const Place&) = default;
    };

    void find_holders() {
        std::map<std::int64_t, int> contributions;
        for (const plan::SendChunk& chunk : plan_.chunks) {
            for (const PlanNode node : chunk.pre) holders_.push_back({node, chunk.address});
            if (++contributions[chunk.address] == 2) sums_.insert(chunk.address);
        }
        std::ranges::sort(holders_);
    }

    [[nodiscard]] bool holds(const Place& place) const { return std::ranges::binary_search(holders_, place); }

    void write_transfers() {
        std::map<std::tuple<PlanNode, PlanNode, std::int32_t>, std::pair<RouteId, std::optional<TaskId>>>
            last;
        std::map<std::pair<PlanNode, PlanNode>, std::uint32_t> turns;
        task_.resize(plan_.sends.size());
        for (const std::uint32_t i : order_) {
            const NodeSend& send = plan_.sends[i];
            if (!joins_nodes(plan_, send) || send.src == send.dst)
                throw InputError("a send does not join two nodes of the plan");
            const auto [entry, is_new] = last.try_emplace({send.src, send.dst, send.lane});
            auto& [route, before] = entry->second;
            if (is_new)
                route = placement_.connect(rank_of(send.src), rank_of(send.dst),
                                           plan::ChannelId(static_cast<std::size_t>(send.lane)),
                                           turns[{send.src, send.dst}]++);
            placement_.begin_block(rank_of(send.src), std::nullopt);
            task_[i] = program_.add_task(TimedTask::transfer(route, placement_.chunk_size()));
            if (before) program_.edges.push_back({*before, task_[i], Moment::Start});
            before = task_[i];
        }
    }

    /// A chunk arrives at a place or is sent from it.
    struct Event {
        Place place{};
        std::int64_t when = 0;
        bool leaves = false;
        std::uint32_t send = 0;
    };

    void write_data() {
        std::vector<Event> events;
        for (const std::uint32_t i : order_) {
            const NodeSend& send = plan_.sends[i];
            const ClockTimes times = clock_times(plan_, send);
            events.push_back({{send.dst, send.address}, times.usable, false, i});
            events.push_back({{send.src, send.address}, times.start, true, i});
        }
        std::ranges::stable_sort(events, {},
                                 [](const Event& e) { return std::tuple(e.place, e.when, e.leaves); });
        for (std::size_t begin = 0; begin < events.size();) {
            std::size_t end = begin;
            while (end < events.size() && events[end].place == events[begin].place) ++end;
            const auto here = std::span(events).subspan(begin, end - begin);
            if (sums_.contains(here.front().place.address)) {
                add_up(here);
            } else {
                pass_on(here);
            }
            begin = end;
        }
    }

    void pass_on(std::span<const Event> events) {
        if (holds(events.front().place)) return;
        std::optional<TaskId> copy;
        for (const Event& event : events) {
            if (event.leaves) {
                program_.edges.push_back({needed(copy, event), task_[event.send], Moment::Arrive});
            } else if (!copy) {
                copy = task_[event.send];
            } else {
                const TaskId first = program_.add_task({TaskKind::First});
                program_.edges.push_back({*copy, first, Moment::Arrive});
                program_.edges.push_back({task_[event.send], first, Moment::Arrive});
                copy = first;
            }
        }
    }

    void add_up(std::span<const Event> events) {
        const bool starts_here = holds(events.front().place);
        std::optional<TaskId> sum;
        std::vector<TaskId> readers;
        for (const Event& event : events) {
            if (event.leaves) {
                if (sum || !starts_here)
                    program_.edges.push_back({needed(sum, event), task_[event.send], Moment::Arrive});
                readers.push_back(task_[event.send]);
                continue;
            }
            const TaskId added = program_.add_task({});
            program_.edges.push_back({task_[event.send], added, Moment::Arrive});
            if (sum) program_.edges.push_back({*sum, added, Moment::Arrive});
            for (const TaskId reader : readers) program_.edges.push_back({reader, added, Moment::Start});
            readers.clear();
            sum = added;
        }
    }

    [[nodiscard]] TaskId needed(const std::optional<TaskId>& task, const Event& event) const {
        if (task) return *task;
        throw InputError(fmt::format("{} sends {}, which it does not have",
                                     node_name(plan_, event.place.node),
                                     address_name(plan_, event.place.address)));
    }

    TimedProgram& program_;
    Placement& placement_;
    const SendProgram& plan_;
    std::vector<Place> holders_;   ///< sorted
    std::set<std::int64_t> sums_;  ///< addresses
    std::vector<std::uint32_t> order_;
    std::vector<TaskId> task_;  ///< per send
};

class TreeWriter {
  public:
    TreeWriter(TimedProgram& program, Placement& placement, const ForestCollPlan& plan)
        : program_(program), placement_(placement), plan_(plan) {}

    void write(CollectiveKind goal) {
        if (!plan::trees_make(goal))
            throw InputError("trees are timed as an allgather, a reduce_scatter or an allreduce");
        for (const plan::ForestTree& tree : plan_.trees) {
            const std::int64_t chunks = std::max<std::int64_t>(tree.chunks, 0);
            program_.expect_room_for(static_cast<std::uint64_t>(chunks));
            for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
                std::map<PlanNode, TaskId> has;
                if (goal != CollectiveKind::AllGather) has = reduce(tree);
                if (goal != CollectiveKind::ReduceScatter) broadcast(tree, std::move(has));
            }
        }
    }

  private:
    TaskId transfer(PlanNode from, PlanNode to) {
        const auto [entry, is_new] = routes_.try_emplace({from, to});
        if (is_new) entry->second = placement_.connect(rank_of(from), rank_of(to), plan::ChannelId(0), 0);
        placement_.begin_block(rank_of(from), std::nullopt);
        return program_.add_task(TimedTask::transfer(entry->second, placement_.chunk_size()));
    }

    /// Reduces to the root; returns the task after which the root has the whole sum.
    std::map<PlanNode, TaskId> reduce(const plan::ForestTree& tree) {
        std::map<PlanNode, TaskId> complete;  ///< when all children's sums are there
        for (const plan::TreeSend& send : tree.sends) {
            for (const PlanNode node : {send.src, send.dst}) {
                if (!complete.contains(node)) complete[node] = program_.add_task({});
            }
        }
        for (const plan::TreeSend& send : tree.sends) {
            const TaskId sum = transfer(send.dst, send.src);
            program_.edges.push_back({complete[send.dst], sum, Moment::Arrive});
            program_.edges.push_back({sum, complete[send.src], Moment::Arrive});
        }
        const auto whole = complete.find(tree.root);
        if (whole == complete.end()) return {};
        return {*whole};
    }

    void broadcast(const plan::ForestTree& tree, std::map<PlanNode, TaskId> has) {
        std::vector<TaskId> made;
        for (const plan::TreeSend& send : tree.sends) {
            made.push_back(transfer(send.src, send.dst));
            if (send.dst == tree.root || !has.try_emplace(send.dst, made.back()).second)
                throw InputError("two sends of a tree end at one node");
        }
        for (std::size_t i = 0; i < tree.sends.size(); ++i) {
            const auto from = has.find(tree.sends[i].src);
            if (from != has.end()) {
                program_.edges.push_back({from->second, made[i], Moment::Arrive});
            } else if (tree.sends[i].src != tree.root) {
                throw InputError(plan::node_name(plan_.node_names, tree.sends[i].src) +
                                 " sends on what no send of its tree brings");
            }
        }
    }

    TimedProgram& program_;
    Placement& placement_;
    const ForestCollPlan& plan_;
    std::map<std::pair<PlanNode, PlanNode>, RouteId> routes_;
};

}  // namespace

void append_tasks(TimedProgram& program, Placement& placement, const SendProgram& sends) {
    SendWriter(program, placement, sends).write();
}

void append_tasks(TimedProgram& program, Placement& placement, const ForestCollPlan& plan,
                  CollectiveKind goal) {
    TreeWriter(program, placement, plan).write(goal);
}

}  // namespace tutti::timing

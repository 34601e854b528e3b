// The transfers of an operation of an execution plan, part by part (execution_tasks.cpp has the overview).

#include "plan/slices.hpp"
#include "timing/execution_work.hpp"

#include <algorithm>

namespace tutti::timing {
namespace {

using plan::ChannelType;
using plan::Operand;
using plan::OperandRole;
using plan::Operation;

/// One operand: where its parts are, and the last transfer from or to each rank.
struct LaneEnd {
    std::int64_t first = 0;              ///< part
    bool here = false, packets = false;  ///< here: (also) in this GPU's own memory
    std::vector<Rank> ranks{};           ///< the other ranks that have it
    std::vector<RouteId> routes{};       ///< from or to them
    std::vector<std::optional<TaskId>> last{};
    const ExecutionWires::Channel* port = nullptr;  ///< of a destination by port channel
};

/// Sources that are added up, and the destinations of the sum.
struct Lane {
    std::vector<LaneEnd> from{}, to{};
    std::int64_t count = 0;
};

class Mover {
  public:
    Mover(ExecutionWork& work, const Operation& op) : work_(work), op_(op) {}

    void write() {
        for (Lane& lane : lanes()) move(lane);
        if (started_.empty() && arrived_.empty()) return;
        const TaskId next = work_.task_after(work_.at, {});
        for (const TaskId task : started_) work_.edge(task, next);
        for (const TaskId task : arrived_) work_.edge(task, next, Moment::Arrive);
        work_.at = next;
    }

  private:
    [[nodiscard]] plan::PartRange parts_of(const Operand& operand) const {
        constexpr std::int64_t kMost = std::int64_t{1} << 40;
        if (operand.size < 0 || operand.index < 0 || operand.size > kMost || operand.index > kMost)
            throw InputError("an operand has an index or a size that no buffer has");
        return slice_of(op_, operand, work_.parts);
    }

    [[nodiscard]] LaneEnd end_of(const Operand& operand, OperandRole role, bool is_source) const {
        LaneEnd end;
        end.first = parts_of(operand).first;
        end.packets = is_packets(role);
        const Operand::Kind wanted = kind_of(role);
        if (wanted != Operand::Kind::Local && operand.kind == Operand::Kind::Remote) {
            const ChannelType type = op_.channel_type.value_or(ChannelType::Memory);
            end.ranks = {work_.wires.rank_of_buffer(work_.gpu, work_.block, type, operand.id)};
        } else if (wanted != Operand::Kind::Local && operand.kind == Operand::Kind::Switch) {
            const auto group = work_.wires.group(work_.gpu, work_.block, operand.id);
            end.ranks.assign(group.begin(), group.end());
            work_.placement.note_once(
                "switch channels are timed as one transfer from or to each rank of a group");
        }
        end.here = std::erase(end.ranks, work_.rank()) > 0 || end.ranks.empty();
        end.last.resize(end.ranks.size());
        for (const Rank rank : end.ranks)
            end.routes.push_back(is_source ? work_.route(rank, work_.rank())
                                           : work_.route(work_.rank(), rank));
        return end;
    }

    [[nodiscard]] std::vector<Lane> lanes() const {
        const plan::OperationShape& shape = plan::shape_of(op_);
        std::vector<Lane> lanes;
        for (const auto& [src, dst, at] : operand_groups(op_)) {
            Lane& lane = lanes.emplace_back();
            for (std::size_t k = 0; k < src.size(); ++k)
                lane.from.push_back(end_of(src[k], shape.source(at + k), true));
            for (std::size_t k = 0; k < dst.size(); ++k) {
                lane.to.push_back(end_of(dst[k], shape.destination(at + k), false));
                lane.count = parts_of(dst[k]).count;
                if (op_.channel_type != ChannelType::Port || op_.channels.empty()) continue;
                const plan::Slot id = op_.channels[std::min(at + k, op_.channels.size() - 1)];
                lane.to.back().port = &work_.wires.channel(work_.gpu, work_.block, ChannelType::Port, id);
            }
        }
        return lanes;
    }

    void move(Lane& lane) {
        const auto takes_time = [](const LaneEnd& end) { return !end.ranks.empty() || end.packets; };
        const bool fetches = std::ranges::any_of(lane.from, takes_time);
        if (!fetches && std::ranges::none_of(lane.to, takes_time)) return;
        work_.program.expect_room_for(static_cast<std::uint64_t>(lane.count));
        std::optional<TaskId> summed;
        const auto next_sum = [&](std::int64_t part) {
            const TaskId ready = fetch(lane, part);
            if (summed) work_.edge(*summed, ready);
            summed = ready;
        };
        // A proxy gets what it puts when all of it is there.
        const bool whole =
            fetches && std::ranges::any_of(lane.to, [](const LaneEnd& end) { return end.port != nullptr; });
        for (std::int64_t part = 0; whole && part < lane.count; ++part) next_sum(part);
        for (std::int64_t part = 0; part < lane.count; ++part) {
            if (fetches && !whole) next_sum(part);
            for (LaneEnd& end : lane.to) give(end, part, summed.value_or(work_.at));
        }
        if (summed) arrived_.push_back(*summed);
        for (const LaneEnd& end : lane.to) {
            for (const auto& last : end.last) {
                if (!last) continue;
                if (end.port == nullptr) started_.push_back(*last);
                if (!end.packets) work_.puts.push_back(*last);
            }
        }
    }

    /// A task that is done when the part has arrived from all sources.
    TaskId fetch(Lane& lane, std::int64_t part) {
        std::vector<TaskId> came;
        for (LaneEnd& end : lane.from) {
            for (std::size_t i = 0; i < end.ranks.size(); ++i)
                came.push_back(next_transfer(end, i, work_.at));
        }
        const TaskId ready = work_.task_after(work_.at, {});
        for (const TaskId task : came) work_.edge(task, ready, Moment::Arrive);
        for (const LaneEnd& end : lane.from) {
            if (end.packets && end.here)
                work_.packets_read.push_back({work_.rank(), end.first + part, ready});
        }
        return ready;
    }

    void give(LaneEnd& end, std::int64_t part, TaskId ready) {
        if (end.packets && end.here) work_.packets_written.push_back({work_.rank(), end.first + part, ready});
        for (std::size_t i = 0; i < end.ranks.size(); ++i) {
            const TaskId put = next_transfer(end, i, ready);
            if (end.port != nullptr) work_.enqueue_on_proxy(*end.port, put);
            if (end.packets) deliver(end.ranks[i], end.first + part, put);
        }
    }

    /// The parts of one operand and rank are transferred in sequence.
    TaskId next_transfer(LaneEnd& end, std::size_t i, TaskId ready) {
        const auto task = TimedTask::transfer(end.routes[i], work_.placement.chunk_size());
        const TaskId made = work_.task_after(ready, task);
        if (end.last[i]) work_.edge(*end.last[i], made);
        end.last[i] = made;
        return made;
    }

    /// Like a signal, a packet takes effect only when the block's earlier puts have arrived.
    void deliver(Rank to, std::int64_t part, TaskId put) {
        if (const auto before = work_.all_arrived()) {
            const TaskId delivered = work_.program.add_task({});
            work_.edge(put, delivered, Moment::Arrive);
            work_.edge(*before, delivered, Moment::Arrive);
            put = delivered;
        }
        work_.packets_written.push_back({to, part, put});
    }

    ExecutionWork& work_;
    const Operation& op_;
    std::vector<TaskId> started_, arrived_;  ///< what the block waits for before it goes on
};

}  // namespace

void write_moves(ExecutionWork& work, const Operation& op) { Mover(work, op).write(); }

}  // namespace tutti::timing

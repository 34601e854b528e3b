// Tasks of a judged program.
//
// Every op has a task `begin`, at which all that it waits for is over, and a task `go`, at which its thread
// block goes on and its data is moved. In between are its parts, one for each place:
//
// - An op that sends or receives messages (MSCCL) has one task for each place, which waits for that place's
//   message, for the start of the place before, and for room on its connection. So a fused step forwards one
//   place while the next one is on its way. `go` is the start of the last one: a block goes on as soon as a
//   link has taken its data.
// - An op that reads and writes other GPUs' memories (MSCCL++) fetches each place that it reads elsewhere,
//   adds when all have come, and puts each place that it writes elsewhere. `go` is when all sums are done and
//   a link has taken the last put, or the proxy was told.
//
// What a GPU has put arrives before a signal that it sends later takes effect. So each op knows a task
// `landed`: all puts have arrived that come before it within its GPU. A signal takes the latency of its route
// and waits for the sender's `landed`; so do packets, whose readers also wait for the very places they read.

#include "run/emulated_tasks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tutti::run {
namespace {

using plan::EdgeKind;
using plan::kNoOp;
using plan::OpId;
using Moment = EmulatedEdge::Moment;
using Kind = EmulatedTask::Kind;
using TaskId = std::uint32_t;
constexpr TaskId kNoTask = ~TaskId{0};

class TaskMaker {
  public:
    TaskMaker(const verify::JudgedProgram& judged, const EmulatedPlace& place, EmulatedLinks& links)
        : program_(judged.program), place_(place), links_(links) {}

    EmulatedTasks run(const std::vector<OpId>& order) && {
        const std::size_t ops = program_.ops.size();
        begin_.resize(ops);
        go_.resize(ops);
        landed_.assign(ops, kNoTask);
        first_part_.assign(ops, kNoTask);
        find_receivers();
        connect();
        for (const OpId op : ops_in_order()) add(op);
        join_edges();
        join_blocks();
        join_connections();
        find_landings(order);
        join_signals();
        return std::move(made_);
    }

  private:
    TaskId task(Kind kind, OpId of, std::uint32_t route = 0) {
        made_.tasks.push_back({kind, route, 0, kNoOp, of});
        return static_cast<TaskId>(made_.tasks.size() - 1);
    }
    void edge(TaskId from, TaskId to, Moment moment = Moment::Start) {
        made_.edges.push_back({from, to, moment});
        ++made_.tasks[to].waits;
    }
    [[nodiscard]] Rank gpu(OpId op) const {
        const auto& gpu = program_.op_places[op].gpu;
        return gpu ? *gpu : Rank(0);
    }
    [[nodiscard]] std::uint32_t chain(OpId op) const { return program_.ops[op].chain; }

    /// Tasks are numbered in this order, by which ties are broken: by gpu, thread block, step.
    [[nodiscard]] std::vector<OpId> ops_in_order() const {
        std::vector<OpId> ops(program_.ops.size());
        std::iota(ops.begin(), ops.end(), OpId{0});
        const auto number = [](const auto& id) { return id ? (*id).value() : ~0U; };
        std::ranges::stable_sort(ops, {}, [&](OpId op) {
            const plan::Place& at = program_.op_places[op];
            return std::tuple(number(at.gpu), number(at.block), number(at.step));
        });
        return ops;
    }

    void find_receivers() {
        receiver_.assign(program_.ops.size(), kNoOp);
        for (OpId op = 0; op < program_.ops.size(); ++op) {
            if (program_.ops[op].message_from != kNoOp) receiver_[program_.ops[op].message_from] = op;
        }
    }

    /// The routes of connections, by channel.
    void connect() {
        std::set<std::tuple<Rank, Rank, std::uint32_t, OpId>> connections;
        for (OpId op = 0; op < program_.ops.size(); ++op) {
            const OpId to = receiver_[op];
            if (to != kNoOp && gpu(to) != gpu(op))
                connections.emplace(gpu(op), gpu(to), place_.channel(program_.op_places[op]), op);
        }
        for (const auto& [from, to, channel, op] : connections) (void)route(from, to, op);
    }

    /// The route from rank to rank of one thread block; blocks that connect the same two take turns.
    [[nodiscard]] std::uint32_t route(Rank from, Rank to, OpId op) {
        const plan::Place& at = program_.op_places[op];
        const std::uint32_t block = at.block ? (*at.block).value() : ~0U;
        const auto [known, is_new] = routes_.try_emplace({from, to, gpu(op), block});
        if (is_new) {
            const std::uint32_t turn = turns_[{from, to}]++;
            known->second =
                links_.connect(place_.npus[from.index()], place_.npus[to.index()], turn, place_.chunk);
        }
        return known->second;
    }

    void add(OpId id) {
        begin_[id] = task(Kind::Step, id);
        const plan::Op& op = program_.ops[id];
        const bool messages = op.message_from != kNoOp || receiver_[id] != kNoOp;
        std::vector<std::pair<TaskId, Moment>> over;
        if (messages && op.moves > 0) {
            add_messages(id, over);
        } else {
            for (const plan::Move& move : program_.moves_of(op)) add_move(id, move, over);
        }
        go_[id] = task(Kind::Step, id);
        made_.tasks[go_[id]].runs = id;
        edge(begin_[id], go_[id]);
        for (const auto& [last, moment] : over) edge(last, go_[id], moment);
    }

    void add_messages(OpId id, std::vector<std::pair<TaskId, Moment>>& over) {
        const std::int64_t count = program_.moves[program_.ops[id].first_move].count;
        const OpId to = receiver_[id];
        const bool leaves = to != kNoOp && gpu(to) != gpu(id);
        const std::uint32_t way = leaves ? route(gpu(id), gpu(to), id) : 0;
        for (std::int64_t e = 0; e < count; ++e) {
            const TaskId part = task(leaves ? Kind::Message : Kind::Step, id, way);
            if (e == 0) first_part_[id] = part;
            edge(e == 0 ? begin_[id] : part - 1, part);
        }
        if (count > 0) over.emplace_back(first_part_[id] + static_cast<TaskId>(count) - 1, Moment::Start);
    }

    /// A message of an operation, from or to a place elsewhere. Neighbouring places of one operation are
    /// those of one pair of operands: they start one after the other.
    [[nodiscard]] TaskId message(OpId id, const plan::Range& range, std::int64_t e, bool leaves) {
        const Rank other = program_.memories[range.memory].gpu;
        const std::uint32_t way = leaves ? route(gpu(id), other, id) : route(other, gpu(id), id);
        const TaskId made = task(Kind::Message, id, way);
        const auto number = [](const auto& part) { return part ? std::int64_t{(*part).value()} : -1; };
        const plan::Place& at = program_.op_places[id];
        const auto key = [&](std::int64_t place) {
            return std::array{std::int64_t{way}, number(at.block),           number(at.step),
                              number(at.inner),  std::int64_t{range.memory}, place};
        };
        const auto before = last_messages_.find(key(range.first + e - 1));
        if (before != last_messages_.end()) edge(before->second, made);
        last_messages_[key(range.first + e)] = made;
        return made;
    }

    void add_move(OpId id, const plan::Move& move, std::vector<std::pair<TaskId, Moment>>& over) {
        const auto elsewhere = [&](const plan::Range& range) {
            return program_.memories[range.memory].gpu != gpu(id);
        };
        std::vector<const plan::Range*> from, to;
        bool waits_for_packets = false, gives_packets = false;
        for (const plan::Range range : program_.reads_of(move)) {
            if (elsewhere(range)) from.push_back(&range);
            waits_for_packets =
                waits_for_packets || (program_.memories[range.memory].packets && !move.raw_packets);
        }
        for (const plan::Range range : program_.writes_of(move)) {
            if (elsewhere(range)) to.push_back(&range);
            gives_packets = gives_packets || program_.memories[range.memory].packets;
        }
        if (from.empty() && to.empty() && !waits_for_packets && !gives_packets) return;
        const bool proxy = place_.by_proxy(program_.op_places[id]);
        std::vector<TaskId> put(to.size(), kNoTask);
        TaskId sum = kNoTask;
        for (std::int64_t e = 0; e < move.count; ++e) {
            const TaskId before = sum;
            sum = task(Kind::Step, id);
            edge(before == kNoTask ? begin_[id] : before, sum);
            for (std::size_t k = 0; k < from.size(); ++k) {
                const TaskId fetch = message(id, *from[k], e, false);
                edge(begin_[id], fetch);
                edge(fetch, sum, Moment::Arrive);
            }
            for (const plan::Range range : program_.reads_of(move)) {
                if (program_.memories[range.memory].packets && !move.raw_packets)
                    packet_reads_.push_back({id, range.memory, range.first + e, sum});
            }
            for (std::size_t k = 0; k < to.size(); ++k) {
                const TaskId given = message(id, *to[k], e, true);
                edge(sum, given);
                put[k] = given;
                note_packet(id, *to[k], e, given);
            }
            for (const plan::Range range : program_.writes_of(move)) {
                if (!elsewhere(range)) note_packet(id, range, e, sum);
            }
        }
        if (sum == kNoTask) return;
        over.emplace_back(sum, Moment::Start);
        for (std::size_t k = 0; k < to.size(); ++k) {
            if (!proxy) over.emplace_back(put[k], Moment::Start);
            if (!program_.memories[to[k]->memory].packets) puts_[id].push_back(put[k]);
        }
    }

    void note_packet(OpId id, const plan::Range& range, std::int64_t e, TaskId given) {
        if (program_.memories[range.memory].packets)
            packet_writes_[{id, range.memory, range.first + e}] = given;
    }

    void join_edges() {
        for (const plan::Edge& between : program_.edges) {
            const auto [from, to, kind] = between;
            const bool own = gpu(from) == gpu(to);
            if (kind == EdgeKind::Message) {
                join_message(from, to);
            } else if (kind == EdgeKind::Packet) {
                // Data is there when it is read, whatever the reader's places.
                edge(go_[from], go_[to]);
            } else if (kind != EdgeKind::Signal || own) {
                edge(go_[from], begin_[to]);
            }
        }
    }

    void join_message(OpId from, OpId to) {
        if (first_part_[from] == kNoTask || first_part_[to] == kNoTask) return;
        const std::int64_t count = std::min(program_.moves[program_.ops[from].first_move].count,
                                            program_.moves[program_.ops[to].first_move].count);
        for (TaskId e = 0; e < count; ++e) edge(first_part_[from] + e, first_part_[to] + e, Moment::Arrive);
    }

    /// Operations of a thread block start one after the other, also where no data asks for it.
    void join_blocks() {
        struct Group {
            std::vector<OpId> before{}, now{};  ///< ops of the operation before, and of this one
        };
        std::map<std::pair<Rank, plan::BlockId>, Group> groups;
        for (OpId op = 0; op < program_.ops.size(); ++op) {
            const plan::Place& at = program_.op_places[op];
            if (!at.gpu || !at.block || first_part_[op] != kNoTask) continue;
            Group& group = groups[{*at.gpu, *at.block}];
            const bool same = !group.now.empty() && program_.op_places[group.now.front()].step == at.step &&
                              program_.op_places[group.now.front()].inner == at.inner;
            if (!same) group.before = std::exchange(group.now, {});
            group.now.push_back(op);
            for (const OpId before : group.before) edge(go_[before], begin_[op]);
        }
    }

    /// A connection holds so many messages: the next is sent when the receiver takes the one so many before.
    void join_connections() {
        std::map<std::tuple<std::uint32_t, std::uint32_t>, std::vector<std::pair<TaskId, TaskId>>> messages;
        for (OpId op = 0; op < program_.ops.size(); ++op) {
            const OpId to = receiver_[op];
            if (to == kNoOp || first_part_[op] == kNoTask || first_part_[to] == kNoTask) continue;
            const std::int64_t count = std::min(program_.moves[program_.ops[op].first_move].count,
                                                program_.moves[program_.ops[to].first_move].count);
            auto& connection = messages[{chain(op), chain(to)}];
            for (TaskId e = 0; e < count; ++e)
                connection.emplace_back(first_part_[op] + e, first_part_[to] + e);
        }
        for (const auto& [ends, connection] : messages) {
            for (std::size_t at = 0; at < connection.size(); ++at) {
                if (static_cast<std::int64_t>(at) < place_.capacity) continue;
                const auto before = at - static_cast<std::size_t>(place_.capacity);
                edge(connection[before].second, connection[at].first, Moment::Ready);
            }
        }
    }

    /// `landed` of every op, in an order in which all that comes before an op is known.
    void find_landings(const std::vector<OpId>& order) {
        std::vector<std::vector<TaskId>> known(program_.ops.size());
        std::vector<std::vector<OpId>> next(program_.ops.size());
        for (const plan::Edge& between : program_.edges) {
            const bool inherits = between.kind != EdgeKind::Message && between.kind != EdgeKind::Packet &&
                                  gpu(between.from) == gpu(between.to);
            if (inherits) next[between.from].push_back(between.to);
        }
        for (const OpId op : order) {
            std::vector<TaskId>& before = known[op];
            std::ranges::sort(before);
            before.erase(std::unique(before.begin(), before.end()), before.end());
            const auto own = puts_.find(op);
            if (own == puts_.end() && before.size() <= 1) {
                if (!before.empty()) landed_[op] = before.front();
            } else {
                landed_[op] = task(Kind::Step, op);
                for (const TaskId other : before) edge(other, landed_[op]);
                if (own != puts_.end()) {
                    for (const TaskId put : own->second) edge(put, landed_[op], Moment::Arrive);
                }
            }
            if (landed_[op] != kNoTask) {
                for (const OpId later : next[op]) known[later].push_back(landed_[op]);
            }
            before.clear();
        }
    }

    void join_signals() {
        std::map<std::pair<OpId, OpId>, bool> packets;
        for (const plan::Edge& between : program_.edges) {
            const auto [from, to, kind] = between;
            if (kind == EdgeKind::Packet) packets[{from, to}] = true;
            if (kind != EdgeKind::Signal || gpu(from) == gpu(to)) continue;
            const TaskId sent = task(Kind::Signal, from, route(gpu(from), gpu(to), from));
            edge(go_[from], sent);
            edge(sent, begin_[to], Moment::Arrive);
            if (landed_[from] != kNoTask) edge(landed_[from], begin_[to]);
        }
        std::unordered_map<OpId, std::vector<OpId>> writers;
        for (const auto& [ends, unused] : packets) writers[ends.second].push_back(ends.first);
        for (const PacketRead& read : packet_reads_) {
            for (const OpId writer : writers[read.op]) {
                const auto written = packet_writes_.find({writer, read.memory, read.place});
                if (written == packet_writes_.end()) continue;
                edge(written->second, read.sum, Moment::Arrive);
                if (landed_[writer] != kNoTask) edge(landed_[writer], read.sum);
                break;
            }
        }
    }

    struct PacketRead {
        OpId op = kNoOp;
        std::uint32_t memory = 0;
        std::int64_t place = 0;
        TaskId sum = 0;
    };

    const plan::Program& program_;
    const EmulatedPlace& place_;
    EmulatedLinks& links_;
    EmulatedTasks made_;
    std::vector<OpId> receiver_;
    std::vector<TaskId> begin_, go_, landed_, first_part_;  ///< by op
    std::unordered_map<OpId, std::vector<TaskId>> puts_;
    std::map<std::tuple<Rank, Rank, Rank, std::uint32_t>, std::uint32_t> routes_;
    std::map<std::pair<Rank, Rank>, std::uint32_t> turns_;
    /// By route, thread block, step, position in it, memory and place.
    std::map<std::array<std::int64_t, 6>, TaskId> last_messages_;
    std::vector<PacketRead> packet_reads_;
    std::map<std::tuple<OpId, std::uint32_t, std::int64_t>, TaskId> packet_writes_;
};

}  // namespace

EmulatedTasks emulated_tasks(const verify::JudgedProgram& judged, const std::vector<OpId>& order,
                             const EmulatedPlace& place, EmulatedLinks& links) {
    return TaskMaker(judged, place, links).run(order);
}

}  // namespace tutti::run

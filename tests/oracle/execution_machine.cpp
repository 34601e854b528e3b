#include "tests/oracle/execution_machine.hpp"
#include "tests/support/plan_ids.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <unordered_set>

namespace tutti::oracle {
namespace {

using test::number;

using plan::Buffer;
using plan::ChannelType;
using plan::Operand;
using plan::OperandRole;
using plan::Operation;
using plan::OperationType;

/// A place of a buffer of a gpu, as packets or plain.
struct Spot {
    std::int32_t gpu = 0;
    int memory = 0;  ///< i, o, s, packets
    std::int64_t place = 0;
    friend auto operator<=>(const Spot&, const Spot&) = default;
};
constexpr int kPackets = 3;
enum Element : unsigned { kFirst = 1, kSecond = 2 };

/// One place of a data operation: the sum of what it reads goes to all it writes.
struct Deed {
    std::vector<Spot> reads{}, writes{};
};

/// What happens at once.
struct Action {
    std::uint64_t after = 0;  ///< actions that must be done before it
    unsigned elements = 0;    ///< which elements it touches
    std::vector<Deed> deeds{};
    std::vector<int> raises{};
    int lowers = -1;   ///< counter
    bool raw = false;  ///< does not wait for the packets that it reads
};

struct Range {
    Spot first{};
    std::int64_t count = 0;
    friend auto operator<=>(const Range&, const Range&) = default;
};

class Machine {
  public:
    explicit Machine(const plan::ExecutionPlan& plan) : plan_(plan) {
        for_each([&](const Operation& op) {
            if (op.slice) places_ = std::lcm<std::int64_t>(places_, op.slice->parts);
        });
        for (const auto& gpu : plan.gpus) {
            for (std::size_t i = 0; i < gpu.semaphores.size(); ++i) {
                initial_[{number(gpu.id), 2, static_cast<std::int32_t>(i)}] = gpu.semaphores[i];
            }
            for (const auto& block : gpu.blocks) lay_out(gpu, block);
        }
    }

    [[nodiscard]] bool fits() const { return actions_.size() <= 64; }

    std::optional<ExecutionOpinion> explore(std::size_t most_states, int runs, std::uint64_t seed) {
        ExecutionOpinion opinion;
        opinion.places_per_chunk = places_;
        std::vector<std::uint64_t> precedes(actions_.size(), 0);
        std::unordered_set<std::uint64_t> seen{0};
        std::vector<std::uint64_t> open{0};
        while (!open.empty()) {
            const std::uint64_t state = open.back();
            open.pop_back();
            bool stuck = true;
            for (std::size_t a = 0; a < actions_.size(); ++a) {
                if (done(state, a)) {
                    precedes[a] |= ~state;
                    continue;
                }
                if (!possible(state, a)) {
                    opinion.unordered =
                        opinion.unordered || (actions_[a].raw && !has_packets(state, a) && ready(state, a));
                    continue;
                }
                stuck = false;
                const std::uint64_t next = state | bit(a);
                if (seen.insert(next).second) open.push_back(next);
            }
            if (stuck && state != everything()) opinion.hangs = true;
            if (seen.size() > most_states) return std::nullopt;
        }
        opinion.states = seen.size();
        for (std::size_t a = 0; a < actions_.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                const bool either = (precedes[a] & bit(b)) != 0 && (precedes[b] & bit(a)) != 0;
                opinion.unordered = opinion.unordered || (either && conflict(actions_[a], actions_[b]));
            }
        }
        if (!opinion.hangs) {
            std::mt19937_64 random(seed);
            for (int i = 0; i < runs; ++i) opinion.outputs.push_back(values(random, opinion.clash));
        }
        return opinion;
    }

  private:
    static std::uint64_t bit(std::size_t action) { return std::uint64_t{1} << action; }
    static bool done(std::uint64_t state, std::size_t action) { return (state & bit(action)) != 0; }
    [[nodiscard]] std::uint64_t everything() const {
        return actions_.size() == 64 ? ~std::uint64_t{0} : bit(actions_.size()) - 1;
    }

    template <typename Visit>
    void for_each(Visit visit) {
        for (const auto& gpu : plan_.gpus) {
            for (const auto& block : gpu.blocks) {
                for (const auto& op : block.ops) visit(op);
            }
        }
    }

    std::size_t add(Action action) {
        actions_.push_back(std::move(action));
        return actions_.size() - 1;
    }

    void lay_out(const plan::ExecutionGpu& gpu, const plan::ExecutionBlock& block) {
        std::uint64_t all = 0, leader = 0, fence = 0;
        // The second elements of the operations since the last fence, with the ranges that they use.
        std::vector<std::pair<Range, std::vector<std::size_t>>> users;
        for (const Operation& op : block.ops) {
            std::uint64_t own = 0;
            const bool by_port = op.channel_type == ChannelType::Port;
            if (op.type == OperationType::ReadPutPackets && by_port) {
                // All threads wait for the packets and for each other before the put.
                for (Action& action : by_leader(gpu, block, op)) {
                    action.after = all;
                    const std::size_t at = add(std::move(action));
                    if (at < 64) own |= bit(at);
                }
                fence = own;
                users.clear();
                leader |= own;
            } else if (op.type == OperationType::Nop || op.type == OperationType::Barrier) {
                const std::size_t at = op.type == OperationType::Nop
                                           ? add({})
                                           : meeting(number(gpu.id), number(block.id), number(op.barrier));
                if (at < 64) actions_[at].after |= all;
                own = at < 64 ? bit(at) : 0;
                fence = own;
                users.clear();
                leader |= own;
            } else if (shape_of(op.type).moves_data() && op.channel_type != ChannelType::Port) {
                own = by_threads(gpu, block, op, leader, fence, users);
                leader |= last_leader_;
            } else {
                for (Action& action : by_leader(gpu, block, op)) {
                    action.after = leader;
                    const std::size_t at = add(std::move(action));
                    if (at < 64) own |= bit(at);
                }
                leader |= own;
            }
            all |= own;
        }
    }

    /// The k-th time that blocks of a gpu come to a barrier is one action.
    std::size_t meeting(std::int32_t gpu, std::int32_t block, std::int32_t barrier) {
        const int time = times_[{gpu, block, barrier}]++;
        const auto [at, fresh] = meetings_.try_emplace({gpu, barrier, time}, 0);
        if (fresh) at->second = add({});
        return at->second;
    }

    std::uint64_t by_threads(const plan::ExecutionGpu& gpu, const plan::ExecutionBlock& block,
                             const Operation& op, std::uint64_t leader, std::uint64_t fence,
                             std::vector<std::pair<Range, std::vector<std::size_t>>>& users) {
        std::uint64_t own = 0;
        Action lead;
        lead.after = leader;
        lead.elements = kFirst;
        for (const auto& [deeds, ranges] : moves(gpu, block, op)) {
            lead.deeds.insert(lead.deeds.end(), deeds.begin(), deeds.end());
            std::vector<std::size_t> shares;
            for (std::size_t i = 0; i < deeds.size(); ++i) {
                Action share;
                share.after = fence;
                share.elements = kSecond;
                share.deeds = {deeds[i]};
                for (const auto& [range, others] : users) {
                    if (std::ranges::find(ranges, range) != ranges.end() && others[i] < 64)
                        share.after |= bit(others[i]);
                }
                shares.push_back(add(std::move(share)));
                if (shares.back() < 64) own |= bit(shares.back());
            }
            for (const Range& range : ranges) {
                if (range.first.memory != kPackets) users.emplace_back(range, shares);
            }
        }
        const std::size_t at = add(std::move(lead));
        last_leader_ = at < 64 ? bit(at) : 0;
        return own | last_leader_;
    }

    std::vector<Action> by_leader(const plan::ExecutionGpu& gpu, const plan::ExecutionBlock& block,
                                  const Operation& op) {
        std::vector<Action> result;
        if (op.type == OperationType::SemAcquire) {
            for (const plan::SemaphoreId id : op.semaphores) {
                result.emplace_back();
                result.back().lowers = counter({number(gpu.id), 2, number(id)});
            }
            return result;
        }
        if (waits(op.type)) {
            for (const plan::Slot slot : op.channels) {
                result.emplace_back();
                result.back().lowers = counter(channel(gpu, block, *op.channel_type, slot));
            }
            return result;
        }
        Action action;
        if (op.type == OperationType::SemRelease) {
            for (const plan::SemaphoreId id : op.semaphores)
                action.raises.push_back(counter({number(gpu.id), 2, number(id)}));
        }
        if (signals(op.type)) {
            for (const plan::Slot slot : op.channels) {
                action.raises.push_back(counter(partner(channel(gpu, block, *op.channel_type, slot))));
            }
        }
        if (shape_of(op.type).moves_data()) {
            action.elements = kFirst | kSecond;
            action.raw = op.type == OperationType::PutPackets && op.channel_type == ChannelType::Port;
            for (const auto& [deeds, ranges] : moves(gpu, block, op)) {
                action.deeds.insert(action.deeds.end(), deeds.begin(), deeds.end());
            }
        }
        return {action};
    }

    /// gpu, channel type (2: semaphore), number.
    using Key = std::tuple<std::int32_t, int, std::int32_t>;

    int counter(const Key& key) {
        const auto [at, fresh] = counters_.try_emplace(key, static_cast<int>(counters_.size()));
        if (fresh) tokens_.push_back(initial_.contains(key) ? initial_.at(key) : 0);
        return at->second;
    }

    static Key channel(const plan::ExecutionGpu& gpu, const plan::ExecutionBlock& block, ChannelType type,
                       plan::Slot slot) {
        std::vector<plan::ChannelId> ids;
        for (const auto& list : block.channels) {
            if (list.type == type) ids.insert(ids.end(), list.ids.begin(), list.ids.end());
        }
        return {number(gpu.id), static_cast<int>(type), number(ids.at(slot.index()))};
    }

    [[nodiscard]] std::vector<std::int32_t> peers(std::int32_t gpu, int type) const {
        std::vector<std::int32_t> result;
        for (const auto& list : plan_.gpus[static_cast<std::size_t>(gpu)].channels) {
            if (static_cast<int>(list.type) == type)
                for (const Rank peer : list.peers) result.push_back(number(peer));
        }
        return result;
    }

    [[nodiscard]] Key partner(const Key& own) const {
        const auto [gpu, type, number] = own;
        const auto mine = peers(gpu, type);
        const std::int32_t peer = mine.at(static_cast<std::size_t>(number));
        auto left = std::count(mine.begin(), mine.begin() + number, peer);
        const auto theirs = peers(peer, type);
        for (std::size_t i = 0; i < theirs.size(); ++i) {
            if (theirs[i] == gpu && left-- == 0) return {peer, type, static_cast<std::int32_t>(i)};
        }
        return {peer, type, -1 - number};
    }

    struct MoveOf {
        std::vector<Deed> deeds;
        std::vector<Range> ranges;
    };

    std::vector<MoveOf> moves(const plan::ExecutionGpu& gpu, const plan::ExecutionBlock& block,
                              const Operation& op) {
        const plan::OperationShape& shape = shape_of(op);
        std::vector<MoveOf> result;
        const auto add_move = [&](std::size_t first, std::size_t last_src, std::size_t last_dst) {
            MoveOf move;
            std::vector<Range> reads, writes;
            for (std::size_t i = first; i < last_src; ++i)
                reads.push_back(range(gpu, block, op, op.src[i], shape.source(i)));
            for (std::size_t i = first; i < last_dst; ++i) {
                writes.push_back(range(gpu, block, op, op.dst[i], shape.destination(i)));
            }
            for (std::int64_t at = 0; at < reads.front().count; ++at) {
                Deed deed;
                for (const Range& read : reads) deed.reads.push_back(shifted(read.first, at));
                for (const Range& write : writes) deed.writes.push_back(shifted(write.first, at));
                if (deed.reads.size() == 1) std::erase(deed.writes, deed.reads.front());
                move.deeds.push_back(std::move(deed));
            }
            move.ranges = reads;
            move.ranges.insert(move.ranges.end(), writes.begin(), writes.end());
            const bool idle =
                std::ranges::all_of(move.deeds, [](const Deed& deed) { return deed.writes.empty(); });
            if (!idle || reads.front().first.memory == kPackets) result.push_back(std::move(move));
        };
        if (shape.pairwise) {
            for (std::size_t i = 0; i < op.src.size(); ++i) add_move(i, i + 1, i + 1);
        } else {
            add_move(0, op.src.size(), op.dst.size());
        }
        return result;
    }

    static Spot shifted(Spot spot, std::int64_t by) {
        spot.place += by;
        return spot;
    }

    Range range(const plan::ExecutionGpu& gpu, const plan::ExecutionBlock& block, const Operation& op,
                const Operand& operand, OperandRole role) const {
        Spot first{number(gpu.id), static_cast<int>(operand.buffer), 0};
        if (operand.kind == Operand::Kind::Remote) {
            std::vector<plan::RemoteBufferId> ids;
            for (const auto& list : block.buffers) {
                if (list.type == *op.channel_type) ids.insert(ids.end(), list.ids.begin(), list.ids.end());
            }
            const auto id = ids.at(operand.id.index()).index();
            first.gpu = number(gpu.remote_buffers.at(id).rank);
            first.memory = static_cast<int>(gpu.remote_buffers.at(id).buffer);
        }
        if (role == OperandRole::Packets || role == OperandRole::RemotePackets) first.memory = kPackets;
        const std::int64_t parts = op.slice ? op.slice->parts : 1, part = op.slice ? op.slice->part : 0;
        const std::int64_t count = operand.size * places_ / parts;
        first.place = operand.index * places_ + part * count;
        return {first, count};
    }

    [[nodiscard]] bool possible(std::uint64_t state, std::size_t at) const {
        return ready(state, at) && has_packets(state, at);
    }

    /// All but the packets that it reads is there.
    [[nodiscard]] bool ready(std::uint64_t state, std::size_t at) const {
        const Action& action = actions_[at];
        if ((state & action.after) != action.after) return false;
        if (action.lowers >= 0) {
            std::int64_t tokens = tokens_[static_cast<std::size_t>(action.lowers)];
            for (std::size_t i = 0; i < actions_.size(); ++i) {
                if (!done(state, i)) continue;
                tokens += std::ranges::count(actions_[i].raises, action.lowers);
                tokens -= actions_[i].lowers == action.lowers ? 1 : 0;
            }
            if (tokens <= 0) return false;
        }
        return true;
    }

    [[nodiscard]] bool has_packets(std::uint64_t state, std::size_t at) const {
        const Action& action = actions_[at];
        for (const Deed& deed : action.deeds) {
            for (const Spot& read : deed.reads) {
                if (read.memory == kPackets && !written(state, read, action.elements)) return false;
            }
        }
        return true;
    }

    /// Whether all these elements of a packet have come.
    [[nodiscard]] bool written(std::uint64_t state, const Spot& spot, unsigned elements) const {
        unsigned come = 0;
        for (std::size_t i = 0; i < actions_.size(); ++i) {
            if (!done(state, i) || (actions_[i].elements & elements) == 0) continue;
            for (const Deed& deed : actions_[i].deeds) {
                if (std::ranges::find(deed.writes, spot) != deed.writes.end()) come |= actions_[i].elements;
            }
        }
        return (come & elements) == elements;
    }

    static bool conflict(const Action& a, const Action& b) {
        if ((a.elements & b.elements) == 0) return false;
        const auto meets = [](const std::vector<Spot>& writes, const Deed& deed) {
            return std::ranges::any_of(writes, [&](const Spot& spot) {
                return spot.memory != kPackets && (std::ranges::find(deed.reads, spot) != deed.reads.end() ||
                                                   std::ranges::find(deed.writes, spot) != deed.writes.end());
            });
        };
        for (const Deed& one : a.deeds) {
            for (const Deed& other : b.deeds) {
                if (meets(one.writes, other) || meets(other.writes, one)) return true;
            }
        }
        return false;
    }

    using Value = ExecutionOpinion::Value;

    std::vector<std::vector<Value>> values(std::mt19937_64& random, bool& clash) const {
        std::map<Spot, Value> memory;
        for (const auto& gpu : plan_.gpus) {
            for (std::int64_t place = 0; place < gpu.input_chunks * places_; ++place) {
                memory[{number(gpu.id), 0, place}] =
                    std::map<std::pair<std::int32_t, std::int64_t>, int>{{{number(gpu.id), place}, 1}};
            }
        }
        const auto holds = [&](const Spot& spot) {
            return memory.contains(spot) ? memory.at(spot) : Value{};
        };
        std::uint64_t state = 0;
        while (state != everything()) {
            std::vector<std::size_t> next;
            for (std::size_t a = 0; a < actions_.size(); ++a) {
                if (!done(state, a) && possible(state, a)) next.push_back(a);
            }
            const std::size_t chosen = next[random() % next.size()];
            state |= bit(chosen);
            if ((actions_[chosen].elements & kSecond) == 0) continue;
            // All transfers of an action read before any of them writes.
            std::vector<Value> sums;
            for (const Deed& deed : actions_[chosen].deeds) {
                Value sum = std::map<std::pair<std::int32_t, std::int64_t>, int>{};
                for (const Spot& read : deed.reads) {
                    const Value operand = holds(read);
                    if (!operand) sum.reset();
                    if (!sum) break;
                    for (const auto& [origin, times] : *operand) (*sum)[origin] += times;
                }
                sums.push_back(sum);
            }
            for (std::size_t i = 0; i < sums.size(); ++i) {
                for (const Spot& write : actions_[chosen].deeds[i].writes) {
                    clash = clash ||
                            (write.memory == kPackets && memory.contains(write) && memory[write] != sums[i]);
                    memory[write] = sums[i];
                }
            }
        }
        std::vector<std::vector<Value>> outputs;
        for (const auto& gpu : plan_.gpus) {
            outputs.emplace_back();
            for (std::int64_t place = 0; place < gpu.output_chunks * places_; ++place) {
                outputs.back().push_back(holds({number(gpu.id), 1, place}));
            }
        }
        return outputs;
    }

    const plan::ExecutionPlan& plan_;
    std::int64_t places_ = 1;
    std::vector<Action> actions_;
    std::uint64_t last_leader_ = 0;
    std::map<Key, int> counters_;
    std::map<Key, std::int64_t> initial_;
    std::vector<std::int64_t> tokens_;
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, int> times_;
    std::map<std::tuple<std::int32_t, std::int32_t, int>, std::size_t> meetings_;
};

}  // namespace

std::optional<ExecutionOpinion> explore(const plan::ExecutionPlan& plan, std::size_t most_states, int runs,
                                        std::uint64_t seed) {
    Machine machine(plan);
    if (!machine.fits()) return std::nullopt;
    return machine.explore(most_states, runs, seed);
}

}  // namespace tutti::oracle

#include "run/executable.hpp"

#include "core/error.hpp"
#include "core/rng.hpp"
#include "run/waits.hpp"
#include "verify/plan/program_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace tutti::run {
namespace {

using plan::kNoOp;
using plan::OpId;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max() - 1;

[[nodiscard]] std::uint32_t checked(std::uint64_t count, std::string_view what) {
    if (count > kMost) throw LimitError(fmt::format("the plan has too many {} to be executed", what));
    return static_cast<std::uint32_t>(count);
}

/// Who is next of those that are ready, so that all orders that a plan allows can come up. Half of the orders
/// are drawn op by op. In them thread blocks advance about equally fast, so what needs one to be far ahead
/// hardly ever shows. In the other half thread blocks have priorities, drawn once: one that is behind stays
/// behind; up to three times in all the one that was just served becomes the last (probabilistic concurrency
/// testing, Burckhardt et al., ASPLOS 2010).
class Lots {
  public:
    Lots(const plan::Program& program, std::uint64_t seed)
        : program_(program), random_(seed), by_priority_(seed % 2 == 0) {
        if (!by_priority_) return;
        changes_ = random_.below(kChanges);
        for (std::uint32_t chain = 0; chain <= program.chains; ++chain)
            priorities_.push_back(kChanges + random_.below(kPriorities));
    }

    [[nodiscard]] std::size_t next(const std::vector<OpId>& ready) {
        if (!by_priority_) return random_.below(ready.size());
        const auto best = std::ranges::max_element(ready, {}, [&](OpId op) { return priority(op); });
        if (changes_ > 0 && random_.below(program_.ops.size()) < kChanges) priority(*best) = --changes_;
        return static_cast<std::size_t>(best - ready.begin());
    }

  private:
    static constexpr std::uint64_t kChanges = 4, kPriorities = std::uint64_t{1} << 32U;

    /// Ops outside of all chains have one in common.
    [[nodiscard]] std::uint64_t& priority(OpId op) {
        return priorities_[std::min(program_.ops[op].chain, program_.chains)];
    }

    const plan::Program& program_;
    Rng random_;
    bool by_priority_;
    std::uint64_t changes_ = 0;  ///< that are left
    std::vector<std::uint64_t> priorities_;
};

/// Every op once, after all that it waits for. What was just made possible comes next: what an op produced is
/// then consumed while it is in a cache.
class Order {
  public:
    Order(const plan::Program& program, std::uint64_t shuffle) {
        const std::size_t ops = program.ops.size();
        std::vector<std::uint32_t> first(ops + 1, 0), waiting(ops, 0);
        for (const plan::Edge& edge : program.edges) {
            ++first[edge.from + 1];
            ++waiting[edge.to];
        }
        for (std::size_t op = 0; op < ops; ++op) first[op + 1] += first[op];
        std::vector<OpId> next(program.edges.size());
        std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
        for (const plan::Edge& edge : program.edges) next[fill[edge.from]++] = edge.to;

        std::vector<OpId> ready;
        for (std::size_t op = ops; op-- > 0;) {
            if (waiting[op] == 0) ready.push_back(static_cast<OpId>(op));
        }
        Lots lots(program, shuffle);
        ops_.reserve(ops);
        while (!ready.empty()) {
            if (shuffle != 0) std::swap(ready.back(), ready[lots.next(ready)]);
            const OpId op = ready.back();
            ready.pop_back();
            ops_.push_back(op);
            for (std::uint32_t e = first[op + 1]; e-- > first[op];) {
                if (--waiting[next[e]] == 0) ready.push_back(next[e]);
            }
        }
        if (ops_.size() < ops) throw InputError(circle_text(program));
    }

    [[nodiscard]] const std::vector<OpId>& ops() const { return ops_; }

  private:
    [[nodiscard]] static std::string circle_text(const plan::Program& program) {
        constexpr std::size_t kMostNamed = 8;
        const auto circle = verify::ProgramGraph(program).cycle();
        std::string text = "deadlock: ";
        for (std::size_t at = 0; at < std::min(circle.size(), kMostNamed); ++at) {
            text += fmt::format("{} waits for ", plan::text_of(program.op_places[circle[at]]));
        }
        if (circle.size() > kMostNamed) text += fmt::format("{} others and ", circle.size() - kMostNamed);
        return text + (circle.empty() ? "itself" : plan::text_of(program.op_places[circle.front()]));
    }

    std::vector<OpId> ops_;
};

/// All places of a program, numbered.
class PlaceNumbers {
  public:
    explicit PlaceNumbers(const plan::Program& program) {
        std::uint64_t next = 0;
        for (const plan::Memory& memory : program.memories) {
            first_.push_back(next);
            next += static_cast<std::uint64_t>(memory.chunks);
            count_ = checked(next, "places");
        }
    }
    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::uint32_t of(const Operand& at) const {
        return static_cast<std::uint32_t>(first_[at.memory] + at.place);
    }

  private:
    std::vector<std::uint64_t> first_;
    std::uint32_t count_ = 0;
};

[[nodiscard]] Operand place_of(const plan::Range& range, std::int64_t element) {
    return {range.memory, static_cast<std::uint32_t>(range.first + element)};
}

/// Where the messages of ops are read: `kept` ones where the sender has them.
class Homes {
  public:
    struct Reader {
        OpId reader = kNoOp, writer = kNoOp;
    };

    Homes(const plan::Program& program, const std::vector<OpId>& order, bool never)
        : program_(program), first_(program.ops.size(), kNone) {
        std::uint64_t next = 0;
        for (const plan::Op& op : program.ops) {
            if (op.message_from == kNoOp || first_[op.message_from] != kNone) continue;
            if (program.ops[op.message_from].moves == 0) continue;
            first_[op.message_from] = checked(next, "messages");
            next += static_cast<std::uint64_t>(first_move(op.message_from).count);
        }
        kept_.assign(next, false);
        if (!never) find(order);
    }

    [[nodiscard]] bool sends(OpId op) const { return first_[op] != kNone; }
    [[nodiscard]] bool kept(OpId op, std::int64_t element) const {
        return kept_[first_[op] + static_cast<std::size_t>(element)];
    }
    /// Where the sender has that element of its message, if it has it.
    [[nodiscard]] Operand home(OpId op, std::int64_t element) const {
        return place_of(program_.ranges[candidate(op)], element);
    }
    /// Messages numbered through all ops.
    [[nodiscard]] std::size_t number(OpId op, std::int64_t element) const {
        return first_[op] + static_cast<std::size_t>(element);
    }
    [[nodiscard]] std::size_t messages() const { return kept_.size(); }
    /// Writers that must wait for a reader of what they overwrite.
    [[nodiscard]] const std::vector<Reader>& overwritten() const { return overwritten_; }

  private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    [[nodiscard]] const plan::Move& first_move(OpId op) const {
        return program_.moves[program_.ops[op].first_move];
    }
    /// The range that has the message once the op is done; kNone: there is none.
    [[nodiscard]] std::uint32_t candidate(OpId op) const {
        const plan::Op& sender = program_.ops[op];
        const plan::Move& move = first_move(op);
        if (sender.moves != 1) return kNone;
        if (move.writes > 0) return move.first_write();
        return sender.message_from == kNoOp && move.reads == 1 ? move.first_read : kNone;
    }

    /// Goes through the order with, of each place, its last writer and who read it as a message since.
    void find(const std::vector<OpId>& order) {
        const PlaceNumbers numbers(program_);
        std::vector<std::uint32_t> position(program_.ops.size(), 0), written(numbers.count(), 0);
        std::unordered_map<std::uint32_t, std::vector<OpId>> readers;
        for (std::uint32_t at = 0; at < order.size(); ++at) position[order[at]] = at + 1;
        for (const OpId id : order) {
            const plan::Op& op = program_.ops[id];
            if (op.moves == 0) continue;
            if (op.message_from != kNoOp && sends(op.message_from)) {
                const std::uint32_t range = candidate(op.message_from);
                const std::int64_t count = range == kNone ? 0 : first_move(id).count;
                for (std::int64_t e = 0; e < count; ++e) {
                    const Operand home = place_of(program_.ranges[range], e);
                    const std::uint32_t place = numbers.of(home);
                    if (written[place] > position[op.message_from] || writes(op, home)) continue;
                    kept_[number(op.message_from, e)] = true;
                    readers[place].push_back(id);
                }
            }
            for (const plan::Move& move : program_.moves_of(op)) {
                for (const plan::Range to : program_.writes_of(move)) {
                    for (std::int64_t e = 0; e < move.count; ++e) {
                        const std::uint32_t place = numbers.of(place_of(to, e));
                        written[place] = position[id];
                        const auto found = readers.find(place);
                        if (found == readers.end()) continue;
                        for (const OpId reader : found->second) overwritten_.push_back({reader, id});
                        readers.erase(found);
                    }
                }
            }
        }
    }
    [[nodiscard]] bool writes(const plan::Op& op, const Operand& at) const {
        for (const plan::Move& move : program_.moves_of(op)) {
            for (const plan::Range to : program_.writes_of(move)) {
                if (to.memory == at.memory && at.place >= to.first && at.place < to.first + move.count) {
                    return true;
                }
            }
        }
        return false;
    }

    const plan::Program& program_;
    std::vector<std::uint32_t> first_;
    std::vector<bool> kept_;
    std::vector<Reader> overwritten_;
};

class Maker {
  public:
    Maker(const verify::JudgedProgram& judged, const ExecutableOptions& options)
        : judged_(judged),
          program_(judged.program),
          order_(program_, options.shuffle),
          // A race shows only where a message is what was sent, and not what is there when it is read.
          homes_(program_, order_.ops(), options.shuffle != 0 || options.messages_apart),
          temporary_of_(homes_.messages(), 0) {}

    [[nodiscard]] Executable run() && {
        made_.postcondition = judged_.postcondition;
        made_.in_place = judged_.in_place;
        made_.outputs = program_.outputs;
        made_.output_places = program_.output_places;
        lay_out();
        assign_streams();
        for (const OpId op : order_.ops()) add(op);
        add_waits();
        drop_unused_memories();
        return std::move(made_);
    }

  private:
    /// Blocks end where the shares of ranks end, in inputs and outputs. A goal without shares is one block;
    /// of a custom one nobody knows, so all its places are whole.
    void lay_out() {
        const verify::Postcondition& wanted = judged_.postcondition;
        const bool custom = wanted.condition != nullptr || wanted.goal == CollectiveKind::Custom;
        std::int64_t block = has_shares(wanted.goal) ? wanted.block : 0;
        if (block == 0 && !custom) {
            for (const std::int64_t places : program_.output_places) block = std::max(block, places);
        }
        for (const plan::Memory& memory : program_.memories) {
            (void)checked(static_cast<std::uint64_t>(memory.chunks), "places in a memory");
            const bool whole = custom || memory.buffer == plan::Buffer::Scratch || memory.packets;
            made_.memories.push_back({memory.gpu, memory.buffer, memory.chunks, whole ? 0 : block,
                                      memory.origin, memory.origin_shift, memory.known_first,
                                      memory.known_last});
        }
    }
    [[nodiscard]] static bool has_shares(CollectiveKind goal) {
        switch (goal) {
            case CollectiveKind::AllGather:
            case CollectiveKind::ReduceScatter:
            case CollectiveKind::AllToAll:
            case CollectiveKind::Gather:
            case CollectiveKind::Scatter:
                return true;
            default:
                return false;
        }
    }

    void assign_streams() {
        stream_of_.resize(program_.ops.size());
        std::unordered_map<std::uint64_t, std::uint32_t> known;
        for (const OpId id : order_.ops()) {
            const plan::Op& op = program_.ops[id];
            const auto& known_gpu = program_.op_places[id].gpu;
            const Rank gpu = known_gpu ? *known_gpu : Rank(0);
            // Ops outside of all chains go to one more stream of their GPU.
            const bool chained = op.chain != plan::Op::kNoChain;
            const std::uint64_t key = chained ? op.chain : (std::uint64_t{1} << 32U) + gpu.value();
            const auto [found, is_new] = known.emplace(key, made_.streams.size());
            if (is_new) made_.streams.push_back({gpu});
            stream_of_[id] = found->second;
        }
    }

    [[nodiscard]] std::uint32_t new_temporary() {
        made_.lifetimes.emplace_back();
        made_.last_readers.push_back(0);
        return made_.temporaries++;
    }
    [[nodiscard]] std::uint32_t task() const { return static_cast<std::uint32_t>(made_.tasks.size()); }

    void add(OpId id) {
        Stream& stream = made_.streams[stream_of_[id]];
        stream.tasks.push_back(task());
        Task made{stream_of_[id], checked(made_.steps.size(), "steps"), 0, 0, 0, id};
        if (program_.ops[id].moves > 0) {
            if (overlaps(id)) {
                add_overlapping(id);
            } else {
                for_places(id, [&](const plan::Move& move, bool first, std::int64_t e) {
                    collect(id, move, first, e);
                    for (const plan::Range to : program_.writes_of(move)) targets_.push_back(place_of(to, e));
                    add_home(id, first, e);
                    emit();
                });
            }
        }
        made.steps = static_cast<std::uint32_t>(made_.steps.size()) - made.first_step;
        made_.tasks.push_back(made);
    }

    /// Reads come before writes, so values that an earlier place of the op would overwrite are kept.
    void add_overlapping(OpId id) {
        std::vector<Operand> values;
        for_places(id, [&](const plan::Move& move, bool first, std::int64_t e) {
            collect(id, move, first, e);
            values.push_back({Operand::kTemporary, new_temporary()});
            targets_.push_back(values.back());
            add_home(id, first, e);
            emit();
        });
        std::size_t next = 0;
        for_places(id, [&](const plan::Move& move, bool, std::int64_t e) {
            sources_.push_back(values[next++]);
            for (const plan::Range to : program_.writes_of(move)) targets_.push_back(place_of(to, e));
            emit();
        });
    }

    template <class Visit>
    void for_places(OpId id, const Visit& visit) {
        const plan::Op& op = program_.ops[id];
        for (std::uint32_t m = 0; m < op.moves; ++m) {
            const plan::Move& move = program_.moves[op.first_move + m];
            for (std::int64_t e = 0; e < move.count; ++e) visit(move, m == 0, e);
        }
    }

    /// Does the op read a place after it wrote it, when it goes place by place?
    [[nodiscard]] bool overlaps(OpId id) const {
        const auto moves = program_.moves_of(program_.ops[id]);
        for (std::size_t later = 0; later < moves.size(); ++later) {
            for (const plan::Range from : program_.reads_of(moves[later])) {
                for (std::size_t earlier = 0; earlier <= later; ++earlier) {
                    for (const plan::Range to : program_.writes_of(moves[earlier])) {
                        const bool meet = from.memory == to.memory &&
                                          from.first < to.first + moves[earlier].count &&
                                          to.first < from.first + moves[later].count;
                        if (meet && (earlier < later || from.first < to.first)) return true;
                    }
                }
            }
        }
        return false;
    }

    void collect(OpId id, const plan::Move& move, bool first, std::int64_t e) {
        const OpId sender = first ? program_.ops[id].message_from : kNoOp;
        if (sender != kNoOp && homes_.sends(sender)) {
            if (homes_.kept(sender, e)) {
                sources_.push_back(homes_.home(sender, e));
            } else {
                const std::uint32_t temporary = temporary_of_[homes_.number(sender, e)];
                sources_.push_back({Operand::kTemporary, temporary});
            }
        }
        for (const plan::Range from : program_.reads_of(move)) sources_.push_back(place_of(from, e));
    }

    /// A temporary place for the message that the op sends, where nothing else keeps it.
    void add_home(OpId id, bool first, std::int64_t e) {
        if (!first || !homes_.sends(id) || homes_.kept(id, e)) return;
        const std::uint32_t temporary = new_temporary();
        temporary_of_[homes_.number(id, e)] = temporary;
        targets_.push_back({Operand::kTemporary, temporary});
    }

    void emit() {
        const auto step = checked(made_.steps.size(), "steps");
        if (targets_.size() == 1 && sources_.size() == 1 && targets_ == sources_) targets_.clear();
        for (const Operand& at : sources_) {
            if (!at.temporary()) continue;
            made_.lifetimes[at.place].last_read = step;
            made_.last_readers[at.place] = task();
        }
        if (!targets_.empty() && !sources_.empty()) {
            constexpr std::size_t kMostOperands = std::numeric_limits<std::uint16_t>::max();
            if (std::max(targets_.size(), sources_.size()) > kMostOperands)
                throw LimitError("an operation of the plan has too many operands to be executed");
            for (const Operand& at : targets_) {
                if (at.temporary()) made_.lifetimes[at.place] = {step, step};
            }
            made_.steps.push_back({checked(made_.operands.size(), "operands"),
                                   static_cast<std::uint16_t>(targets_.size()),
                                   static_cast<std::uint16_t>(sources_.size())});
            made_.operands.insert(made_.operands.end(), targets_.begin(), targets_.end());
            made_.operands.insert(made_.operands.end(), sources_.begin(), sources_.end());
        }
        targets_.clear();
        sources_.clear();
    }

    /// In place one of the two buffers is a part of the other, and nobody touches the memory of its own that
    /// it has in the program.
    void drop_unused_memories() {
        std::vector<bool> used(made_.memories.size(), false);
        for (const Operand& at : made_.operands) {
            if (!at.temporary()) used[at.memory] = true;
        }
        for (const plan::Range& output : made_.outputs) used[output.memory] = true;
        for (std::size_t memory = 0; memory < used.size(); ++memory) {
            if (!used[memory] && !made_.memories[memory].origin) made_.memories[memory].places = 0;
        }
    }

    void add_waits() {
        std::vector<std::uint32_t> task_of(program_.ops.size());
        for (std::uint32_t at = 0; at < made_.tasks.size(); ++at) task_of[made_.tasks[at].op] = at;
        std::vector<TaskOrder> orders;
        for (const plan::Edge& edge : program_.edges)
            orders.push_back({task_of[edge.from], task_of[edge.to]});
        for (const auto& [reader, writer] : homes_.overwritten())
            orders.push_back({task_of[reader], task_of[writer]});
        set_waits(made_, std::move(orders));
    }

    const verify::JudgedProgram& judged_;
    const plan::Program& program_;
    Order order_;
    Homes homes_;
    std::vector<std::uint32_t> temporary_of_;
    std::vector<std::uint32_t> stream_of_;
    std::vector<Operand> targets_, sources_;
    Executable made_;
};

}  // namespace

Executable executable_of(const verify::JudgedProgram& judged, const ExecutableOptions& options) {
    return Maker(judged, options).run();
}

}  // namespace tutti::run

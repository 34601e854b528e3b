// Kernels of an overlap need not be neighbours in the order of kernels: stages get an order of their own, by
// what they read and by what they overwrite.

#include "run/program_stages.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tutti::run {

using tensor::AxisId, tensor::Kernel, tensor::Op, tensor::OpKind, tensor::Program, tensor::Type,
    tensor::Users, tensor::Value, tensor::ValueId;
using Kind = ProgramPart::Kind;

namespace {

/// Pointwise values of one type join the loop of that type, unless a value between needs one of them.
std::vector<ProgramPart> parts_of(const Program& program, const Kernel& kernel, std::size_t number) {
    std::vector<ProgramPart> parts;
    const auto reads = [&](const ProgramPart& part, ValueId id) {
        return std::ranges::any_of(program[id].args, [&](ValueId arg) { return contains(part.values, arg); });
    };
    for (const ValueId id : kernel.values) {
        const Value& value = program[id];
        if (kind_of(value.op) == OpKind::Source) continue;
        if (!is_pointwise(value.op)) {
            parts.push_back({is_collective(value.op) ? Kind::Exchange : Kind::Local, number, {id}, {}, {}});
            continue;
        }
        std::size_t at = parts.size();
        while (at > 0) {  // the first place where all operands are made
            ProgramPart& part = parts[at - 1];
            const Type& type = program[part.values.front()].type;
            if (part.kind == Kind::Loop && type.shape == value.type.shape &&
                type.layout == value.type.layout) {
                part.values.push_back(id);
                break;
            }
            if (reads(part, id)) at = 1;
            --at;
        }
        if (at == 0) parts.push_back({Kind::Loop, number, {id}, {}, {}});
    }
    return parts;
}

class Stages {
  public:
    Stages(const Program& program, const tensor::Kernels& kernels, const StageOptions& options)
        : program_(program), kernels_(kernels), options_(options), users_(program) {
        for (std::size_t k = 0; k < kernels.all().size(); ++k) {
            parts_.push_back(parts_of(program, kernels.all()[k], k));
            fuse(parts_.back());
        }
    }

    std::vector<ProgramStage> made() {
        if (!make(program_.overlaps()) && !make({}))
            throw InternalError("the kernels of a program have no order");
        return std::move(stages_);
    }

  private:
    /// False where what overlaps overwrite closes a circle.
    [[nodiscard]] bool make(const std::vector<tensor::Overlap>& overlaps) {
        std::vector<std::vector<std::size_t>> groups;  // of kernels
        std::vector<const tensor::Overlap*> overlap_of;
        std::vector<bool> taken(parts_.size());
        for (const tensor::Overlap& overlap : overlaps) {
            if (!emit::piece_plan(program_, kernels_, overlap)) continue;
            std::vector<std::size_t>& group = groups.emplace_back();
            for (const std::string& name : overlap.chain) {
                group.push_back(kernels_.find(name)->index());
                taken[group.back()] = true;
            }
            std::ranges::sort(group);
            overlap_of.push_back(&overlap);
        }
        for (std::size_t k = 0; k < parts_.size(); ++k) {
            if (taken[k] || parts_[k].empty()) continue;
            groups.push_back({k});
            overlap_of.push_back(nullptr);
        }
        const std::vector<std::size_t> order = in_order(groups);
        if (order.size() < groups.size()) return false;
        for (const std::size_t group : order) add(groups[group], overlap_of[group]);
        return true;
    }

    /// Sums that only a loop reads are made in it, and gathers of what it makes.
    void fuse(std::vector<ProgramPart>& parts) const {
        for (ProgramPart& loop : parts) {
            if (loop.kind != Kind::Loop) continue;
            const Type& type = program_[loop.values.front()].type;
            for (ProgramPart& part : parts) {
                if (part.kind != Kind::Exchange || part.values.empty()) continue;
                const ValueId id = part.values.front();
                const Value& value = program_[id];
                const bool is_head = (value.op == Op::ReduceScatter || value.op == Op::ReduceTo) &&
                                     !loop.head && value.type.shape == type.shape &&
                                     value.type.layout == type.layout && only_read_by(id, loop);
                const bool spreads = value.op == Op::AllGather ||
                                     (value.op == Op::BroadcastFrom && only_root_has_operand(program_, id));
                const bool is_tail = spreads && !options_.has_links && contains(loop.values, value.args[0]);
                if (is_head) loop.head = id;
                if (is_tail) loop.tails.push_back(id);
                if (is_head || is_tail) part.values.clear();
            }
        }
        std::erase_if(parts, [](const ProgramPart& part) { return part.values.empty(); });
    }

    [[nodiscard]] bool only_read_by(ValueId id, const ProgramPart& loop) const {
        if (contains(program_.outputs(), id)) return false;
        return std::ranges::all_of(users_[id], [&](ValueId user) { return contains(loop.values, user); });
    }

    /// The groups, each behind those that make what it reads, and updates behind all readers of the state;
    /// not all of them where there is no such order.
    [[nodiscard]] std::vector<std::size_t> in_order(
        const std::vector<std::vector<std::size_t>>& groups) const {
        std::vector<std::size_t> group_of(parts_.size(), groups.size());
        for (std::size_t g = 0; g < groups.size(); ++g) {
            for (const std::size_t kernel : groups[g]) group_of[kernel] = g;
        }
        std::vector<std::set<std::size_t>> needs(groups.size());
        const auto need = [&](std::size_t group, std::size_t other) {
            if (group < groups.size() && other < groups.size() && group != other) needs[group].insert(other);
        };
        for (const ValueId id : program_.order()) {
            const std::size_t group = group_of[kernels_.of(id).index()];
            for (const ValueId arg : program_[id].args) need(group, group_of[kernels_.of(arg).index()]);
            if (program_[id].op != Op::Update) continue;
            for (const ValueId reader : readers_of_memory(program_[id].args[0])) {
                if (reader != id) need(group, group_of[kernels_.of(reader).index()]);
            }
        }
        std::vector<std::size_t> order, left;
        for (std::size_t g = 0; g < groups.size(); ++g) left.push_back(g);
        std::ranges::stable_sort(left, {}, [&](std::size_t g) { return groups[g].front(); });
        std::vector<bool> done(groups.size());
        while (!left.empty()) {
            auto next = std::ranges::find_if(left, [&](std::size_t g) {
                return std::ranges::all_of(needs[g], [&](std::size_t other) { return done[other]; });
            });
            if (next == left.end()) break;
            done[*next] = true;
            order.push_back(*next);
            left.erase(next);
        }
        return order;
    }

    [[nodiscard]] std::vector<ValueId> readers_of_memory(ValueId state) const {
        std::vector<ValueId> same{state}, readers;
        for (std::size_t i = 0; i < same.size(); ++i) {
            for (const ValueId reader : users_[same[i]]) {
                readers.push_back(reader);
                if (kind_of(program_[reader].op) == OpKind::Placement) same.push_back(reader);
            }
        }
        return readers;
    }

    void add(const std::vector<std::size_t>& group, const tensor::Overlap* overlap) {
        std::vector<ProgramPart> parts;
        for (const std::size_t kernel : group)
            parts.insert(parts.end(), parts_[kernel].begin(), parts_[kernel].end());
        std::optional<emit::PiecePlan> cut;
        if (overlap != nullptr) {
            cut = emit::piece_plan(program_, kernels_, *overlap);
        } else if (const std::int64_t pieces = own_pieces(group.front()); pieces > 1) {
            const tensor::Overlap alone{{kernels_.all()[group.front()].name}, pieces};
            cut = emit::piece_plan(program_, kernels_, alone);
        }
        if (cut) {  // what is whole comes first
            std::vector<ProgramPart> before;
            for (ProgramPart& part : parts) {
                ProgramPart whole = part;
                const auto is_cut = [&](ValueId id) { return cut->has(id); };
                std::erase_if(whole.values, is_cut);
                std::erase_if(part.values, [&](ValueId id) { return !is_cut(id); });
                if (part.values.empty())
                    before.push_back(std::move(whole));
                else if (!whole.values.empty())
                    before.push_back({Kind::Loop, part.kernel, std::move(whole.values), {}, {}});
            }
            std::erase_if(parts, [](const ProgramPart& part) { return part.values.empty(); });
            if (!before.empty()) stages_.push_back(levelled(std::move(before)));
        }
        stages_.push_back(levelled(std::move(parts)));
        stages_.back().cut = std::move(cut);
    }

    [[nodiscard]] std::int64_t own_pieces(std::size_t kernel) const {
        if (!options_.has_links || !options_.pieces_of) return 1;
        const auto communicates = [&](const ProgramPart& part) {
            return part.kind == Kind::Exchange || part.head;
        };
        const bool works_meanwhile = std::ranges::any_of(parts_[kernel], communicates) &&
                                     std::ranges::any_of(parts_[kernel], [](const ProgramPart& part) {
                                         return part.kind == Kind::Loop;
                                     });
        return works_meanwhile ? options_.pieces_of(kernels_.all()[kernel]) : 1;
    }

    [[nodiscard]] ProgramStage levelled(std::vector<ProgramPart> parts) const {
        ProgramStage stage;
        std::map<ValueId, std::size_t> from;  // the level from which on a value can be read by its rank
        std::map<ValueId, std::size_t> made;  // the level in which it is made
        for (ProgramPart& part : parts) {
            std::size_t level = 0;
            const auto read = [&](ValueId arg, bool by_others) {
                if (const auto found = from.find(arg); found != from.end())
                    level =
                        std::max(level, by_others ? std::max(found->second, made[arg] + 1) : found->second);
            };
            for (const ValueId id : part.values) {
                for (const ValueId arg : program_[id].args) read(arg, part.kind == Kind::Exchange);
            }
            if (part.head) read(program_[*part.head].args[0], true);
            if (stage.levels.size() <= level) stage.levels.resize(level + 1);
            ProgramStage::Level& at = stage.levels[level];
            const auto join = [&](ValueId collective) {
                for (const AxisId axis : program_[collective].axes) {
                    if (std::ranges::find(at.axes, axis) == at.axes.end()) at.axes.push_back(axis);
                    if (std::ranges::find(stage.axes, axis) == stage.axes.end()) stage.axes.push_back(axis);
                }
            };
            const bool spreads =
                part.kind == Kind::Exchange && program_[part.values.front()].op == Op::AllReduce;
            for (const ValueId id : part.values) {
                made[id] = level;
                from[id] = spreads ? level + 1 : level;
            }
            if (part.kind == Kind::Exchange) join(part.values.front());
            if (part.head) join(*part.head);
            for (const ValueId tail : part.tails) {
                join(tail);
                made[tail] = level;
                from[tail] = level + 1;
            }
            at.spreads = at.spreads || spreads || !part.tails.empty();
            at.parts.push_back(std::move(part));
        }
        for (ProgramStage::Level& level : stage.levels) std::ranges::sort(level.axes);
        std::ranges::sort(stage.axes);
        return stage;
    }

    const Program& program_;
    const tensor::Kernels& kernels_;
    const StageOptions& options_;
    Users users_;
    std::vector<std::vector<ProgramPart>> parts_;  ///< by kernel
    std::vector<ProgramStage> stages_;
};

}  // namespace

bool contains(const std::vector<ValueId>& values, ValueId id) {
    return std::ranges::find(values, id) != values.end();
}

bool only_root_has_operand(const Program& program, ValueId broadcast) {
    const Value& value = program[broadcast];
    const Type& operand = program[value.args[0]].type;
    return std::ranges::all_of(value.axes,
                               [&](AxisId axis) { return operand.layout[axis.index()].is_root(); });
}

std::vector<ProgramStage> program_stages(const Program& program, const tensor::Kernels& kernels,
                                         const StageOptions& options) {
    return Stages(program, kernels, options).made();
}

}  // namespace tutti::run

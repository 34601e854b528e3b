// Puts the explorers to work for every way in which a plan may be called. A rooted collective whose root
// nobody names is fine if it is fine for some root, in all its modes.
//
// A race is checked by what it means and not by a second happens-before relation: both orders of the two
// steps must exist, and poison put in the place of what one of them reads or writes must show in an output.

#include "tests/oracle/plan_opinion.hpp"

#include "tests/oracle/fifo_need.hpp"
#include "tests/oracle/plan_structure.hpp"
#include "tests/support/plan_ids.hpp"

#include <algorithm>

namespace tutti::oracle {
namespace {

using test::number;

std::vector<bool> modes_of(const plan::MscclPlan& plan) {
    const bool in = plan.in_place.value_or(!plan.out_of_place.value_or(false));
    const bool out = plan.out_of_place.value_or(!in);
    std::vector<bool> modes;
    if (in) modes.push_back(true);
    if (out) modes.push_back(false);
    if (modes.empty()) modes.push_back(true);  // a schedule for no call at all: as if nothing were said
    return modes;
}

/// What became of one root.
struct Trial {
    Opinion::Kind kind = Opinion::Kind::Fine;
    bool differs = false;
};

Trial try_calls(const plan::MscclPlan& plan, const std::vector<PlanCall>& calls,
                const ExploreOptions& options, Opinion& opinion) {
    Trial trial;
    std::set<std::string> faults;
    for (const PlanCall& call : calls) faults.merge(structure_faults(plan, call));
    opinion.faults_by_root.push_back(faults);
    if (!faults.empty()) return {Opinion::Kind::Structure, false};
    for (const PlanCall& call : calls) {
        Machine machine = machine_of(plan, call);
        const Exploration found = explore(machine, options);
        opinion.states += found.states;
        if (found.out_of_work) return {Opinion::Kind::Undecided, false};
        if (found.hung > 0) {
            for (std::size_t b = 0; b < machine.blocks.size(); ++b) {
                if (found.stuck[b] == std::ssize(machine.blocks[b].steps)) continue;
                opinion.stuck[{machine.blocks[b].gpu, machine.blocks[b].id}] = found.stuck[b];
            }
            return {Opinion::Kind::Hangs, false};
        }
        if (!opinion.chunks_needed) {
            opinion.chunks_needed = least_capacity(machine, MessageSize::Chunk, options.max_states);
            opinion.steps_needed = least_capacity(machine, MessageSize::Step, options.max_states);
        }
        for (const auto* places : {&found.wrong, &found.differing}) {
            for (const std::size_t i : *places) {
                opinion.wrong.emplace(machine.outputs[i].gpu, machine.outputs[i].chunk);
            }
        }
        if (!found.fine()) trial.kind = Opinion::Kind::Wrong;
        trial.differs = trial.differs || !found.differing.empty();
    }
    return trial;
}

bool touches(const std::vector<int>& places, int place) {
    return std::ranges::find(places, place) != places.end();
}

bool writes(const MachineStep& step, int place) { return touches(step.targets, place); }

bool accesses(const MachineStep& step, int place) {
    return writes(step, place) || touches(step.sources, place) || touches(step.accumulators, place);
}

bool is_live(Machine& machine, int block, int step, int place) {
    ExploreOptions options;
    options.poison = ExploreOptions::Poison{block, step, place};
    return explore(machine, options).poisoned;
}

/// Where nobody says what the outputs are, whatever is unordered may matter.
bool is_all_live(const PlanCall& call) { return call.goal == CollectiveKind::Custom && !call.condition; }

RaceCheck race_in(Machine& machine, bool all_live, const plan::Place& one, const plan::Place& other) {
    const auto a = machine.block(number(one.gpu), number(one.block)),
               b = machine.block(number(other.gpu), number(other.block));
    if (!a || !b) return RaceCheck::NoSuchSteps;
    const auto& steps_a = machine.blocks[static_cast<std::size_t>(*a)].steps;
    const auto& steps_b = machine.blocks[static_cast<std::size_t>(*b)].steps;
    const auto exists = [](std::int32_t step, const auto& steps) {
        return step >= 0 && step < std::ssize(steps);
    };
    if (!exists(number(one.step), steps_a) || !exists(number(other.step), steps_b))
        return RaceCheck::NoSuchSteps;
    const MachineStep& x = steps_a[(*one.step).index()];
    const MachineStep& y = steps_b[(*other.step).index()];
    std::vector<int> shared;
    for (int place = 0; place < std::ssize(machine.places); ++place) {
        if (accesses(x, place) && accesses(y, place) && (writes(x, place) || writes(y, place))) {
            shared.push_back(place);
        }
    }
    if (shared.empty()) return RaceCheck::NoConflict;
    if (!can_precede(machine, *a, number(one.step), *b, number(other.step)) ||
        !can_precede(machine, *b, number(other.step), *a, number(one.step))) {
        return RaceCheck::Ordered;
    }
    if (all_live) return RaceCheck::Real;
    for (const int place : shared) {
        // What is live must not meet a write; a dead read of it does no harm.
        if (writes(y, place) && is_live(machine, *a, number(one.step), place)) return RaceCheck::Real;
        if (writes(x, place) && is_live(machine, *b, number(other.step), place)) return RaceCheck::Real;
    }
    return RaceCheck::Dead;
}

}  // namespace

std::vector<std::vector<PlanCall>> calls_of(const plan::MscclPlan& plan, const PlanQuestion& question) {
    PlanCall call;
    call.goal = question.goal ? *question.goal
                : plan.collective.has_value()
                    ? kind_in_plan(*plan.collective).value_or(CollectiveKind::Custom)
                    : CollectiveKind::Custom;
    call.operand_is_destination = question.operand_is_destination;
    call.copies_first = question.copies_first;
    call.condition = question.condition;
    std::vector<std::vector<PlanCall>> calls;
    const bool is_searched = has_root(call.goal) && !question.root;
    for (std::int32_t root = 0; root < (is_searched ? plan.ranks : 1); ++root) {
        if (has_root(call.goal)) call.root = question.root.value_or(root);
        auto& modes = calls.emplace_back();
        for (const bool in_place : modes_of(plan)) {
            call.in_place = in_place;
            modes.push_back(call);
        }
    }
    return calls;
}

Opinion opinion_on(const plan::MscclPlan& plan, const PlanQuestion& question, const ExploreOptions& options) {
    Opinion opinion;
    std::set<Opinion::Kind> kinds;
    bool differs = false;
    for (const std::vector<PlanCall>& calls : calls_of(plan, question)) {
        const Trial trial = try_calls(plan, calls, options, opinion);
        kinds.insert(trial.kind);
        differs = differs || trial.differs;
        if (trial.kind == Opinion::Kind::Fine) opinion.root = calls.front().root;
        if (trial.kind == Opinion::Kind::Fine) break;
    }
    for (const std::set<std::string>& faults : opinion.faults_by_root) {
        opinion.structure.insert(faults.begin(), faults.end());
    }
    using enum Opinion::Kind;
    for (const Opinion::Kind kind : {Fine, Undecided, Hangs, Wrong, Structure}) {
        if (!kinds.contains(kind)) continue;
        opinion.kind = kind;
        break;
    }
    opinion.always_wrong = opinion.kind == Wrong && !differs;
    return opinion;
}

RaceCheck race_between(const plan::MscclPlan& plan, const PlanQuestion& question, const plan::Place& one,
                       const plan::Place& other) {
    RaceCheck best = RaceCheck::NoSuchSteps;
    for (const std::vector<PlanCall>& calls : calls_of(plan, question)) {
        for (const PlanCall& call : calls) {
            if (!structure_faults(plan, call).empty()) continue;
            Machine machine = machine_of(plan, call);
            best = std::max(best, race_in(machine, is_all_live(call), one, other));
            if (best == RaceCheck::Real) return best;
        }
    }
    return best;
}

std::optional<std::pair<plan::Place, plan::Place>> some_race(const plan::MscclPlan& plan,
                                                             const PlanQuestion& question) {
    std::vector<plan::Place> steps;
    for (const plan::Gpu& gpu : plan.gpus) {
        for (const plan::ThreadBlock& block : gpu.blocks) {
            for (std::size_t s = 0; s < block.steps.size(); ++s)
                steps.push_back({.gpu = gpu.id, .block = block.id, .step = plan::StepId(s)});
        }
    }
    for (const std::vector<PlanCall>& calls : calls_of(plan, question)) {
        for (const PlanCall& call : calls) {
            if (!structure_faults(plan, call).empty()) continue;
            Machine machine = machine_of(plan, call);
            for (std::size_t i = 0; i < steps.size(); ++i) {
                for (std::size_t k = i + 1; k < steps.size(); ++k) {
                    if (steps[i].gpu != steps[k].gpu || steps[i].block == steps[k].block) continue;
                    if (race_in(machine, is_all_live(call), steps[i], steps[k]) == RaceCheck::Real)
                        return std::pair(steps[i], steps[k]);
                }
            }
        }
    }
    return std::nullopt;
}

}  // namespace tutti::oracle

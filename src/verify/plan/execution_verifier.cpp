// Verifies a plan of MSCCL++: it is lowered to a program (execution_program) and decided like every other
// plan.

#include "verify/plan/execution_limits.hpp"
#include "verify/plan/execution_program.hpp"
#include "verify/plan/judged_program.hpp"
#include "verify/plan/plan_verifier.hpp"
#include "verify/plan/program_verifier.hpp"
#include "verify/plan/unfinished.hpp"

#include <fmt/format.h>

#include <set>

namespace tutti::verify {
namespace {
using plan::PlanClass;

/// Up to this many ranks, in-place gathers and scatters are tried with every root; above, the root must be
/// given.
constexpr std::int32_t kMostRoots = 64;

class ExecutionVerifier {
  public:
    ExecutionVerifier(const plan::ExecutionPlan& plan, const PlanReading& reading,
                      std::vector<JudgedProgram>* programs)
        : plan_(plan),
          reading_(reading),
          programs_(programs),
          violations_(reading.max_findings),
          warnings_(reading.max_findings),
          ranks_(static_cast<std::int32_t>(plan.gpus.size())) {}

    plan::PlanVerdict run() {
        verdict_.format = "mscclpp-json";
        verdict_.name = plan_.name;
        verdict_.ranks = ranks_;
        verdict_.steps = operations_of(plan_);
        verdict_.mode = plan_.in_place ? "in-place" : "out-of-place";
        for (const std::string& remark : plan_.remarks) warnings_.add("ignored", remark);
        choose_goal();
        check_head();
        if (violations_.empty()) judge();
        if (reading_.target == plan::Target::Mscclpp) warn_of_execution_limits(plan_, warnings_);
        finish();
        return std::move(verdict_);
    }

  private:
    /// Labels without a postcondition get one by --as.
    void choose_goal() {
        goal_ = reading_.goal ? plan_kind_of(*reading_.goal) : plan::stated_goal(plan_);
        if (goal_ == CollectiveKind::Custom && !reading_.condition && plan_.collective != "test") {
            warnings_.add(
                "collective",
                fmt::format("the collective \"{}\" has no postcondition in this format; structure, order "
                            "and races were judged (--condition or --as says what it must end with)",
                            plan_.collective));
        }
        verdict_.collective =
            reading_.condition ? "custom, with the given condition" : std::string(plan_name_of(goal_));
    }

    void check_head() {
        if (plan_.gpus.empty()) violations_.add("gpu-id", "the plan has no gpus");
        if (plan_.min_bytes > plan_.max_bytes) {
            violations_.add("size-range",
                            fmt::format("min_message_size {} is larger than max_message_size {}",
                                        plan_.min_bytes, plan_.max_bytes));
        }
        if (reading_.root && (*reading_.root).index() >= plan_.gpus.size()) {
            violations_.add("root", fmt::format("root {} is no rank; there are {}", *reading_.root, ranks_));
        }
        std::set<plan::ReduceOp> ops;
        const auto note = [&](const plan::Operation& op) {
            if (reduces(op.type)) ops.insert(op.reduce.value_or(plan::ReduceOp::Sum));
        };
        plan::for_each_operation(plan_, note);
        if (ops.size() < 2) return;
        (goal_ == CollectiveKind::Custom ? warnings_ : violations_)
            .add("reduce-op", "operations of the plan reduce with different operators (reduce_op)");
    }

    void judge() {
        const plan::CallSizes sizes = plan::call_sizes(plan_, goal_);
        if (!sizes_fit(plan_, sizes, violations_)) return;
        const bool root_moves_memory =
            plan_.in_place && (goal_ == CollectiveKind::Gather || goal_ == CollectiveKind::Scatter);
        const bool search = root_moves_memory && !reading_.root && ranks_ <= kMostRoots;
        std::optional<Findings> first;
        for (const Rank root : plan::ranks_below(search ? ranks_ : 1)) {
            Findings found(reading_.max_findings), warned(reading_.max_findings);
            judge_root(sizes, search ? std::optional(root) : reading_.root, found, warned);
            if (!found.empty() && search) {
                if (!first) first = std::move(found);
                continue;
            }
            add(found, violations_);
            add(warned, warnings_);
            return;
        }
        if (first) add(*first, violations_);
    }

    static void add(Findings& from, Findings& to) {
        const std::uint64_t count = from.count();
        to.add_all(from.take(), count);
    }

    void judge_root(const plan::CallSizes& sizes, std::optional<Rank> root, Findings& found,
                    Findings& warned) {
        Findings later(reading_.max_findings);
        ExecutionFindings findings{found, later, warned, false};
        const bool rooted_memory = goal_ == CollectiveKind::Gather || goal_ == CollectiveKind::Scatter;
        auto program = program_of(plan_, sizes, rooted_memory ? root : std::nullopt, findings);
        too_large_ = too_large_ || findings.too_large;
        if (program) decide_on(*program, sizes, root, found, warned);
        add(later, found);
    }

    void decide_on(ExecutionProgram& lowered, const plan::CallSizes& sizes, std::optional<Rank> root,
                   Findings& found, Findings& warned) {
        const plan::Program& program = lowered.ordered.program;
        ProgramQuestion question;
        question.postcondition = {goal_,   ranks_,  sizes.share * program.places_per_chunk,
                                  Rank(0), nullptr, program.places_per_chunk};
        if (reading_.condition) question.postcondition.condition = &*reading_.condition;
        question.root = root;
        question.senders_open = !reading_.goal;
        question.max_findings = reading_.max_findings;
        question.describe = [&](plan::OpId op) {
            return text_of(plan_, lowered.steps.steps[lowered.ordered.step_of[op]]);
        };
        ProgramAnswer answer = decide(program, question);
        if (answer.root) verdict_.root = answer.root;
        if (!answer.senders.empty()) leave_senders_open(answer.senders.front(), warned);
        found.add_all(std::move(answer.violations), answer.violation_count);
        warned.add_all(std::move(answer.warnings), answer.warning_count);
        warn_of_unfinished(lowered, question, warned);
        if (programs_ == nullptr) return;
        // Of several roots that are tried the last one counts: what is right ends the search.
        programs_->assign(1, {std::move(lowered.ordered.program), question.postcondition, plan_.in_place});
        if (answer.root) programs_->front().postcondition.root = *answer.root;
        programs_->front().postcondition.senders = std::move(answer.senders);
    }

    /// The file names neither senders nor receivers. "From the rank before" is what the name means; a plan
    /// for another rule (MSCCL++ has a mask of ranks, outside the file) cannot be judged by it.
    void leave_senders_open(Rank sender_to_0, Findings& warned) {
        senders_open_ = true;
        verdict_.collective = "sendrecv, between ranks that the file does not state";
        warned.add(
            "collective",
            fmt::format("every rank gets the input of another one, but not of the rank before it (rank 0 "
                        "that of rank {}); the file does not say who sends to whom (--as sendrecv: "
                        "the rank before; --condition says it)",
                        sender_to_0));
    }

    void warn_of_unfinished(const ExecutionProgram& lowered, const ProgramQuestion& question,
                            Findings& warned) {
        const plan::Program& program = lowered.ordered.program;
        for (const plan::OpId op : unfinished_writes(program, ProgramGraph(program))) {
            const ExecutionStep& step = lowered.steps.steps[lowered.ordered.step_of[op]];
            warned.add(
                "unfinished",
                fmt::format("{} ({}) writes the output of another gpu, where nothing waits for it: the call "
                            "there may return before the data has come",
                            text_of(step.place), question.describe(op)),
                step.place);
        }
    }

    void finish() {
        if (too_large_) {
            verdict_.verdict = PlanClass::Malformed;
        } else if (!violations_.empty()) {
            verdict_.verdict = PlanClass::Invalid;
        } else if ((goal_ == CollectiveKind::Custom && !reading_.condition) || senders_open_) {
            verdict_.verdict = PlanClass::StructureOnly;
        } else {
            verdict_.verdict = PlanClass::Valid;
        }
        settle(verdict_, verdict_.verdict, violations_, warnings_);
    }

    const plan::ExecutionPlan& plan_;
    const PlanReading& reading_;
    std::vector<JudgedProgram>* programs_;  ///< may be null
    Findings violations_, warnings_;
    std::int32_t ranks_;
    plan::PlanVerdict verdict_;
    CollectiveKind goal_ = CollectiveKind::Custom;
    bool too_large_ = false, senders_open_ = false;
};

}  // namespace

plan::PlanVerdict verify(const plan::ExecutionPlan& plan, const PlanReading& reading) {
    return ExecutionVerifier(plan, reading, nullptr).run();
}

plan::PlanVerdict verify(const plan::ExecutionPlan& plan, const PlanReading& reading,
                         std::vector<JudgedProgram>& programs) {
    return ExecutionVerifier(plan, reading, &programs).run();
}

}  // namespace tutti::verify

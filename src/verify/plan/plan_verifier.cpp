// Verifies a plan of the MSCCL family: the structure, then one program per call mode, decided for every
// interleaving, then the capacity that its connections need.

#include "verify/plan/plan_verifier.hpp"

#include "verify/plan/judged_program.hpp"

#include "verify/plan/fifo.hpp"
#include "verify/plan/findings.hpp"
#include "verify/plan/msccl_layout.hpp"
#include "verify/plan/msccl_program.hpp"
#include "verify/plan/msccl_structure.hpp"
#include "verify/plan/plan_limits.hpp"
#include "verify/plan/program_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {
namespace {
using plan::PlanClass;

/// Plans that move more chunks are rejected, because a file of a kilobyte can name very many, and each costs
/// some 50 bytes and 200 ns. Large files have a larger limit.
constexpr std::int64_t kMostChunksMoved = std::int64_t{1} << 23U;
constexpr std::int64_t kMostChunksPerStep = 32;
/// Up to this many ranks, in-place gathers and scatters are tried with every root; above, the root must be
/// given.
constexpr std::int32_t kMostRootsTried = 64;

struct Modes {
    bool in_place, out_of_place;
};

Modes modes_of(const plan::MscclPlan& plan) {
    if (!plan.in_place && !plan.out_of_place) return {true, false};
    const bool in = plan.in_place.value_or(!plan.out_of_place.value_or(false));
    return {in, plan.out_of_place.value_or(!in)};
}

class MscclVerifier {
  public:
    MscclVerifier(const plan::MscclPlan& plan, const PlanReading& reading,
                  std::vector<JudgedProgram>* programs)
        : plan_(plan),
          reading_(reading),
          programs_(programs),
          violations_(reading.max_findings),
          warnings_(reading.max_findings) {
        if (programs != nullptr || reading.copies_first) use_ = ProgramUse::Keep;
    }

    plan::PlanVerdict run() {
        verdict_.format = "msccl-xml";
        verdict_.name = plan_.name;
        verdict_.ranks = plan_.ranks;
        verdict_.steps = steps_of(plan_);
        for (const std::string& remark : plan_.remarks) warnings_.add("ignored", remark);
        choose_goal();
        check_head();
        if (const auto structure = resolve(plan_, reading_, violations_, warnings_)) judge(*structure);
        finish();
        return std::move(verdict_);
    }

  private:
    void choose_goal() {
        goal_ = CollectiveKind::Custom;
        if (reading_.goal) {
            goal_ = plan_kind_of(*reading_.goal);
        } else if (plan_.collective) {
            goal_ = plan::stated_goal(plan_);
            if (!kind_in_plan(*plan_.collective) && !reading_.condition) {
                warnings_.add("collective",
                              fmt::format("no runtime knows coll=\"{}\"; judged without a postcondition",
                                          *plan_.collective));
            }
        } else {
            warnings_.add("collective",
                          "the file names no collective; judged without a postcondition (--as names one)");
        }
        verdict_.collective =
            reading_.condition ? "custom, with the given condition" : std::string(plan_name_of(goal_));
    }

    void check_head() {
        const Modes modes = modes_of(plan_);
        verdict_.mode = modes.in_place && modes.out_of_place ? "both"
                        : modes.in_place                     ? "in-place"
                                                             : "out-of-place";
        if (!modes.in_place && !modes.out_of_place) {
            violations_.add("mode", "inplace=0 and outofplace=0: the schedule is for no call at all");
        }
        if (plan_.max_bytes.value_or(0) != 0 && plan_.min_bytes.value_or(0) > *plan_.max_bytes) {
            violations_.add("size-range", fmt::format("minBytes {} is larger than maxBytes {}",
                                                      *plan_.min_bytes, *plan_.max_bytes));
        }
        if (reading_.root && (*reading_.root).value() >= static_cast<std::uint32_t>(plan_.ranks)) {
            violations_.add("root",
                            fmt::format("root {} is no rank; there are {}", *reading_.root, plan_.ranks));
        }
    }

    void judge(const MscclStructure& structure) {
        if (reading_.target) warn_of_limits(plan_, structure, *reading_.target, warnings_);
        const std::int64_t most =
            std::max(kMostChunksMoved, kMostChunksPerStep * static_cast<std::int64_t>(structure.steps()));
        if (chunks_moved(structure) > most) {
            too_large_ = true;
            violations_.add("too-large", fmt::format("the steps move {} chunks; at most {} are judged",
                                                     chunks_moved(structure), most));
            return;
        }
        const auto sizes = plan::call_sizes(plan_, goal_);
        if (!sizes) {
            violations_.add("chunks",
                            fmt::format("nchunksperloop {} is not a multiple of the {} ranks, as {} needs",
                                        plan_.chunks_per_loop, plan_.ranks, plan_name_of(goal_)));
            return;
        }
        if (!violations_.empty()) return;
        const Modes modes = modes_of(plan_);
        if (modes.out_of_place) judge_mode(structure, *sizes, false);
        if (modes.in_place && (violations_.empty() || ends_)) judge_mode(structure, *sizes, true);
        if (modes.out_of_place) warn_of_written_input(structure);
        if (!reading_.copies_first) warn_of_copies();
        if (ends_) verdict_.fifo = fifo_need(structure, plan_.protocol);
    }

    void judge_mode(const MscclStructure& structure, const plan::CallSizes& sizes, bool in_place) {
        const bool root_moves_memory =
            in_place && (goal_ == CollectiveKind::Gather || goal_ == CollectiveKind::Scatter);
        const bool search = root_moves_memory && !reading_.root && plan_.ranks <= kMostRootsTried;
        Findings nearest(reading_.max_findings);  // those of the root with the fewest
        bool nearest_ran = false;
        for (const Rank root : plan::ranks_below(search ? plan_.ranks : 1)) {
            Findings found(reading_.max_findings), warned(reading_.max_findings);
            const bool ran = judge_root(structure, sizes, in_place,
                                        search ? std::optional(root) : reading_.root, found, warned);
            if (!found.empty() && search) {
                const bool is_nearer = ran != nearest_ran ? ran : found.count() < nearest.count();
                if (root == Rank(0) || is_nearer) nearest = std::move(found);
                nearest_ran = nearest_ran || ran;
                continue;
            }
            add(found, violations_, in_place);
            add(warned, warnings_, in_place);
            return;
        }
        add(nearest, violations_, in_place);
    }

    /// Whether it could be run.
    bool judge_root(const MscclStructure& structure, const plan::CallSizes& sizes, bool in_place,
                    std::optional<Rank> root, Findings& found, Findings& warned) {
        const bool rooted_memory = goal_ == CollectiveKind::Gather || goal_ == CollectiveKind::Scatter;
        // Without a root, every rank of an out-of-place gather may have an output, until one is found.
        const MscclLayout layout(structure.gpus, sizes, in_place, rooted_memory ? root : std::nullopt);
        auto program = program_of(structure, layout, reading_, use_, found);
        if (!program) return false;
        ProgramQuestion question;
        question.postcondition = {goal_, plan_.ranks, sizes.share, Rank(0), nullptr, 1};
        if (reading_.condition) question.postcondition.condition = &*reading_.condition;
        question.root = root;
        question.max_findings = reading_.max_findings;
        question.describe = [&](plan::OpId op) {
            return op < structure.steps() ? structure.words(op) : std::string("<copy>");
        };
        question.place = [&](plan::OpId op) { return structure.place(op); };
        ProgramAnswer answer =
            programs_ == nullptr ? decide(std::move(*program), question) : decide(*program, question);
        if (use_ == ProgramUse::Judge && (answer.violation_count > 0 || answer.warning_count > 0)) {
            // What is wrong is told of all steps, and why they wait.
            use_ = ProgramUse::Keep;
            program = program_of(structure, layout, reading_, use_, found);
            if (!program) return false;
            answer = decide(std::move(*program), question);
        }
        ends_ = std::ranges::none_of(answer.violations, [](const auto& f) { return f.code == "deadlock"; });
        if (answer.root) verdict_.root = answer.root;
        if (rooted_memory && !root && answer.root && answer.violations.empty()) {
            const MscclLayout by_root(structure.gpus, sizes, in_place, *answer.root);
            // Reports accesses to buffers that only the root has.
            (void)program_of(structure, by_root, reading_, use_, found);
        }
        if (programs_ != nullptr) keep(std::move(*program), question.postcondition, answer.root, in_place);
        found.add_all(std::move(answer.violations), answer.violation_count);
        warned.add_all(std::move(answer.warnings), answer.warning_count);
        return true;
    }

    /// Of a mode whose root is sought the last one that was tried is kept: what is right ends the search.
    void keep(plan::Program program, const Postcondition& postcondition, std::optional<Rank> root,
              bool in_place) {
        if (!programs_->empty() && programs_->back().in_place == in_place) programs_->pop_back();
        programs_->push_back({std::move(program), postcondition, in_place});
        if (root) programs_->back().postcondition.root = *root;
    }

    /// Where a plan has two modes, a finding says which one it is about.
    void add(Findings& from, Findings& to, bool in_place) const {
        const std::uint64_t count = from.count();
        std::vector<plan::PlanFinding> findings = from.take();
        if (verdict_.mode == "both") {
            for (plan::PlanFinding& finding : findings) {
                finding.message =
                    (in_place ? "called in place: " : "called out of place: ") + finding.message;
            }
        }
        to.add_all(std::move(findings), count);
    }

    void warn_of_written_input(const MscclStructure& structure) {
        std::uint64_t writes = 0;
        plan::OpId first = plan::kNoOp;
        for (const MscclStructure::Block& block : structure.blocks) {
            plan::OpId id = block.first;
            for (const plan::Step& step : block.block->steps) {
                const bool does = uses_destination(step.type) && step.dst.buffer == plan::Buffer::Input;
                if (does && writes++ == 0) first = id;
                ++id;
            }
        }
        if (writes == 0) return;
        warnings_.add(
            "written-input",
            fmt::format("{} steps write the input buffer, which an out-of-place call has promised not to "
                        "change; the first is {}",
                        writes, structure.named(first)),
            structure.place(first));
    }

    void warn_of_copies() {
        std::size_t copies = 0;
        for (const plan::Gpu& gpu : plan_.gpus) copies += gpu.copies.size();
        if (copies == 0) return;
        warnings_.add("ignored",
                      fmt::format("<copy> stands under gpus {} times and was ignored, as runtimes do; "
                                  "--copy first executes it",
                                  copies));
    }

    void finish() {
        const bool shallow = verdict_.fifo && verdict_.fifo->chunks > verdict_.fifo->capacity;
        if (shallow && !violations_.empty()) {
            violations_.add("fifo-depth", fmt::format("connections must hold {} messages; {} offers {}",
                                                      verdict_.fifo->chunks, name_of(plan_.protocol),
                                                      verdict_.fifo->capacity));
        }
        if (too_large_) {
            verdict_.verdict = PlanClass::Malformed;
        } else if (!violations_.empty()) {
            verdict_.verdict = PlanClass::Invalid;
        } else if (goal_ == CollectiveKind::Custom && !reading_.condition) {
            verdict_.verdict = PlanClass::StructureOnly;
        } else {
            verdict_.verdict = shallow ? PlanClass::ValidIfBuffered : PlanClass::Valid;
        }
        settle(verdict_, verdict_.verdict, violations_, warnings_);
    }

    const plan::MscclPlan& plan_;
    const PlanReading& reading_;
    std::vector<JudgedProgram>* programs_;  ///< may be null
    Findings violations_, warnings_;
    plan::PlanVerdict verdict_;
    CollectiveKind goal_ = CollectiveKind::Custom;
    ProgramUse use_ = ProgramUse::Judge;  ///< of the programs that are made
    bool too_large_ = false;
    bool ends_ = false;  ///< if connections are unbounded: was found out, and is so
};

}  // namespace

plan::PlanVerdict verify(const plan::MscclPlan& plan, const PlanReading& reading) {
    return MscclVerifier(plan, reading, nullptr).run();
}

plan::PlanVerdict verify(const plan::MscclPlan& plan, const PlanReading& reading,
                         std::vector<JudgedProgram>& programs) {
    return MscclVerifier(plan, reading, &programs).run();
}

}  // namespace tutti::verify

#include "tests/support/plan_agreement.hpp"

#include "tests/support/plan_ids.hpp"
#include "verify/plan/judged_program.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::test {
namespace {

using oracle::Opinion;
using plan::PlanClass;
using plan::PlanFinding;

verify::PlanReading reading_of(const oracle::PlanQuestion& question) {
    verify::PlanReading reading;
    if (question.operand_is_destination) reading.operand = verify::PlanReading::Operand::Destination;
    reading.copies_first = question.copies_first;
    reading.goal = question.goal;
    if (question.root) reading.root = id<Rank>(*question.root);
    reading.condition = question.condition;
    return reading;
}

std::string text_of(const plan::PlanVerdict& verdict) {
    std::string text(name_of(verdict.verdict));
    for (const PlanFinding& finding : verdict.violations) {
        text += fmt::format("\n    {}: {} [{}", finding.code, finding.message, plan::text_of(finding.place));
        for (const plan::Place& other : finding.others) text += "; " + plan::text_of(other);
        text += "]";
    }
    return text;
}

class Judge {
  public:
    Judge(const plan::MscclPlan& plan, const oracle::PlanQuestion& question, std::uint64_t max_states)
        : plan_(plan), question_(question), verdict_(verify::verify(plan, reading_of(question))) {
        // What is kept for execution is judged alike.
        std::vector<verify::JudgedProgram> programs;
        if (text_of(verify::verify(plan, reading_of(question), programs)) != text_of(verdict_))
            differ("judges the plan otherwise when its programs are kept");
        oracle::ExploreOptions options;
        options.max_states = max_states;
        opinion_ = oracle::opinion_on(plan, question, options);
        primary_ = verdict_.violations.empty() ? "" : verdict_.violations.front().code;
    }

    PlanComparison compare() {
        switch (opinion_.kind) {
            case Opinion::Kind::Undecided:
                return result("undecided");
            case Opinion::Kind::Structure:
                return structure();
            case Opinion::Kind::Hangs:
                return deadlock();
            default:
                break;
        }
        check_findings();
        check_fifo();
        if (opinion_.kind == Opinion::Kind::Fine) return fine();
        if (verdict_.acceptable()) differ("accepts what some interleaving ends wrong");
        if (primary_ != "value" && primary_ != "race")
            differ("refuses for another reason than a wrong outcome");
        // Of several calls the verifier may stop at the first that is wrong, and need not come to the racy
        // one.
        if (!opinion_.always_wrong && !has("race") && is_only_call()) differ("does not see the race");
        return result(opinion_.always_wrong ? "value" : "race");
    }

  private:
    PlanComparison result(const std::string& kind) {
        PlanComparison comparison{difference_, kind, false, text_of(verdict_)};
        comparison.needs_buffers = opinion_.chunks_needed.value_or(1) > 1;
        return comparison;
    }
    void differ(const std::string& how) { difference_ += (difference_.empty() ? "" : "; ") + how; }
    [[nodiscard]] bool has(std::string_view code) const {
        return std::ranges::any_of(verdict_.violations, [&](const PlanFinding& f) { return f.code == code; });
    }
    /// Rooted, and nobody says what the root is: for each root something else is wrong.
    [[nodiscard]] bool is_searched() const { return oracle::calls_of(plan_, question_).size() > 1; }

    [[nodiscard]] bool is_only_call() const {
        const auto calls = oracle::calls_of(plan_, question_);
        return calls.size() == 1 && calls.front().size() == 1;
    }

    PlanComparison structure() {
        // A send without a peer is a matter of connections; plans may also hang, whatever else is wrong with
        // them.
        static const std::map<std::string, std::string> kNames{{"peer", "connection"}};
        std::set<std::string> codes = opinion_.structure;
        for (const auto& [ours, theirs] : kNames) {
            if (codes.contains(ours)) codes.insert(theirs);
        }
        codes.insert("deadlock");
        // For another root, or called the other way, the plan may have been run; and memory that only the
        // root has may have been taken to be undefined instead of missing.
        if (verdict_.root || !is_only_call()) codes.insert({"value", "race"});
        if (verdict_.acceptable())
            differ(fmt::format("accepts what cannot be run: {}", *opinion_.structure.begin()));
        else if (!codes.contains(primary_))
            differ("refuses for another reason than " + *opinion_.structure.begin());
        return result("structure");
    }

    PlanComparison deadlock() {
        if (verdict_.acceptable())
            differ("accepts what hangs");
        else if (primary_ != "deadlock")
            differ("refuses what hangs for another reason");
        for (const PlanFinding& finding : verdict_.violations) {
            if (finding.code != "deadlock") continue;
            check_stuck(finding.place);
            for (const plan::Place& other : finding.others) {
                if (!waits_for(finding.place, other)) check_stuck(other);
            }
        }
        return result("deadlock");
    }

    /// The block that ought to signal may have ended long ago.
    [[nodiscard]] bool waits_for(const plan::Place& place, const plan::Place& other) const {
        for (const plan::Gpu& gpu : plan_.gpus) {
            for (const plan::ThreadBlock& block : gpu.blocks) {
                if (gpu.id != place.gpu || block.id != place.block) continue;
                return gpu.id == other.gpu && block.steps.at((*place.step).index()).dep_block == other.block;
            }
        }
        return false;
    }

    void check_stuck(const plan::Place& place) {
        const auto at = opinion_.stuck.find({number(place.gpu), number(place.block)});
        if (at == opinion_.stuck.end() || number(place.step) < at->second) {
            differ("names in a deadlock " + plan::text_of(place) + ", which ends");
        }
    }

    void check_findings() {
        for (const PlanFinding& finding : verdict_.violations) {
            if (finding.code == "value" && !is_searched() &&
                !opinion_.wrong.contains({number(finding.place.gpu), number(finding.place.offset)})) {
                differ("calls wrong what is always right: " + plan::text_of(finding.place));
            }
            if (finding.code != "race") continue;
            const auto found = finding.others.empty() ? oracle::RaceCheck::NoSuchSteps
                                                      : oracle::race_between(plan_, question_, finding.place,
                                                                             finding.others.front());
            if (found != oracle::RaceCheck::Real) {
                differ(fmt::format("sees a race that is none (reason {})", static_cast<int>(found)));
            }
        }
    }

    void check_fifo() {
        if (!opinion_.chunks_needed || !opinion_.steps_needed) return;
        if (!verdict_.fifo) {
            if (verdict_.acceptable()) differ("says nothing of FIFOs");
            return;
        }
        const plan::FifoNeed& need = *verdict_.fifo;
        if (need.chunks != *opinion_.chunks_needed || need.steps != *opinion_.steps_needed) {
            differ(fmt::format("thinks that FIFOs need {} chunks, {} steps, and not {}, {}", need.chunks,
                               need.steps, *opinion_.chunks_needed, *opinion_.steps_needed));
        }
        const bool is_tight = std::max(need.chunks, need.steps) > need.capacity;
        if (verdict_.verdict == PlanClass::Valid && is_tight) differ("calls valid what needs larger FIFOs");
        if (verdict_.verdict == PlanClass::ValidIfBuffered && !is_tight)
            differ("asks for FIFOs that are there");
        if (need.capacity != fifo_capacity(plan_.protocol)) differ("takes another capacity");
    }

    PlanComparison fine() {
        oracle::PlanQuestion rooted = question_;
        if (verdict_.acceptable()) {
            if (verdict_.root) rooted.root = number(*verdict_.root);
            if (verdict_.root && oracle::opinion_on(plan_, rooted).kind != Opinion::Kind::Fine) {
                differ(fmt::format("takes {} for the root", *verdict_.root));
            }
            if (oracle::some_race(plan_, rooted)) differ("accepts a live race");
            return result("valid");
        }
        if (primary_ != "race") differ("refuses what every interleaving ends right");
        return result("harmless race");
    }

    const plan::MscclPlan& plan_;
    const oracle::PlanQuestion& question_;
    plan::PlanVerdict verdict_;
    Opinion opinion_{};
    std::string primary_{};
    std::string difference_{};
};

}  // namespace

PlanComparison compare(const plan::MscclPlan& plan, const oracle::PlanQuestion& question,
                       std::uint64_t max_states) {
    return Judge(plan, question, max_states).compare();
}

}  // namespace tutti::test

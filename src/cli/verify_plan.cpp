#include "cli/heartbeat.hpp"
#include "cli/ordered_pool.hpp"
#include "cli/plan_network.hpp"
#include "cli/plan_report.hpp"
#include "cli/verify.hpp"
#include "core/error.hpp"
#include "io/json_text.hpp"
#include "text/table.hpp"

#include <algorithm>

namespace tutti::cli {
namespace {

/// The plans of one call. Where each has a group of its own and there is a topology, they are parts of one
/// job that run at once and are timed together; otherwise each is on its own.
class PlanRun {
  public:
    PlanRun(const std::vector<std::string>& files, const VerifyOptions& options, const Process& process)
        : files_(files),
          options_(options),
          process_(process),
          network_(network_of(options.plan)),
          judge_(reading_of(options), PlanJudge::Strangers::Malformed, network_.has_value()),
          together_(network_ && options.plan.groups.size() > 1),
          judged_(files.size()) {
        const std::size_t groups = options.plan.groups.size();
        if (groups > 1 && groups != files.size()) {
            throw InputError(fmt::format("expected one --group, or one for each of the {} plans; found {}",
                                         files.size(), groups));
        }
    }

    ExitCode run() {
        bool complete = false;
        try {
            judge_all();
            if (delivered_ == files_.size() && together_) print_together();
            complete = delivered_ == files_.size();
        } catch (const LimitError&) {
            // Stopped while something was being timed.
        }
        if (complete) return worst_;
        process_.streams.err << (delivered_ < files_.size()
                                     ? fmt::format("error: interrupted before {} was judged\n",
                                                   files_[delivered_])
                                     : "error: interrupted before the plans were timed together\n");
        return ExitCode::Interrupted;
    }

  private:
    void judge_all() {
        Streams watched = process_.streams;
        watched.terminal_err = watched.terminal_err && !options_.quiet;
        const Heartbeat heartbeat(watched);
        run_ordered({.count = files_.size(),
                     .threads = threads_of(options_),
                     .work = [&](std::size_t i) { work(i); },
                     .deliver = [&](std::size_t i) { deliver(i); },
                     .stop = process_.interrupted});
    }

    void work(std::size_t i) {
        JudgedPlan judged = judge_.judge(files_[i]);
        const bool fine = judged.plan && judged.verdict.acceptable();
        if (fine && !together_) time_plan(judged, *network_, group_of(i), stop());
        if (!together_) judged.plan.reset();
        judged_[i] = std::move(judged);
    }

    void deliver(std::size_t i) {
        JudgedPlan& judged = judged_[i];
        expect_group_fits(judged, group_of(i));
        const ReportView view{group_of(i), together_ || !network_ ? nullptr : &network_->topology,
                              process_.streams.colour_out};
        process_.streams.out << (options_.json ? plan_line(judged, view) : plan_page(judged, view));
        worst_ = std::max(worst_, exit_code_of(judged.verdict));
        if (!judged.not_timed.empty()) worst_ = std::max(worst_, ExitCode::BadInput);
        if (!together_) judged = {};
        ++delivered_;
    }

    void print_together() {
        const auto wrong = std::ranges::find_if(
            judged_, [](const JudgedPlan& judged) { return !judged.plan || !judged.verdict.acceptable(); });
        if (wrong != judged_.end()) {
            if (!options_.quiet)
                process_.streams.err << fmt::format("note: not timed together, as {} is wrong\n",
                                                    wrong->file);
            return;
        }
        const Topology& topology = network_->topology;
        const PlanCost cost = time_together(judged_, *network_, options_.plan.groups, stop());
        if (options_.json) {
            io::Json json{{"files", files_}, {"verdict", nullptr}};
            json.update(json_of(cost, topology));
            process_.streams.out << io::json_line(json) << '\n';
        } else {
            process_.streams.out << toned(Tone::Strong, "TOGETHER", process_.streams.colour_out) << '\n'
                                 << text::fact_sheet(facts_of(cost, topology), 2);
        }
    }

    /// Empty where none was given.
    [[nodiscard]] std::span<const std::int32_t> group_of(std::size_t file) const {
        const auto& groups = options_.plan.groups;
        if (groups.empty()) return {};
        return groups[groups.size() == 1 ? 0 : file];
    }
    static void expect_group_fits(const JudgedPlan& judged, std::span<const std::int32_t> group) {
        const auto ranks = static_cast<std::size_t>(judged.verdict.ranks);
        if (group.empty() || ranks == 0 || ranks == group.size()) return;
        throw InputError(
            fmt::format("the plan is for {} ranks, and --group names {} NPUs", ranks, group.size()), {},
            judged.file);
    }
    [[nodiscard]] Stop stop() const { return Stop(std::nullopt, process_.interrupted); }

    const std::vector<std::string>& files_;
    const VerifyOptions& options_;
    const Process& process_;
    std::optional<PlanNetwork> network_;
    PlanJudge judge_;
    bool together_;
    std::size_t delivered_ = 0;
    std::vector<JudgedPlan> judged_;
    ExitCode worst_ = ExitCode::Done;
};

}  // namespace

ExitCode verify_plans(const VerifyFiles& files, const VerifyOptions& options, const Process& process) {
    return PlanRun(files.plans, options, process).run();
}

}  // namespace tutti::cli

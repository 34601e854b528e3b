#include "app/batch.hpp"
#include "cli/plan_comparison_text.hpp"
#include "cli/plan_report.hpp"
#include "cli/terminal.hpp"
#include "cli/verify.hpp"
#include "text/escape.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace tutti::cli {
namespace {

/// The text as a table cell: shortened, on one line.
std::string cell(const std::string& text) {
    constexpr std::size_t kWidest = 100;
    std::string line = text::printable(text.substr(0, text.find('\n')));
    if (text::width_of(line) <= kWidest) return line;
    std::size_t bytes = 0, width = 0;
    for (; bytes < line.size() && width < kWidest - 3; ++bytes) {
        if ((static_cast<unsigned char>(line[bytes]) & 0xC0U) != 0x80U) ++width;
    }
    while (bytes > 0 && (static_cast<unsigned char>(line[bytes]) & 0xC0U) == 0x80U) --bytes;
    return line.substr(0, bytes) + "...";
}

class FolderReport {
  public:
    /// `timed`: whether plans have a cost, which is then part of the table.
    FolderReport(const Talk& talk, const Streams& streams, const Topology* topology, bool timed)
        : talk_(talk), streams_(streams), topology_(topology), timed_(timed), table_(columns(timed)) {}

    void add(const app::JudgedPlan& judged) {
        tally_.add(judged);
        if (talk_.json) {
            streams_.out << plan_line(judged, {.topology = topology_});
        } else if (judged.skipped.empty()) {
            add_row(judged);
        } else {
            ++words_[judged.skipped];
        }
    }

    void print(std::size_t files, std::size_t delivered, double seconds) const {
        if (talk_.json) return;
        if (table_.rows() > 0) streams_.out.print("{}\n", table_.text());
        if (on_first_npus_ > 0) {
            streams_.out.print(
                "note: the topology has {} NPUs; {} with fewer ranks {} timed on the first ones\n",
                topology_->npus(), text::count_text(on_first_npus_, "plan"),
                on_first_npus_ == 1 ? "is" : "are");
        }
        streams_.out.print("{}, {} s\n", tally_.text(), text::seconds_text(seconds));
        std::vector<std::string> skipped;
        for (const auto& [word, count] : words_) skipped.push_back(fmt::format("{} x {}", count, word));
        if (!skipped.empty())
            streams_.out.print("skipped: {}\n", fmt::format("{}", fmt::join(skipped, ", ")));
        if (delivered < files)
            streams_.out.print("interrupted: {} of {} files were looked at\n", delivered, files);
    }

    [[nodiscard]] const PlanTally& tally() const { return tally_; }

  private:
    static std::vector<text::Table::Column> columns(bool timed) {
        using text::Align;
        std::vector<text::Table::Column> columns{{"file"},
                                                 {"format"},
                                                 {"collective"},
                                                 {"ranks", text::Align::Right},
                                                 {"steps", text::Align::Right},
                                                 {"verdict"}};
        if (timed) {
            columns.push_back({"makespan", text::Align::Right});
            columns.push_back({"gap", text::Align::Right});
        }
        columns.push_back({"reason"});
        return columns;
    }

    void add_row(const app::JudgedPlan& judged) {
        const plan::PlanVerdict& verdict = judged.verdict;
        const bool read = verdict.ranks > 0;
        std::vector<std::string> cells{judged.file,
                                       verdict.format.empty() ? "-" : verdict.format,
                                       verdict.collective.empty() ? "-" : verdict.collective,
                                       read ? std::to_string(verdict.ranks) : "-",
                                       read ? std::to_string(verdict.steps) : "-",
                                       std::string(name_of(verdict.verdict))};
        if (timed_) {
            const auto& cost = judged.cost;
            if (cost && static_cast<std::size_t>(verdict.ranks) < topology_->npus()) ++on_first_npus_;
            cells.push_back(cost ? std::to_string(cost->timing.makespan.count()) : "-");
            cells.push_back(text::gap_text(cost ? cost->gap : std::nullopt));
        }
        cells.push_back(
            cell(judged.not_timed.empty() ? reason_of(judged) : "not timed: " + judged.not_timed));
        table_.add(cells);
    }

    const Talk talk_;
    const Streams& streams_;
    const Topology* topology_;
    const bool timed_;
    text::Table table_;
    PlanTally tally_;
    std::map<std::string, std::size_t> words_;
    std::uint64_t on_first_npus_ = 0;  ///< plans of fewer ranks than there are NPUs
};

batch::ProgressView view_of(const Talk& talk, const Streams& streams) {
    batch::ProgressView view;
    const bool shown = streams.terminal_err && !talk.quiet;
    view.kind = shown ? batch::ProgressView::Kind::Bar : batch::ProgressView::Kind::Silent;
    view.out = &streams.err;
    view.columns = terminal_columns;
    view.silent_for = std::chrono::seconds(2);
    return view;
}

}  // namespace

ExitCode verify_folders(const app::FilesToJudge& files, const app::JudgeOptions& options,
                        const std::optional<app::PlanNetwork>& network, const Talk& talk,
                        const Process& process) {
    const auto begin = std::chrono::steady_clock::now();
    const bool compares = network && !network->sizes.empty();
    FolderReport report(talk, process.streams, network ? &network->topology : nullptr, network && !compares);
    app::JudgedPlans plans;
    {
        std::optional<batch::Progress> progress;
        app::PlanListener listener;
        listener.begin = [&](std::size_t count) { progress.emplace(view_of(talk, process.streams), count); };
        listener.judged = [&](const app::JudgedPlan& judged) {
            report.add(judged);
            progress->done(!judged.verdict.acceptable());
        };
        listener.idle = [&] { progress->tick(); };
        plans = app::judge_folders(files, options, network, {.interrupted = process.interrupted}, listener);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    report.print(plans.files, plans.judged, seconds.count());
    if (!plans.complete) return ExitCode::Interrupted;
    if (compares && talk.json) process.streams.out << comparison_line(plans, *network);
    if (compares && !talk.json) process.streams.out.print("\n{}", comparison_page(plans, *network));
    return report.tally().wrong() > 0 ? ExitCode::Failed : ExitCode::Done;
}

}  // namespace tutti::cli

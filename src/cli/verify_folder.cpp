#include "batch/progress.hpp"
#include "cli/ordered_pool.hpp"
#include "cli/plan_network.hpp"
#include "cli/plan_report.hpp"
#include "cli/terminal.hpp"
#include "cli/verify.hpp"
#include "core/error.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

/// The files below a folder that may be plans, sorted. Folders that may not be read are passed over; links to
/// folders are not followed, so that there is no circle.
std::vector<std::string> candidates_below(const std::string& folder) {
    constexpr std::array<std::string_view, 3> kSuffixes{".xml", ".json", ".csv"};
    std::vector<std::string> files;
    std::error_code error;
    fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error);
    if (error) throw InputError("the folder cannot be read: " + error.message(), {}, folder);
    for (; entries != fs::recursive_directory_iterator(); entries.increment(error)) {
        if (error) break;
        std::error_code unknown;
        const std::string suffix = entries->path().extension().string();
        if (std::ranges::find(kSuffixes, suffix) != kSuffixes.end() && entries->is_regular_file(unknown))
            files.push_back(entries->path().string());
    }
    std::ranges::sort(files);
    return files;
}

std::vector<std::string> all_candidates(const VerifyFiles& files) {
    std::vector<std::string> all = files.plans;
    for (const std::string& folder : files.folders) {
        const auto found = candidates_below(folder);
        all.insert(all.end(), found.begin(), found.end());
    }
    // A folder inside another that was named too.
    std::vector<std::string> once;
    std::ranges::sort(all);
    std::ranges::unique_copy(all, std::back_inserter(once));
    return once;
}

/// A table's cell must not be wider than a person's screen, nor have lines.
std::string cell(const std::string& text) {
    constexpr std::size_t kWidest = 100;
    std::string line = text.substr(0, text.find('\n'));
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
    FolderReport(const VerifyOptions& options, const Streams& streams, const Topology* topology)
        : options_(options), streams_(streams), topology_(topology), table_(columns(topology != nullptr)) {}

    void add(const JudgedPlan& judged) {
        tally_.add(judged);
        if (options_.json) {
            streams_.out << plan_line(judged, {.topology = topology_});
        } else if (judged.skipped.empty()) {
            add_row(judged);
        } else {
            ++words_[judged.skipped];
        }
    }

    void print(std::size_t files, std::size_t delivered, double seconds) const {
        if (options_.json) return;
        if (table_.rows() > 0) streams_.out << table_.text() << '\n';
        streams_.out << fmt::format("{}, {} s\n", tally_.text(), text::seconds_text(seconds));
        std::vector<std::string> skipped;
        for (const auto& [word, count] : words_) skipped.push_back(fmt::format("{} x {}", count, word));
        if (!skipped.empty()) streams_.out << fmt::format("skipped: {}\n", fmt::join(skipped, ", "));
        if (delivered < files)
            streams_.out << fmt::format("interrupted: {} of {} files were looked at\n", delivered, files);
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

    void add_row(const JudgedPlan& judged) {
        const plan::PlanVerdict& verdict = judged.verdict;
        const bool read = verdict.ranks > 0;
        std::vector<std::string> cells{judged.file,
                                       verdict.format.empty() ? "-" : verdict.format,
                                       verdict.collective.empty() ? "-" : verdict.collective,
                                       read ? std::to_string(verdict.ranks) : "-",
                                       read ? std::to_string(verdict.steps) : "-",
                                       std::string(name_of(verdict.verdict))};
        if (topology_ != nullptr) {
            const auto& cost = judged.cost;
            cells.push_back(cost ? std::to_string(cost->timing.makespan.count()) : "-");
            cells.push_back(text::gap_text(cost ? cost->gap : std::nullopt));
        }
        cells.push_back(
            cell(judged.not_timed.empty() ? reason_of(judged) : "not timed: " + judged.not_timed));
        table_.add(std::move(cells));
    }

    const VerifyOptions& options_;
    const Streams& streams_;
    const Topology* topology_;
    text::Table table_;
    PlanTally tally_;
    std::map<std::string, std::size_t> words_;
};

batch::ProgressView view_of(const VerifyOptions& options, const Streams& streams) {
    batch::ProgressView view;
    const bool shown = streams.terminal_err && !options.quiet;
    view.kind = shown ? batch::ProgressView::Kind::Bar : batch::ProgressView::Kind::Silent;
    view.out = &streams.err;
    view.columns = terminal_columns;
    view.silent_for = std::chrono::seconds(2);
    return view;
}

ExitCode code_of(const PlanTally& tally, bool complete) {
    if (!complete) return ExitCode::Interrupted;
    return tally.wrong() > 0 ? ExitCode::Failed : ExitCode::Done;
}

}  // namespace

ExitCode verify_folders(const VerifyFiles& files, const VerifyOptions& options, const Process& process) {
    if (!options.plan.groups.empty())
        throw InputError("--group belongs to the ranks of one plan; expected files, found a folder");
    const auto begin = std::chrono::steady_clock::now();
    const std::optional<PlanNetwork> network = network_of(options.plan);
    const PlanJudge judge(reading_of(options), PlanJudge::Strangers::Skipped, network.has_value());
    const std::vector<std::string> paths = all_candidates(files);
    std::vector<JudgedPlan> judged(paths.size());
    const auto work = [&](std::size_t i) {
        JudgedPlan one = judge.judge(paths[i]);
        if (one.plan && one.verdict.acceptable())
            time_plan(one, *network, {}, Stop(std::nullopt, process.interrupted));
        one.plan.reset();
        judged[i] = std::move(one);
    };
    FolderReport report(options, process.streams, network ? &network->topology : nullptr);
    std::size_t delivered = 0;
    try {
        batch::Progress progress(view_of(options, process.streams), paths.size());
        const auto deliver = [&](std::size_t i) {
            report.add(judged[i]);
            progress.done(!judged[i].verdict.acceptable());
            judged[i] = {};
            ++delivered;
        };
        run_ordered({.count = paths.size(),
                     .threads = threads_of(options),
                     .work = work,
                     .deliver = deliver,
                     .idle = [&] { progress.tick(); },
                     .stop = process.interrupted});
    } catch (const LimitError&) {
        // Stopped while something was being timed.
    }
    const bool complete = delivered == paths.size();
    if (complete && report.tally().judged() == 0) {
        throw InputError(fmt::format("no plan was found there ({} skipped)", report.tally().skipped()), {},
                         fmt::format("{}", fmt::join(files.folders, ", ")));
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    report.print(paths.size(), delivered, seconds.count());
    return code_of(report.tally(), complete);
}

}  // namespace tutti::cli

#include "report/report.hpp"

#include "io/found_results.hpp"
#include "io/instance_json.hpp"
#include "report/page_file.hpp"
#include "report/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tutti::report {
namespace {

namespace fs = std::filesystem;

/// Above these a view is left to `tutti view`: a report has many, and is made at the end of every run.
constexpr std::uint64_t kMostSendsRead = 5'000'000;
constexpr std::size_t kMostLinks = 20'000;
constexpr std::uint64_t kLeastSends = 100;
/// Of all views together: some 30 bytes of the page each.
constexpr std::size_t kMostLinksInAll = 500'000;

/// How many sends a view may show, so that all together are at most as many as the options allow: small
/// schedules are shown whole before large ones get more.
std::uint64_t sends_of_a_view(const std::vector<io::ResultLine>& lines, const ReportOptions& options) {
    std::vector<std::uint64_t> wanted;
    for (const io::ResultLine& line : lines) {
        if (!line.schedule.empty()) wanted.push_back(line.sends);
    }
    std::ranges::sort(wanted);
    std::uint64_t left = options.most_sends;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::uint64_t each = left / (wanted.size() - i);
        if (wanted[i] > each)
            return std::clamp(each, kLeastSends, std::max(kLeastSends, options.most_sends_of_a_view));
        left -= wanted[i];
    }
    return options.most_sends_of_a_view;
}

class Maker {
  public:
    Maker(const ReportOptions& options, std::uint64_t sends_each)
        : options_(options), sends_each_(sends_each) {}

    io::Json row(const io::ResultLine& line) {
        io::Json row = io::result_json(line);
        row["view"] = nullptr;
        const std::string why = add_view(line);
        if (why.empty()) {
            row["view"] = views.size() - 1;
        } else {
            row["why_no_view"] = why;
        }
        return row;
    }

    io::Json views = io::Json::array();

  private:
    /// Why not; empty if it did.
    std::string add_view(const io::ResultLine& line) {
        if (line.schedule.empty()) return line.error.empty() ? "There is no schedule." : line.error;
        if (line.sends > kMostSendsRead) {
            return fmt::format("It has {} sends, too many for a page of many; tutti view shows it alone.",
                               grouped_digits(line.sends));
        }
        if (line.links > kMostLinks) {
            return fmt::format(
                "Its network has {} links, too many for a page of many; tutti view shows it alone.",
                grouped_digits(line.links));
        }
        if (links_ + line.links > kMostLinksInAll)
            return "The page is full: the networks before have too many links; tutti view shows it alone.";
        if (options_.stop.requested()) return "The report was to be done before its turn came.";
        try {
            return try_to_add(line);
        } catch (const std::bad_alloc&) {
            return "It takes too much memory.";
        } catch (const std::exception& error) {
            return error.what();
        }
    }

    std::string try_to_add(const io::ResultLine& line) {
        const std::string& file = line.schedule;
        std::error_code ignored;
        if (!fs::exists(file, ignored)) return fmt::format("Its schedule {} is not there.", file);
        const Instance instance = options_.instance ? options_.instance(line) : io::read_instance(line.file);
        ViewOptions options;
        options.most_sends = sends_each_;
        options.most_sends_read = kMostSendsRead;
        options.most_links = kMostLinks;
        options.key = line.key;
        options.claim = claim_of(line);
        options.bounds = options_.bounds;
        JudgedView judged = judged_view(instance, file, options, options_.stop);
        if (!judged.verdict.valid()) {
            return fmt::format("Its schedule {} is not valid for {}: {}", file, line.file,
                               judged.verdict.violations.front().message);
        }
        if (line.makespan && *line.makespan != judged.verdict.makespan) {
            return fmt::format("Its schedule {} takes {} ticks and not {}: one of them is of another run.",
                               file, judged.verdict.makespan.count(), line.makespan->count());
        }
        links_ += line.links;
        views.push_back(std::move(judged.view));
        return {};
    }

    const ReportOptions& options_;
    std::uint64_t sends_each_;
    std::size_t links_ = 0;
};

/// "results/all" is called all, and so is "results/all/".
std::string title_of(const std::string& folder) {
    fs::path path = fs::absolute(folder).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    return path.filename().string();
}

}  // namespace

Report write_report(const std::string& folder, const std::string& path, const ReportOptions& options) {
    const auto lines = io::find_results(folder).lines;
    Maker maker(options, sends_of_a_view(lines, options));
    io::Json rows = io::Json::array();
    for (const io::ResultLine& line : lines) rows.push_back(maker.row(line));
    Report report;
    report.path = path.empty() ? (fs::path(folder) / "report.html").string() : path;
    report.rows = rows.size();
    report.views = maker.views.size();
    report.schedules = static_cast<std::size_t>(
        std::ranges::count_if(lines, [](const io::ResultLine& line) { return !line.schedule.empty(); }));
    for (const io::Json& row : rows) {
        if (report.obstacle.empty() && row.contains("why_no_view") && !row.at("schedule").is_null())
            report.obstacle = row.at("why_no_view").get<std::string>();
    }
    report.bytes =
        write_page(report.path, page_data(title_of(folder), std::move(rows), std::move(maker.views)));
    return report;
}

}  // namespace tutti::report

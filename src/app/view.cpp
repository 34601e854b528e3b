#include "app/view.hpp"

#include "app/bug.hpp"
#include "app/file_kind.hpp"
#include "app/output_check.hpp"
#include "app/page_bounds.hpp"
#include "batch/result_line.hpp"
#include "batch/variant_instance.hpp"
#include "io/found_results.hpp"
#include "io/instance_json.hpp"
#include "io/verdict_json.hpp"
#include "report/judged_view.hpp"
#include "report/page_file.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

/// The default page: in the current folder, named after the schedule.
std::string page_of(const ViewOptions& options, const std::string& schedule) {
    if (!options.output.empty()) return options.output;
    std::string name = schedule == "-" ? "schedule" : fs::path(schedule).filename().string();
    for (const std::string_view suffix : {".schedule.json", ".json", ".tsch"}) {
        if (!name.ends_with(suffix) || name.size() == suffix.size()) continue;
        name.resize(name.size() - suffix.size());
        break;
    }
    return name + ".html";
}

View view_results(const std::string& folder, const ViewOptions& options, const Watch& watch) {
    report::ReportOptions page;
    page.stop = watch.stop();
    page.bounds = page_bounds;
    if (options.sends) page.most_sends_of_a_view = page.most_sends = *options.sends;
    page.instance = [](const io::ResultLine& line) { return batch::instance_of(batch::task_of(line)); };
    const report::Report made = report::write_report(folder, options.output, page);
    View view{.page = made.path, .bytes = made.bytes};
    view.words = fmt::format("{} results, {} of {} schedules", made.rows, made.views, made.schedules);
    if (!made.obstacle.empty())
        view.note = fmt::format("{} not shown, such as: {}", made.schedules - made.views, made.obstacle);
    view.facts = {{"folder", folder},     {"page", made.path},           {"bytes", made.bytes},
                  {"results", made.rows}, {"schedules", made.schedules}, {"views", made.views}};
    return view;
}

/// An instance, one schedule of it, and its result line, if there is one.
struct ViewedFiles {
    std::string instance{}, schedule{};
    std::optional<io::ResultLine> line{};  ///< of the run, which may have varied the instance
    std::optional<report::BoundClaim> claim{};
};

/// The instance of a schedule given alone is looked up in the results folder that contains it.
ViewedFiles files_of(const ViewOptions& options) {
    if (options.instance) return {*options.instance, options.files.front(), {}, {}};
    if (options.files.size() == 2) {
        const ScheduleFiles files = instance_and_schedules(options.files);
        return {files.instance, files.schedules.front(), {}, {}};
    }
    const std::string& file = options.files.front();
    if (!fs::exists(file)) throw InputError("there is no such file or folder", {}, file);
    const auto line = io::line_about(file);
    if (!line || line->file.empty()) {
        throw InputError("expected a schedule and its instance (--instance FILE), or a folder with results",
                         {}, file);
    }
    return {line->file, file, line, report::claim_of(*line)};
}

void refuse_to_replace(const std::string& page, const std::string& input) {
    std::error_code ignored;
    if (fs::equivalent(page, input, ignored)) {
        throw InputError("the page would replace this file (choose another --output)", {}, input);
    }
}

View view_schedule(const ViewOptions& options, const Watch& watch) {
    const ViewedFiles files = files_of(options);
    const Instance instance = files.line ? batch::instance_of(batch::task_of(*files.line))
                                         : io::read_instance(files.instance, {}, watch.stop());
    View view{.page = page_of(options, files.schedule), .schedule = files.schedule};
    for (const std::string& input : {files.instance, files.schedule}) refuse_to_replace(view.page, input);
    check_output(view.page, files.instance);
    report::ViewOptions shown;
    shown.most_sends = options.sends.value_or(shown.most_sends);
    shown.claim = files.claim;
    shown.bounds = page_bounds;
    const report::JudgedView judged = with_instance(
        instance, [&] { return report::judged_view(instance, files.schedule, shown, watch.stop()); });
    view.verdict = judged.verdict;
    if (!judged.verdict.valid()) {
        view.facts = io::verdict_json(files.schedule, judged.verdict, std::nullopt);
        return view;
    }
    view.bytes = report::write_page(
        view.page, report::page_data(instance.name(), io::Json::array(), io::Json::array({judged.view})));
    const io::Json& sends = judged.view.at("sends");
    view.words = sends.at("note").is_null() ? fmt::format("{} sends", judged.verdict.sends)
                                            : sends.at("note").get<std::string>();
    view.facts = {{"file", files.schedule},
                  {"instance", instance.name()},
                  {"verdict", "valid"},
                  {"makespan", judged.verdict.makespan.count()},
                  {"lower_bound", judged.view.at("lower_bound")},
                  {"bound_kind", judged.view.at("bound_kind")},
                  {"sends", judged.verdict.sends},
                  {"shown", sends.at("shown")},
                  {"page", view.page},
                  {"bytes", view.bytes}};
    return view;
}

}  // namespace

View view(const ViewOptions& options, const Watch& watch) {
    std::error_code ignored;
    if (options.files.size() == 1 && fs::is_directory(options.files.front(), ignored))
        return view_results(options.files.front(), options, watch);
    return view_schedule(options, watch);
}

}  // namespace tutti::app

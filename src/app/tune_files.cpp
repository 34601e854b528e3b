#include "app/tune_files.hpp"

#include "app/bug.hpp"
#include "app/page_bounds.hpp"
#include "core/outcome.hpp"
#include "io/instance_json.hpp"
#include "io/schedule_json.hpp"
#include "report/judged_view.hpp"
#include "report/page_file.hpp"
#include "report/timeline_file.hpp"

#include <fmt/format.h>

#include <system_error>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

void write_page_of(const Instance& instance, const fs::path& schedule, const fs::path& page,
                   const Stop& stop) {
    report::ViewOptions options;
    options.bounds = page_bounds;
    const report::JudgedView judged = with_instance(
        instance, [&] { return report::judged_view(instance, schedule.string(), options, stop); });
    if (!judged.verdict.valid())
        throw InternalError("the schedule of a call does not stand its check: " + schedule.string());
    report::write_page(page.string(),
                       report::page_data(instance.name(), io::Json::array(), io::Json::array({judged.view})));
}

}  // namespace

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw OutputError("the folder cannot be made: " + error.message(), {}, folder.string());
}

void write_calls(const fs::path& folder, const std::string& link, tune::CallSchedules& calls,
                 std::vector<TunedCall>& list, const Stop& stop) {
    for (std::size_t number = 0; number < list.size(); ++number) {
        const tune::CallSchedule& made = calls.of(list[number].call);
        if (made.instance == nullptr) continue;
        make_folder(folder);
        const std::string name = fmt::format("{}-{}", number + 1, name_of(list[number].call.op));
        io::save_instance((folder / (name + ".json")).string(), *made.instance);
        io::write_schedule_json((folder / (name + ".schedule.json")).string(), made.schedule);
        list[number].instance = link + "/" + name + ".json";
        list[number].schedule = link + "/" + name + ".schedule.json";
        try {
            write_page_of(*made.instance, folder / (name + ".schedule.json"), folder / (name + ".html"),
                          stop);
            list[number].page = link + "/" + name + ".html";
        } catch (const InputError&) {  // too large to be shown: the schedule is there all the same
        } catch (const LimitError&) {
        }
    }
}

std::uint64_t write_timeline_page(const std::string& page, const TuneAnswer& answer) {
    const tune::Tuned& best = answer.result.schedules.front();
    io::Json bars = io::Json::array();
    for (const tune::Bar& bar : best.prediction.bars) {
        bars.push_back({{"kernel", bar.kernel},
                        {"computes", bar.computes},
                        {"communicates", bar.communicates},
                        {"start_us", bar.start_us},
                        {"end_us", bar.end_us},
                        {"piece", bar.piece},
                        {"calls", bar.calls}});
    }
    io::Json collectives = io::Json::array();
    for (const TunedCall& one : answer.collectives) {
        const std::optional<double> gap = tutti::gap(one.makespan, one.lower_bound);
        collectives.push_back({{"words", one.words},
                               {"bytes", one.call.bytes},
                               {"chunks", one.chunks},
                               {"makespan", one.makespan.count()},
                               {"lower_bound", one.lower_bound.count()},
                               {"gap", gap ? io::Json(*gap) : io::Json(nullptr)},
                               {"method", one.method},
                               {"page", one.page}});
    }
    io::Json schedules = io::Json::array();
    for (std::size_t i = 0; i < answer.result.schedules.size(); ++i) {
        const tune::Prediction& prediction = answer.result.schedules[i].prediction;
        schedules.push_back({{"predicted_us", prediction.us},
                             {"state_bytes", prediction.state_bytes},
                             {"kernels", prediction.kernels},
                             {"steps", answer.steps[i]}});
    }
    return report::write_timeline(page, {{"program", answer.program},
                                         {"device", answer.device},
                                         {"ranks", answer.ranks},
                                         {"predicted_us", best.prediction.us},
                                         {"unscheduled_us", answer.result.unscheduled.us},
                                         {"state_bytes", best.prediction.state_bytes},
                                         {"wire_bytes", best.prediction.wire_bytes},
                                         {"kernels", best.prediction.kernels},
                                         {"steps", answer.steps.front()},
                                         {"bars", std::move(bars)},
                                         {"collectives", std::move(collectives)},
                                         {"schedules", std::move(schedules)}});
}

}  // namespace tutti::app

#include "app/schedule_output.hpp"

#include "core/stoppable_source.hpp"
#include "io/schedule_json.hpp"
#include "io/symmetric_json.hpp"
#include "io/tee_source.hpp"
#include "synth/judge.hpp"

#include <fmt/format.h>

namespace tutti::app {

std::string instance_beside(std::string_view schedule) {
    for (const std::string_view suffix :
         {std::string_view(".schedule.json"), std::string_view(".json"), io::kStreamSuffix}) {
        if (schedule.ends_with(suffix)) {
            schedule.remove_suffix(suffix.size());
            break;
        }
    }
    return fmt::format("{}.instance.json", schedule);
}

ScheduleOutput::Target ScheduleOutput::target(std::uint64_t sends) const {
    using enum ScheduleFormat;
    if (!options_.path.empty()) {
        return {options_.path,
                options_.format.value_or(options_.path.ends_with(io::kStreamSuffix) ? Stream : Json)};
    }
    const auto format = options_.format.value_or(sends > kMostSendsAsText ? Stream : Json);
    return {fmt::format("{}{}", options_.stem, format == Stream ? io::kStreamSuffix : ".schedule.json"),
            format};
}

io::StreamHeader ScheduleOutput::header() const {
    return {instance_.name(), instance_.chunks(), instance_.topology().links().size()};
}

std::unique_ptr<SendSource> ScheduleOutput::tap(SendSource& sends) {
    const auto [path, format] = target(synth::kMostSendsHeld);
    if (format == ScheduleFormat::Json) {
        throw InputError(
            fmt::format("this schedule has more than {} sends, too many for JSON; let the file end in {}",
                        synth::kMostSendsHeld, io::kStreamSuffix),
            {}, path);
    }
    passing_ = std::make_unique<io::StreamWriter>(path, header());
    return std::make_unique<io::TeeSource>(sends, *passing_);
}

std::string ScheduleOutput::write(const synth::Result& result, const Stop& stop) {
    const auto [path, format] = target(result.symmetric && !options_.expand ? 0 : result.sends);
    if (passing_) {
        passing_->finish(result.schedule.makespan);
    } else if (!result.symmetric) {
        if (format == ScheduleFormat::Json) {
            io::write_schedule_json(path, result.schedule);
        } else {
            io::write_schedule_stream(path, result.schedule, instance_.chunks(),
                                      instance_.topology().links().size());
        }
    } else if (!options_.expand) {
        io::write_symmetric_json(path, *result.symmetric);
    } else if (format == ScheduleFormat::Json) {
        io::write_schedule_json(path, expanded(instance_, *result.symmetric));
    } else {
        symmetry::SymmetricSource all(instance_, *result.symmetric);
        StoppableSource until(all, stop);
        io::StreamWriter writer(path, header());
        io::TeeSource tee(until, writer);
        synth::judge(instance_, tee, result.bound, result.method + ", written out,");
        writer.finish(result.schedule.makespan);
    }
    return path;
}

}  // namespace tutti::app

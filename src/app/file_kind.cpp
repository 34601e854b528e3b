#include "app/file_kind.hpp"

#include "app/plan_kinds.hpp"
#include "core/error.hpp"
#include "io/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

namespace tutti::app {
namespace {

/// The words with which the lines of a tensor schedule's text begin (io/tensor_schedule_text.hpp).
bool is_tensor_step(const std::string& line) {
    constexpr std::array<std::string_view, 8> kSteps{"program",  "split", "reorder",  "distribute",
                                                     "as_slice", "fuse",  "coalesce", "overlap"};
    return std::ranges::find(kSteps, line.substr(0, line.find(' '))) != kSteps.end();
}

bool is_folder(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
}

[[noreturn]] void refuse_alone(const std::string& file, FileKind kind) {
    if (kind == FileKind::TensorSchedule)
        throw InputError("this is a schedule of a tensor program; expected the program too", {}, file);
    throw InputError(kind == FileKind::Instance
                         ? "this is an instance; expected a schedule of it too"
                         : "this is a schedule of tutti's own; expected its instance too (--instance FILE)",
                     {}, file);
}

}  // namespace

FileKind kind_of(const Sniffed& sniffed) {
    constexpr std::array<std::string_view, 6> kOfSchedules{
        "tutti_schedule", "tutti_symmetric_schedule", "symmetry", "instance", "makespan", "sends"};
    constexpr std::array<std::string_view, 7> kOfInstances{"tutti",  "name",       "about",      "topology",
                                                           "groups", "forwarding", "collectives"};
    if (sniffed.shape == Sniffed::Shape::Stream) return FileKind::Schedule;
    if (sniffed.has_field("tutti_tensor") || sniffed.has_field("mesh")) return FileKind::TensorProgram;
    if (sniffed.has_field("tutti_tensor_schedule")) return FileKind::TensorSchedule;
    if (sniffed.shape == Sniffed::Shape::Text && is_tensor_step(sniffed.line))
        return FileKind::TensorSchedule;
    if (sniffed.shape != Sniffed::Shape::Empty && plan_kind(sniffed) != nullptr) return FileKind::Plan;
    if (sniffed.fields.empty()) return FileKind::Unclear;
    const std::string& field = sniffed.fields.front();
    if (std::ranges::find(kOfSchedules, field) != kOfSchedules.end()) return FileKind::Schedule;
    if (std::ranges::find(kOfInstances, field) != kOfInstances.end()) return FileKind::Instance;
    return FileKind::Unclear;
}

FileKind kind_of_bytes(std::string_view bytes) { return kind_of(sniff(bytes)); }

FileKind kind_of_path(const std::string& path) {
    if (path == "-") return FileKind::Unclear;
    try {
        io::Source source(path);
        return kind_of_bytes(source.peek(io::Source::kBlock));
    } catch (const InputError&) {
        return FileKind::Unclear;
    }
}

ScheduleFiles instance_and_schedules(const std::vector<std::string>& files) {
    std::vector<FileKind> kinds;
    for (const std::string& file : files) kinds.push_back(kind_of_path(file));
    auto instance = std::ranges::find(kinds, FileKind::Instance);
    if (instance == kinds.end()) instance = std::ranges::find(kinds, FileKind::Unclear);
    if (instance == kinds.end()) {
        throw InputError(
            "expected an instance among the files, found only schedules; --instance FILE names one");
    }
    const auto index = instance - kinds.begin();
    ScheduleFiles sorted{files[static_cast<std::size_t>(index)], files};
    sorted.schedules.erase(sorted.schedules.begin() + index);
    const auto second = std::find(instance + 1, kinds.end(), FileKind::Instance);
    if (*instance == FileKind::Instance && second != kinds.end()) {
        throw InputError(fmt::format("expected one instance, found two: {} and {}", sorted.instance,
                                     files[static_cast<std::size_t>(second - kinds.begin())]));
    }
    return sorted;
}

FilesToJudge sorted_files(const JudgeOptions& options) {
    FilesToJudge sorted;
    std::vector<std::string> others;
    for (const std::string& file : options.files) {
        const bool folder = is_folder(file);
        const bool plan = !folder && kind_of_path(file) == FileKind::Plan;
        (folder ? sorted.folders : plan ? sorted.plans : others).push_back(file);
    }
    if (options.instance) {
        if (!others.empty()) sorted.ours = ScheduleFiles{*options.instance, others};
    } else if (others.size() == 1) {
        const FileKind kind = kind_of_path(others[0]);
        if (kind != FileKind::Unclear) refuse_alone(others[0], kind);
        sorted.plans.clear();  // in the order given
        std::ranges::copy_if(options.files, std::back_inserter(sorted.plans),
                             [](const std::string& file) { return !is_folder(file); });
    } else if (!others.empty()) {
        sorted.ours = instance_and_schedules(others);
    }
    if (options.variation.any() && !(sorted.plans.empty() && sorted.folders.empty())) {
        throw InputError(options.variation.chunks
                             ? "--chunks is for an instance and its schedules; a plan has chunks of its own"
                             : "--bytes is the size of a call on a network; expected --topology FILE too");
    }
    return sorted;
}

}  // namespace tutti::app

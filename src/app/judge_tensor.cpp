#include "app/judge_tensor.hpp"

#include "app/scheduled_program.hpp"
#include "app/sniff.hpp"
#include "core/error.hpp"
#include "io/source.hpp"
#include "io/tensor_json.hpp"
#include "rewrite/schedule.hpp"
#include "tensor/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace tutti::app {
namespace {

using tensor::Program;

bool is_program(const std::string& file) {
    std::error_code ignored;
    if (file == "-" || !std::filesystem::is_regular_file(file, ignored)) return false;
    io::Source source(file);
    return sniff(source.peek(io::Source::kBlock)).has_field("tutti_tensor");
}

/// The program that the other file gives, and how many steps lead to it.
class Other {
  public:
    Other(const Program& original, const TensorJudgeOptions& options, const Stop& stop)
        : original_(original) {
        const std::string& file = options.other;
        if (file.empty()) return;
        if (is_program(file)) {
            changed_ = io::read_tensor_program(file, stop);
            return;
        }
        ScheduledProgram made = scheduled_program(original, options.program, file, stop);
        steps_ = std::move(made.schedule.steps);
        changed_ = std::move(made.program);
    }

    [[nodiscard]] const Program& program() const { return changed_ ? *changed_ : original_; }
    [[nodiscard]] std::size_t steps() const { return steps_.size(); }
    /// The first step behind which the program is not equivalent.
    [[nodiscard]] std::optional<std::size_t> wrong_step() const {
        Program program = original_;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            program = rewrite::apply_step(program, steps_[i]);
            if (!verify::equivalence(original_, program).equivalent) return i;
        }
        return std::nullopt;
    }

  private:
    const Program& original_;
    std::optional<Program> changed_{};
    std::vector<tensor::Step> steps_{};
};

/// All choices of one number for each name.
std::vector<std::map<std::string, std::int64_t>> combinations(
    const std::map<std::string, std::vector<std::int64_t>>& sizes) {
    constexpr std::size_t kMost = 256;
    std::vector<std::map<std::string, std::int64_t>> all{{}};
    for (const auto& [name, numbers] : sizes) {
        std::vector<std::map<std::string, std::int64_t>> more;
        for (const auto& one : all) {
            for (const std::int64_t number : numbers) {
                more.push_back(one);
                more.back()[name] = number;
            }
        }
        all = std::move(more);
        if (all.size() > kMost) throw InputError(fmt::format("--sizes: more than {} combinations", kMost));
    }
    return all;
}

std::vector<std::int64_t> axes_of(const Program& program, const std::map<std::string, std::int64_t>& mesh) {
    if (mesh.empty()) return {};
    std::vector<std::int64_t> axes;
    for (const auto& axis : program.mesh().axes()) axes.push_back(axis.size);
    for (const auto& [name, size] : mesh) {
        const auto axis = program.mesh().find(name);
        if (!axis) throw InputError(fmt::format("--mesh: the program has no axis '{}'", name));
        axes[axis->index()] = size;
    }
    return axes;
}

void run_both(const Program& original, const Program& changed, const TensorJudgeOptions& options,
              JudgedTensor& judged, const Stop& stop) {
    if (!options.field && options.sizes.empty() && options.mesh.empty()) return;
    for (const auto& [name, unused] : options.sizes) {
        if (!original.sizes().contains(name))
            throw InputError(fmt::format("--sizes: the program has no size '{}'", name));
    }
    verify::RunOptions run;
    run.axes = axes_of(original, options.mesh);
    for (const auto& sizes : combinations(options.sizes)) {
        run.sizes = sizes;
        for (const bool field : {true, false}) {
            if (stop.requested()) throw LimitError("interrupted before all runs were done");
            judged.runs.push_back({field ? "field" : "f64", field ? field_run(original, changed, run)
                                                                  : real_run(original, changed, run)});
            if (judged.runs.back().report.difference) return;
        }
    }
}

io::Json run_json(const JudgedTensor& judged, const verify::RunReport& report) {
    io::Json json{{"runs", report.runs}, {"not_typed", report.not_typed}, {"difference", nullptr}};
    if (!report.difference) return json;
    const verify::Difference& difference = *report.difference;
    io::Json mesh = io::Json::object();
    for (std::size_t a = 0; a < report.axes.size(); ++a) mesh[judged.axes[a]] = report.axes[a];
    json["difference"] =
        io::Json{{"value", difference.value}, {"state", difference.state},    {"rank", difference.rank},
                 {"index", difference.index}, {"missing", difference.poison}, {"mesh", mesh},
                 {"sizes", report.sizes}};
    return json;
}

}  // namespace

bool JudgedTensor::fine() const {
    return !refused && verdict.equivalent &&
           std::ranges::none_of(runs, [](const JudgedRun& run) { return run.report.difference.has_value(); });
}

std::optional<TensorJudgeOptions> tensor_files(const std::vector<std::string>& files) {
    const auto program = std::ranges::find_if(files, is_program);
    if (program == files.end()) return std::nullopt;
    if (files.size() > 2)
        throw InputError(fmt::format("expected a tensor program and one schedule or program, found {} files",
                                     files.size()));
    TensorJudgeOptions options;
    options.program = *program;
    for (auto file = files.begin(); file != files.end(); ++file) {
        if (file != program) options.other = *file;
    }
    return options;
}

JudgedTensor judge_tensor(const TensorJudgeOptions& options, const Watch& watch) {
    JudgedTensor judged;
    judged.file = options.program;
    judged.other = options.other;
    try {
        const Program original = io::read_tensor_program(options.program, watch.stop());
        const Other other(original, options, watch.stop());
        judged.program = original.name();
        judged.values = other.program().order().size();
        judged.kernels = tensor::Kernels(other.program()).working(other.program());
        judged.steps = other.steps();
        for (const auto& axis : original.mesh().axes()) judged.axes.push_back(axis.name);
        judged.verdict = verify::equivalence(original, other.program());
        if (!judged.verdict.equivalent) {
            judged.step = other.wrong_step();
        } else {
            run_both(original, other.program(), options, judged, watch.stop());
        }
    } catch (const tensor::Refusal& refusal) {
        judged.refused = refusal;
    }
    return judged;
}

std::string sizes_text(const JudgedTensor& judged, const verify::RunReport& report) {
    std::vector<std::string> words;
    for (std::size_t a = 0; a < report.axes.size(); ++a)
        words.push_back(fmt::format("{}={}", judged.axes[a], report.axes[a]));
    for (const auto& [name, size] : report.sizes) words.push_back(fmt::format("{}={}", name, size));
    return fmt::format("{}", fmt::join(words, ", "));
}

io::Json json_of(const JudgedTensor& judged) {
    io::Json json{{"file", judged.file},
                  {"other", judged.other.empty() ? io::Json(nullptr) : io::Json(judged.other)}};
    if (judged.refused) {
        const tensor::Refusal& refusal = *judged.refused;
        json.update(io::Json{{"verdict", "refused"},
                             {"code", refusal.code()},
                             {"value", refusal.value()},
                             {"message", refusal.words()},
                             {"in_file", refusal.file()},
                             {"place", refusal.place()}});
        return json;
    }
    json["verdict"] = judged.fine() ? "equivalent" : "not-equivalent";
    json.update(io::Json{{"program", judged.program},
                         {"values", judged.values},
                         {"kernels", judged.kernels},
                         {"steps", judged.steps},
                         {"violations", io::Json::array()},
                         {"example", nullptr},
                         {"runs", io::Json::array()}});
    if (judged.verdict.parting) {
        const verify::Parting& parting = *judged.verdict.parting;
        json["violations"].push_back({{"code", parting.code},
                                      {"message", parting.words},
                                      {"output", parting.output},
                                      {"subterm", parting.subterm},
                                      {"step", judged.step ? io::Json(*judged.step) : io::Json(nullptr)}});
    }
    if (judged.verdict.example) json["example"] = run_json(judged, *judged.verdict.example);
    for (const JudgedRun& run : judged.runs) {
        io::Json one = run_json(judged, run.report);
        one["numbers"] = run.numbers;
        json["runs"].push_back(std::move(one));
    }
    return json;
}

}  // namespace tutti::app

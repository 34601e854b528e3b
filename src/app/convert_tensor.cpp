#include "app/convert_tensor.hpp"

#include "app/file_kind.hpp"
#include "app/output_check.hpp"
#include "app/scheduled_program.hpp"
#include "core/error.hpp"
#include "emit/cpp_program.hpp"
#include "emit/cuda_program.hpp"
#include "emit/dot.hpp"
#include "emit/torch.hpp"
#include "io/atomic_file.hpp"
#include "io/tensor_json.hpp"
#include "tensor/kernels.hpp"
#include "tensor/refusal.hpp"
#include "verify/tensor/equivalence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tutti::app {
namespace {

struct ProgramFiles {
    std::string program{}, schedule{};
};

/// By their content; what cannot be told takes the role that is left.
ProgramFiles program_and_schedule(const std::vector<std::string>& files) {
    ProgramFiles sorted{files.front(), files.size() > 1 ? files.back() : ""};
    const bool swapped = files.size() > 1 && (kind_of_path(files.front()) == FileKind::TensorSchedule ||
                                              kind_of_path(files.back()) == FileKind::TensorProgram);
    if (swapped) std::swap(sorted.program, sorted.schedule);
    if (kind_of_path(sorted.program) == FileKind::TensorSchedule)
        throw InputError("expected a tensor program, found its schedule", {}, sorted.program);
    if (!sorted.schedule.empty() && kind_of_path(sorted.schedule) == FileKind::TensorProgram)
        throw InputError("expected a schedule, found a second tensor program", {}, sorted.schedule);
    return sorted;
}

tensor::Program by_schedule(const tensor::Program& program, const ProgramFiles& files,
                            TensorConversion& conversion, const Watch& watch) {
    ScheduledProgram made = scheduled_program(program, files.program, files.schedule, watch.stop());
    conversion.steps = made.schedule.steps.size();
    return std::move(made.program);
}

}  // namespace

bool are_tensor_files(const ConvertOptions& options) {
    return std::ranges::any_of(options.files, [](const std::string& file) {
        const FileKind kind = kind_of_path(file);
        return kind == FileKind::TensorProgram || kind == FileKind::TensorSchedule;
    });
}

TensorConversion convert_tensor(const ConvertOptions& options, const Watch& watch) {
    const ProgramFiles files = program_and_schedule(options.files);
    TensorConversion conversion{.program = files.program, .schedule = files.schedule};
    const tensor::Program program =
        at_sizes(io::read_tensor_program(files.program, watch.stop()), options.tensor_sizes);
    check_output(options.output, files.program, "the result", "tensor program");
    const tensor::Program after =
        files.schedule.empty() ? program : by_schedule(program, files, conversion, watch);
    conversion.values = after.order().size();
    conversion.kernels = tensor::Kernels(after).working(after);
    const verify::Equivalence verdict = verify::equivalence(program, after);
    if (!verdict.equivalent) {
        conversion.difference = verdict.parting
                                    ? fmt::format("{}: {}: {}", verdict.parting->output,
                                                  verdict.parting->subterm, verdict.parting->words)
                                    : "no proof was found";
        return conversion;
    }
    if (options.format == ConvertFormat::Dot) {
        io::write_file(options.output, emit::dot(after));
    } else if (options.format == ConvertFormat::Torch) {
        io::write_file(options.output, emit::torch_module(after));
    } else if (options.format == ConvertFormat::Cpp) {
        io::write_file(options.output, emit::cpp_program(after));
    } else if (options.format == ConvertFormat::Cuda) {
        io::write_file(options.output, emit::cuda_program(after));
    } else {
        io::save_tensor_program(options.output, after);
    }
    return conversion;
}

io::Json json_of(const TensorConversion& conversion, const ConvertOptions& options) {
    io::Json json{{"program", conversion.program}};
    if (!conversion.schedule.empty()) json["schedule"] = conversion.schedule;
    json["verdict"] = conversion.difference.empty() ? "equivalent" : "not equivalent";
    json["steps"] = conversion.steps;
    json["values"] = conversion.values;
    json["kernels"] = conversion.kernels;
    if (conversion.difference.empty()) {
        json["output"] = options.output;
    } else {
        json["difference"] = conversion.difference;
    }
    return json;
}

}  // namespace tutti::app

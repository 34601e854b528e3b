#include "app/run_tensor.hpp"

#include <algorithm>
#include <utility>

namespace tutti::app {

bool TensorRun::wrong() const {
    return !refused.empty() || (check && !check->difference.empty()) ||
           std::ranges::any_of(outputs,
                               [](const TensorOutput& output) { return output.difference.has_value(); });
}

io::Json json_of(const TensorRun& run) {
    io::Json kernels = io::Json::array(), outputs = io::Json::array();
    for (const TensorKernel& kernel : run.kernels)
        kernels.push_back(
            {{"name", kernel.name},
             {"values", kernel.values},
             {"begin_seconds", kernel.begin},
             {"seconds", kernel.seconds},
             {"predicted_seconds", kernel.predicted ? io::Json(*kernel.predicted) : io::Json(nullptr)}});
    for (const TensorOutput& output : run.outputs) {
        io::Json line{{"name", output.name}, {"type", output.type}, {"difference", nullptr}};
        if (output.difference) line["difference"] = *output.difference;
        outputs.push_back(std::move(line));
    }
    const char* verdict = !run.refused.empty() ? "not equivalent"
                          : run.wrong()        ? "wrong"
                          : run.compared       ? "right"
                                               : "not compared";
    io::Json check = nullptr;
    if (run.check) check = {{"runs", run.check->runs}, {"difference", run.check->difference}};
    return {{"program", run.program},
            {"ranks", run.ranks},
            {"processes", run.processes},
            {"verdict", verdict},
            {"seconds", run.seconds},
            {"lower_quartile_seconds", run.quartiles[0]},
            {"upper_quartile_seconds", run.quartiles[1]},
            {"calls", run.calls},
            {"predicted_seconds", run.predicted ? io::Json(*run.predicted) : io::Json(nullptr)},
            {"memory_bytes", run.memory},
            {"compiled", run.compiled},
            {"compile_seconds", run.compile_seconds},
            {"kernels", std::move(kernels)},
            {"outputs", std::move(outputs)},
            {"check", std::move(check)}};
}

}  // namespace tutti::app

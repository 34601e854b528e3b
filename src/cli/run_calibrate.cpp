#include "cli/run_calibrate.hpp"

#include "cli/heartbeat.hpp"

#include <fmt/format.h>

namespace tutti::cli {

ExitCode run_calibrate(const app::CalibrateOptions& options, const Talk& talk, const Process& process) {
    const tensor::Device device = [&] {
        Heartbeat heartbeat(process.streams, talk);
        return app::calibrate(options, heartbeat.watch(process));
    }();
    if (talk.quiet) return ExitCode::Done;
    const auto of = [](const tensor::Device::Rates& rates, tensor::DType dtype) {
        return rates[static_cast<std::size_t>(dtype)];
    };
    const auto single = tensor::DType::F32, full = tensor::DType::F64;
    process.streams.err.print(
        "a thread of {}: memory {:.1f} GB/s; matrix products {:.1f} GFLOP/s in f32, {:.1f} in f64; pointwise "
        "{:.1f} and {:.1f}; a kernel {:.2f} us\n",
        device.name, of(device.memory_GBps, single), 1e3 * of(device.matmul_tflops, single),
        1e3 * of(device.matmul_tflops, full), 1e3 * of(device.pointwise_tflops, single),
        1e3 * of(device.pointwise_tflops, full), device.launch_us);
    return ExitCode::Done;
}

}  // namespace tutti::cli

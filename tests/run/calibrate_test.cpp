// A device of this machine.

#include "run/calibrate.hpp"

#include "core/error.hpp"
#include "io/device_json.hpp"
#include "io/json_view.hpp"

#include <doctest/doctest.h>

#include <atomic>

using namespace tutti;
using tensor::DType;

TEST_CASE("a calibrated device has a rate for every type, can be read, and halves are as fast as f32") {
    const tensor::Device device = run::calibrate(1);
    const io::Json json = io::write_device(device);
    CHECK(io::parse_device(io::JsonView(json)).launch_us > 0);
    CHECK(device.cache_MB > 0);
    for (const tensor::Device::Rates* rates :
         {&device.matmul_tflops, &device.pointwise_tflops, &device.function_tflops, &device.exp_tflops,
          &device.memory_GBps, &device.cache_GBps}) {
        for (const double rate : *rates) CHECK(rate > 0);
    }
    const auto memory = [&](DType dtype) { return device.memory_GBps[static_cast<std::size_t>(dtype)]; };
    CHECK(memory(DType::F16) == memory(DType::F32) / 2);
    CHECK(memory(DType::I8) == memory(DType::I64) / 8);
    CHECK(device.matmul_tflops[static_cast<std::size_t>(DType::BF16)] ==
          device.matmul_tflops[static_cast<std::size_t>(DType::F32)]);
}

TEST_CASE("a calibration that is stopped ends") {
    const std::atomic<bool> flag{true};
    CHECK_THROWS_AS((void)run::calibrate(1, Stop(std::nullopt, &flag)), LimitError);
}

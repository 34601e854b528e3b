#include "tune/predict.hpp"

#include "tensor/builder.hpp"
#include "tests/tune/cases.hpp"
#include "tune/kernel_cost.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;

TEST_CASE("a program as it is written takes what the reference cases say") {
    for (const test::TuneCase& one : test::tune_cases()) {
        CAPTURE(one.name);
        tune::CallSchedules calls(one.topology, one.program.mesh(), {}, {});
        const tune::Prediction prediction =
            tune::predict(one.program, one.device, calls, {.bars = true, .joint = false});
        CHECK(prediction.us > 0.85 * one.unscheduled_us);
        CHECK(prediction.us < 1.15 * one.unscheduled_us);
        // Two streams: bars of one do not overlap, and a rank is never idle on both.
        for (const bool network : {false, true}) {
            double end = 0;
            for (const tune::Bar& bar : prediction.bars) {
                if (!(network ? bar.communicates : bar.computes)) continue;
                CHECK(bar.start_us >= end - 1e-6);
                end = bar.end_us;
            }
        }
    }
}

TEST_CASE("what a kernel takes is the slowest of its products, its operations and its traffic") {
    // 1000 x 2000 f32 sliced over 4 ranks: 500 000 elements a rank.
    tensor::Builder b("costs", {{"d", 4}});
    const auto x = b.input("x", {1000, 2000}, tensor::DType::F32, {{"d", tensor::Layout::sliced(0)}});
    const auto y = b.input("y", {2000, 3000}, tensor::DType::F32);
    b.output((x * x).named("square"));
    b.output(b.einsum("ab,bc->ac", {x, y}).named("product"));
    const tensor::Program program = b.program();
    tensor::Device device{.name = "d", .launch_us = 0};
    device.matmul_tflops.fill(1);
    device.pointwise_tflops.fill(1);
    device.memory_GBps.fill(100);
    const tensor::Users users(program);
    const tune::KernelCosts costs(program, users, device);
    const tensor::Kernels kernels(program);
    const auto us = [&](const char* name) { return costs.compute_us(kernels[*kernels.find(name)]); };
    CHECK(us("square") == doctest::Approx(2.0 * 500'000 * 4 / 100e3));       // read once, written once
    CHECK(us("product") == doctest::Approx(2.0 * 250 * 2000 * 3000 / 1e6));  // the rank's rows

    // The rank keeps x, y, and both outputs in the end: 2 + 24 + 2 + 3 MB, of which a cache holds a half.
    device.cache_MB = 15.5;
    device.cache_GBps.fill(400);
    const tune::KernelCosts cached(program, users, device);
    CHECK(cached.compute_us(kernels[*kernels.find("square")]) ==
          doctest::Approx(2.0 * 500'000 * 4 * (0.5 / 400e3 + 0.5 / 100e3)));
    device.pointwise_tflops.fill(0.01);
    CHECK(us("square") == doctest::Approx(500'000 / 0.01e6));
}

TEST_CASE("functions take what the device says of them, else what other operations take") {
    tensor::Builder b("functions", {{"d", 2}});
    const auto x = b.input("x", {1000}, tensor::DType::F32);
    b.output(exp(x).named("exponential"));
    b.output((x + x).named("sum"));
    const tensor::Program program = b.program();
    tensor::Device device{.name = "d", .launch_us = 0};
    device.pointwise_tflops.fill(1e-3);
    device.memory_GBps.fill(1e6);
    const tensor::Users users(program);
    const tensor::Kernels kernels(program);
    const auto us = [&](const char* name) {
        return tune::KernelCosts(program, users, device).compute_us(kernels[*kernels.find(name)]);
    };
    CHECK(us("exponential") == doctest::Approx(1));
    device.function_tflops.fill(1e-4);
    CHECK(us("exponential") == doctest::Approx(10));
    CHECK(us("sum") == doctest::Approx(1));
}

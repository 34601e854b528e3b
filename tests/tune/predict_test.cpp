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
}

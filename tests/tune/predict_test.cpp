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
    b.output(tanh(x).named("tangent"));
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
    device.exp_tflops.fill(5e-4);
    CHECK(us("exponential") == doctest::Approx(2));
    CHECK(us("tangent") == doctest::Approx(10));
    CHECK(us("sum") == doctest::Approx(1));
}

namespace {

/// 16 kB of f32 on each of 2 ranks, doubled (as much is read and written) and gathered, or added up, doubled
/// and gathered, in 4 pieces; links each way of 10 us and 1 GB/s, so that 1 000 bytes are 1 us.
double chain_us(double memory_GBps, bool scatters, bool guess) {
    tensor::Builder b("chain", {{"d", 2}});
    const auto x = b.input("x", {8000}, tensor::DType::F32,
                           {{"d", scatters ? tensor::Layout::local() : tensor::Layout::sliced(0)}});
    const auto part = scatters ? x.reduce_scatter({"d"}, 0).named("sum") : x;
    b.output((part + part).named("twice").all_gather({"d"}).named("out"));
    tensor::ProgramParts parts = b.program().parts();
    parts.overlaps = {{scatters ? std::vector<std::string>{"sum", "twice", "out"}
                                : std::vector<std::string>{"twice", "out"},
                       4}};
    const tensor::Program program(parts);
    tensor::Device device{.name = "d", .launch_us = 0};
    device.matmul_tflops.fill(1000);
    device.pointwise_tflops.fill(1000);
    device.memory_GBps.fill(memory_GBps);
    const Wire wire{.alpha = alpha_of(decimal_from(10'000)), .beta = Ticks(0), .bandwidth = decimal_from(1)};
    const Topology topology(
        {.npus = 2, .switches = {}, .links = {{NodeId(0), NodeId(1), wire}, {NodeId(1), NodeId(0), wire}}});
    tune::CallSchedules calls(topology, program.mesh(), {}, {});
    return tune::predict(program, device, calls, {.guess = guess}).us;
}

}  // namespace

TEST_CASE("messages of the next pieces follow when links are free, not when a latency is over") {
    // A piece is 4 kB to the other rank: 4 us after which the next can follow, there after 10 us more.
    for (const bool guess : {false, true}) {
        CAPTURE(guess);
        // Doubled in 1 us each: sent from 1, 5, 9 and 13 on, the last there at 13 + 14.
        CHECK(chain_us(8, false, guess) == doctest::Approx(27));
        // In 6 us each: sent from 6, 12, 18 and 24 on, the last there at 24 + 14.
        CHECK(chain_us(8.0 / 6, false, guess) == doctest::Approx(38));
        // Scattered from 0, 4, 8 and 12 on, there at 14, 18, 22 and 26; doubled in 1 us; gathered when the
        // links are free of that: from 16, 20, 24 and 28 on, the last there at 28 + 14.
        CHECK(chain_us(8, true, guess) == doctest::Approx(42));
    }
}

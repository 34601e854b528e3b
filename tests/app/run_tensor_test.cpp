#include "app/run_tensor.hpp"

#include "source_dir.hpp"

#include "tensor/refusal.hpp"
#include "tests/support/text_file.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tutti;
using test::TextFile;

namespace {

const std::string kData = std::string(TUTTI_SOURCE_DIR) + "/tests/data/tensor/";

}  // namespace

TEST_CASE("a program runs with given numbers, as written and by a schedule, and is compared with theirs") {
    const TextFile schedule("split sum rs_ag\nreorder sum.ag past all\nas_slice m v\n");
    for (const std::string& steps : {std::string(), schedule.path()}) {
        const app::TensorRun run = app::run_tensor({.program = kData + "programs/adam.json",
                                                    .schedule = steps,
                                                    .inputs = kData + "numbers/adam-2.json",
                                                    .precision = run::Precision::F64});
        CHECK(run.ranks == 3);
        CHECK(run.compared);
        CHECK_FALSE(run.wrong());
        CHECK(run.outputs.size() == 3);
        CHECK(run.kernels.size() == (steps.empty() ? 20 : 21));
    }
}

TEST_CASE("an output that is not the file's is named with its rank and element") {
    const TextFile numbers(
        R"({"mesh": {"data": 1}, "sizes": {"N": 2}, "inputs": {"g": [[1, 2]], "w": [[1, 1]]}, "outputs": {"w_out": [[0.9, 0.9]]}})");
    const TextFile program(
        R"({"tutti_tensor": 1, "name": "step", "mesh": {"axes": [["data", 4]]}, "sizes": {"N": 8}, "values": [
        {"id": "g", "op": "input", "dtype": "f64", "shape": ["N"], "layout": {"data": "local"}},
        {"id": "w", "op": "input", "dtype": "f64", "shape": ["N"], "state": true},
        {"id": "c", "op": "constant", "dtype": "f64", "value": 0.1},
        {"id": "sum", "op": "all_reduce", "args": ["g"], "axes": ["data"], "reduce": "sum"},
        {"id": "part", "op": "mul", "args": ["sum", "c"]}, {"id": "next", "op": "sub", "args": ["w", "part"]},
        {"id": "w_out", "op": "update", "args": ["w", "next"]}], "outputs": ["w_out"]})");
    const app::TensorRun run = app::run_tensor({.program = program.path(), .inputs = numbers.path()});
    REQUIRE(run.outputs.size() == 1);
    CHECK(run.wrong());
    CHECK(run.outputs.front().difference == "rank 0, element [1]: 0.8 instead of 0.9");
    CHECK(app::json_of(run).at("verdict") == "wrong");
    const TextFile refused("split sum rs_ag dim 3\n");
    CHECK_THROWS_AS((void)app::run_tensor({.program = program.path(), .schedule = refused.path()}),
                    tensor::Refusal);
}

TEST_CASE("without the reference a program runs and says that nothing was compared") {
    const app::TensorRun run =
        app::run_tensor({.program = kData + "programs/adam.json", .calls = 2, .reference = false});
    CHECK_FALSE(run.compared);
    CHECK_FALSE(run.wrong());
    CHECK(run.outputs.size() == 3);
    CHECK(app::json_of(run).at("verdict") == "not compared");
}

TEST_CASE("on links, kernels that overlap wait for messages, and give what the program means") {
    const TextFile device(
        R"({"tutti_device": 1, "name": "here", "matmul_tflops": 0.01, "pointwise_tflops": 0.01,
        "memory_GBps": 10, "launch_us": 5})");
    for (const char* name : {"mlp", "moe", "pipeline_step", "matmul_block", "attention"}) {
        const std::string example = std::string(TUTTI_SOURCE_DIR) + "/examples/tensor/" + name;
        CAPTURE(name);
        const app::TensorRun run = app::run_tensor({.program = example + ".json",
                                                    .schedule = example + ".schedule.json",
                                                    .calls = 2,
                                                    .links = {.between_all = app::LinkOptions::Link{20, 10}},
                                                    .device = device.path(),
                                                    .check = true});
        CHECK_FALSE(run.wrong());
        CHECK(run.check->runs > 3);
        CHECK(run.calls == 2);
        CHECK(*run.predicted > 0);
    }
}

TEST_CASE("a message takes the time of its link at least") {
    const TextFile program(R"({"tutti_tensor": 1, "name": "two", "mesh": {"axes": [["data", 2]]}, "values": [
        {"id": "x", "op": "input", "dtype": "f32", "shape": [1000], "layout": {"data": "local"}},
        {"id": "sum", "op": "all_reduce", "args": ["x"], "axes": ["data"], "reduce": "sum"}], "outputs": ["sum"]})");
    // 2 000 bytes each way twice, at a millionth of a GB per second and with a latency of 5 ms.
    const app::TensorRun run = app::run_tensor(
        {.program = program.path(), .links = {.between_all = app::LinkOptions::Link{5000, 0.001}}});
    CHECK_FALSE(run.wrong());
    CHECK(run.seconds > 0.009);
}

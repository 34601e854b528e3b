// Schedules that were tuned are run on this machine, on links of the network that they were tuned for.

#include "app/tune.hpp"

#include "tests/support/text_file.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tutti;

namespace {

const char* const kProgram =
    R"({"tutti_tensor": 1, "name": "step", "mesh": {"axes": [["data", 4]]}, "sizes": {"N": 100000000}, "values": [
        {"id": "g", "op": "input", "dtype": "f32", "shape": ["N"], "layout": {"data": "local"}},
        {"id": "w", "op": "input", "dtype": "f32", "shape": ["N"], "state": true},
        {"id": "c", "op": "constant", "dtype": "f32", "value": 0.1},
        {"id": "sum", "op": "all_reduce", "args": ["g"], "axes": ["data"], "reduce": "sum"},
        {"id": "part", "op": "mul", "args": ["sum", "c"]}, {"id": "next", "op": "sub", "args": ["w", "part"]},
        {"id": "w_out", "op": "update", "args": ["w", "next"]}], "outputs": ["w_out"]})";
const char* const kPair =
    R"({"generate": {"kind": "ring", "npus": 2, "latency_ns": 3000000, "bandwidth_GBps": 25}})";
const char* const kDevice =
    R"({"tutti_device": 1, "name": "d", "matmul_tflops": 1, "pointwise_tflops": 1, "memory_GBps": 10, "launch_us": 5})";

}  // namespace

TEST_CASE("the best few are run here, and so is the program as written") {
    const test::TextFile program(kProgram), pair(kPair), device(kDevice);
    app::TuneOptions options{.program = program.path(), .topology = pair.path(), .device = device.path()};
    options.pieces = {2};
    options.measure = 2;
    options.sizes = {{{"N", 1001}}, {{"data", 2}}};
    const app::TuneAnswer answer = app::tune(options);
    CHECK(answer.ranks == 2);
    REQUIRE(answer.result.schedules.size() > 2);
    REQUIRE(answer.measured_us.size() == answer.result.schedules.size());
    // Its messages take the time of their links, which is 3 ms at least.
    for (const std::size_t i : {0U, 1U}) CHECK(answer.measured_us[i].value_or(0) > 3000);
    CHECK_FALSE(answer.measured_us[2].has_value());
    CHECK(answer.unscheduled_measured_us.value_or(0) > 3000);
    CHECK(answer.not_measured.empty());
    const io::Json json = app::json_of(answer);
    CHECK(json.at("schedules").at(0).at("measured_us") == *answer.measured_us[0]);
    CHECK(json.at("schedules").at(2).at("measured_us").is_null());
    CHECK(json.at("unscheduled_measured_us") == *answer.unscheduled_measured_us);
}

TEST_CASE("what is too large to be run here is tuned, and it is said why it was not measured") {
    const test::TextFile program(kProgram), pair(kPair), device(kDevice);
    app::TuneOptions options{.program = program.path(), .topology = pair.path(), .device = device.path()};
    options.pieces = {2};
    options.measure = 1;
    options.sizes = {{}, {{"data", 2}}};
    const app::TuneAnswer answer = app::tune(options);
    REQUIRE(!answer.result.schedules.empty());
    CHECK_FALSE(answer.measured_us.front().has_value());
    CHECK(answer.not_measured.find("--sizes makes it smaller") != std::string::npos);
}

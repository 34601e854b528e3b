// The set of tests/data/tensor: what is legal is accepted with the expected result, what is not is refused
// with its code.

#include "io/json_text.hpp"
#include "io/tensor_json.hpp"
#include "io/tensor_schedule_json.hpp"
#include "rewrite/schedule.hpp"
#include "tensor/kernels.hpp"
#include "tensor/parts.hpp"
#include "tensor/refusal.hpp"
#include "tests/support/tensor_set.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::tensor;

namespace {

std::map<std::string, Program> programs_of_set() {
    std::map<std::string, Program> programs;
    for (const std::string& name : test::tensor_program_names())
        programs.emplace(name, test::tensor_program(name));
    return programs;
}

std::vector<Step> steps_of(const io::Json& list) {
    std::vector<Step> steps;
    for (const io::Json& step : list) steps.push_back(io::parse_tensor_step(step));
    return steps;
}

/// What goes over the network, sorted: bytes are what a rank hands in, of a gather what it ends with.
std::vector<std::string> communication_of(const Program& program) {
    std::vector<std::string> calls;
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        if (!is_collective(value.op)) continue;
        const Type& type = value.op == Op::AllGather ? value.type : program[value.args[0]].type;
        io::Json axes = io::Json::array();
        for (const AxisId axis : value.axes) axes.push_back(program.mesh().name(axis));
        calls.push_back(
            io::Json{{"op", name_of(value.op)}, {"axes", axes}, {"bytes", part_bytes(program.mesh(), type)}}
                .dump());
    }
    std::ranges::sort(calls);
    return calls;
}

std::vector<std::string> expected_communication(const io::Json& calls) {
    std::vector<std::string> lines;
    for (const io::Json& call : calls) lines.push_back(call.dump());
    std::ranges::sort(lines);
    return lines;
}

}  // namespace

TEST_CASE("legal schedules are accepted, and make what is expected") {
    const std::map<std::string, Program> programs = programs_of_set();
    std::size_t lines = 0;
    for (const io::Json& line : test::tensor_lines("legal.jsonl")) {
        ++lines;
        INFO(line.at("program").get<std::string>(), ": ", line.at("name").get<std::string>());
        const Program after =
            rewrite::replay(programs.at(line.at("program").get<std::string>()), steps_of(line.at("steps")));
        const io::Json& expected = line.at("expect");
        CHECK(communication_of(after) == expected_communication(expected.at("communication")));
        io::Json outputs = io::Json::array(), resharded = io::Json::object();
        for (const ValueId id : after.outputs())
            outputs.push_back(io::write_layouts(after[id].type.layout, after.mesh()));
        for (const ValueId id : after.resharded())
            resharded[after[id].name] = io::write_layouts(after[id].layout, after.mesh());
        CHECK(outputs == expected.at("outputs"));
        CHECK(resharded == expected.at("resharded"));
        CHECK(Kernels(after).working(after) == expected.at("kernels").get<std::size_t>());
        // What is written is read back, and has an order of kernels.
        const io::Json written = io::write_tensor_program(after);
        CHECK(io::write_tensor_program(io::parse_tensor_program(written)) == written);
    }
    CHECK(lines == 64);
}

TEST_CASE("illegal steps are refused with the code of the set") {
    const std::map<std::string, Program> programs = programs_of_set();
    std::size_t lines = 0;
    for (const io::Json& line : test::tensor_lines("illegal.jsonl")) {
        ++lines;
        INFO(line.dump());
        const Program before =
            rewrite::replay(programs.at(line.at("program").get<std::string>()), steps_of(line.at("before")));
        std::string code = "accepted";
        try {
            (void)rewrite::apply_step(before, io::parse_tensor_step(line.at("step")));
        } catch (const Refusal& refusal) {
            code = refusal.code();
        }
        CHECK(code == line.at("code").get<std::string>());
    }
    CHECK(lines == 46);
}

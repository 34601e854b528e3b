#include "tests/tune/cases.hpp"

#include "io/device_json.hpp"
#include "io/json_text.hpp"
#include "io/tensor_json.hpp"
#include "io/topology_json.hpp"
#include "source_dir.hpp"

#include <algorithm>
#include <filesystem>

namespace tutti::test {

std::vector<TuneCase> tune_cases() {
    std::vector<TuneCase> cases;
    for (const auto& entry :
         std::filesystem::directory_iterator(TUTTI_SOURCE_DIR "/tests/data/tensor/tune")) {
        io::Source source(entry.path().string());
        const io::Json json = io::parse_json(source);
        const io::JsonView view(json);
        const io::JsonView reference = view.at("reference");
        cases.push_back({.name = entry.path().stem().string(),
                         .json = json,
                         .program = io::parse_tensor_program(json["program"]),
                         .topology = Topology(io::read_topology(view.at("topology"))),
                         .device = io::parse_device(view.at("device")),
                         .pieces = view.at("pieces").integer(2, 1000),
                         .unscheduled_us = reference.at("unscheduled_us").number(0, 1e12),
                         .best_us = reference.at("best_us").number(0, 1e12)});
    }
    std::ranges::sort(cases, {}, &TuneCase::name);
    return cases;
}

}  // namespace tutti::test

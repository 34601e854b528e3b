#pragma once

#include "core/topology.hpp"
#include "io/json_view.hpp"
#include "tensor/device.hpp"
#include "tensor/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::test {

/// A reference case: a program, a network and a device, with what others predicted for them.
struct TuneCase {
    std::string name{};
    io::Json json{};
    tensor::Program program;
    Topology topology;
    tensor::Device device{};
    std::int64_t pieces = 0;
    double unscheduled_us = 0, best_us = 0;
};
[[nodiscard]] std::vector<TuneCase> tune_cases();

}  // namespace tutti::test

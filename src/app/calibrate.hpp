#pragma once

#include "app/watch.hpp"
#include "tensor/device.hpp"

#include <cstddef>
#include <string>

namespace tutti::app {

struct CalibrateOptions {
    std::string output{};     ///< a device file, as `tune --device` reads it; "-": standard output
    std::size_t threads = 0;  ///< that work at the same time; 0: one for each core
    friend bool operator==(const CalibrateOptions&, const CalibrateOptions&) = default;
};

/// Measures what this machine computes (run/calibrate.hpp) and writes it as a device. Throws OutputError,
/// LimitError.
tensor::Device calibrate(const CalibrateOptions& options, const Watch& watch = {});

}  // namespace tutti::app

#pragma once

#include "tensor/dtype.hpp"

#include <array>
#include <string>

namespace tutti::tensor {

/// What the devices of a cluster compute in a second. Zero where nothing is said for a type.
struct Device {
    /// By type of the elements.
    using Rates = std::array<double, kDTypeNames.size()>;

    std::string name{};
    Rates matmul_tflops{}, pointwise_tflops{}, memory_GBps{};
    double launch_us = 0;  ///< of every kernel and every call
    /// Of exp, log, tanh, erf, sigmoid and pow; where it is zero they are as fast as other operations.
    Rates function_tflops{};
    /// Of exp, log and sigmoid, which take a third of what tanh does; where it is zero they are as the
    /// others.
    Rates exp_tflops{};
    /// Of what is in a cache of so many 10^6 bytes; where either is zero, all is as slow as memory.
    Rates cache_GBps{};
    double cache_MB = 0;

    friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace tutti::tensor

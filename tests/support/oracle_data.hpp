#pragma once

#include "core/instance.hpp"

#include <vector>

namespace tutti::test {

/// An instance whose optimum others have proven (tests/data/oracle).
struct ProvenOptimum {
    Instance instance;
    Ticks optimum;
    double prototype_seconds = 0;  ///< what proving it took others
};

[[nodiscard]] std::vector<ProvenOptimum> proven_optima();

}  // namespace tutti::test

#pragma once

#include "core/instance.hpp"

#include <vector>

namespace tutti::test {

/// An instance whose optimum others have proven (tests/data/oracle).
struct ProvenOptimum {
    Instance instance;
    Ticks optimum;
};

[[nodiscard]] std::vector<ProvenOptimum> proven_optima();

}  // namespace tutti::test

#pragma once

#include "tensor/program.hpp"

#include <string>

namespace tutti::emit {

/// The program as a graph for Graphviz: operations as boxes, with type and layout, fused ones in a cluster,
/// collectives in colour; states' storage edges dashed.
[[nodiscard]] std::string dot(const tensor::Program& program);

}  // namespace tutti::emit

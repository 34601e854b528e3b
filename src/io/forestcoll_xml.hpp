#pragma once

#include "io/source.hpp"
#include "plan/forestcoll_plan.hpp"

namespace tutti::io {

/// Reads the spanning trees of ForestColl (`<Algo nchunkspernode>` of `<tree>` of `<send>`;
/// docs/step-formats.md). Nodes are those that a tree is rooted at or that send or receive; other names in a
/// path are switches. Throws plan::PlanError with the place (line:column) and one of the codes `xml`, `dtd`,
/// `root`, `missing-attribute`, `bad-integer` and `bad-value`.
[[nodiscard]] plan::ForestCollPlan read_forestcoll_xml(Source& source);

}  // namespace tutti::io

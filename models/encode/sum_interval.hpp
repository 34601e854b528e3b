#pragma once

#include "models/encode/question.hpp"

#include <string>
#include <vector>

namespace tutti::models {

/// A hop that a sum may take: at most once, when, and what happens at its end.
struct SumUse {
    std::uint32_t hop = 0;
    Literal used = {}, copies = {};
    Var start = {};  ///< own time
};

/// How many literals a sum needs, about.
[[nodiscard]] std::size_t sum_interval_size(const Network& network, const Commodity& commodity);

/// When a reduction with several receivers takes which hops, and what contributions these carry: constraints
/// J1… of models/README.md. Its size does not depend on the length of time: O(contributions * pairs of a hop
/// into a node and one out of it). Adds the hops' links to `uses`. A restriction: a hop is taken once, and at
/// each node at most one arrival is a copy; so "infeasible" proves nothing.
[[nodiscard]] std::vector<SumUse> add_sum_intervals(Program& program, const Routing& routing,
                                                    const Commodity& commodity, const Asked& asked,
                                                    const std::string& name,
                                                    std::vector<std::vector<Interval>>& uses);

}  // namespace tutti::models

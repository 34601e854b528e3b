#pragma once

#include "models/encode/question.hpp"
#include "models/encode/starts.hpp"

namespace tutti::models {

/// The literals of a sum's transfers by what they do at their end.
struct SumStarts {
    Starts copy, reduce;
};

/// Which contributions of a reduction are where and when: constraints D1… of models/README.md. Size
/// O(contributions * hops * window). Ends early once asked.stop is requested.
void add_sum(Program& program, const Routing& routing, const Commodity& commodity, const SumStarts& starts,
             const Asked& asked, const std::string& name);

}  // namespace tutti::models

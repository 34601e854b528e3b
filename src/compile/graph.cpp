#include "compile/graph.hpp"

#include <algorithm>

namespace tutti::compile {

void Graph::forget_order() {
    first_before = std::vector<std::uint32_t>();
    befores = std::vector<std::uint32_t>();
    reads_of = std::vector<std::uint32_t>();
    leaves_result = std::vector<bool>();
}

Clock clock_of(const Graph& graph) {
    Clock clock;
    clock.level.assign(graph.size(), 0);
    clock.height.assign(graph.size(), 0);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        for (const std::uint32_t b : graph.before(i)) {
            clock.level[i] = std::max(clock.level[i], clock.level[b] + 1);
        }
    }
    for (std::uint32_t i = graph.size(); i-- > 0;) {
        for (const std::uint32_t b : graph.before(i)) {
            clock.height[b] = std::max(clock.height[b], clock.height[i] + 1);
        }
    }
    return clock;
}

Afters::Afters(const Graph& graph) {
    first_.assign(graph.size() + 1, 0);
    for (const std::uint32_t b : graph.befores) ++first_[b + 1];
    for (std::uint32_t i = 0; i < graph.size(); ++i) first_[i + 1] += first_[i];
    afters_.resize(graph.befores.size());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        for (const std::uint32_t b : graph.before(i)) afters_[next[b]++] = i;
    }
}

}  // namespace tutti::compile

#include "heuristics/switches/switch_holdings.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::heuristics {

SwitchHoldings::SwitchHoldings(const SpreadProblem& problem, const SwitchClusters& clusters,
                               const SwitchPaths& paths)
    : graph_(problem.graph),
      spreads_(problem.spreads),
      clusters_(clusters),
      has_(graph_.nodes(), spreads_.size()),
      claimed_(graph_.nodes(), spreads_.size()),
      done_(1, spreads_.size()),
      claims_(spreads_.size(), 0),
      open_(spreads_.size(), 0),
      is_target_(graph_.nodes(), false),
      fresh_(graph_.nodes(), 0),
      own_(graph_.nodes()) {
    claimed_.fill();
    for (std::size_t l = 0; l < clusters.levels(); ++l) {
        brought_.emplace_back(clusters.clusters(l), spreads_.size());
        brought_.back().fill();
        lacking_.emplace_back(clusters.clusters(l), 0);
    }
    for (std::size_t n = graph_.instance().topology().npus(); n < graph_.nodes(); ++n) {
        if (!paths.is_holder(NodeId(n))) continue;
        for (auto& word : claimed_.row(n)) word = 0;
    }
    for (std::uint32_t i = 0; i < spreads_.size(); ++i) {
        add_targets(i);
        add_sources(i);
        missing_ += open_[i];
        if (open_[i] == 0) done_.set(0, i);
    }
    targets_ = static_cast<std::size_t>(std::ranges::count(is_target_, true));
}

void SwitchHoldings::add_targets(std::uint32_t i) {
    for (const NodeId target : spreads_[i].targets) {
        is_target_[target.index()] = true;
        if (!is_claimed(target, i)) continue;
        claimed_.reset(target.index(), i);
        ++open_[i];
        for (std::size_t l = 0; l < clusters_.levels(); ++l) {
            const std::uint32_t k = clusters_.cluster(l, target);
            if (brought_[l].test(k, i)) ++lacking_[l][k];
            brought_[l].reset(k, i);
        }
    }
}

void SwitchHoldings::add_sources(std::uint32_t i) {
    for (const NodeId source : spreads_[i].sources) {
        if (!is_claimed(source, i) && is_npu(source)) --open_[i];
        mark(source, i);
        own_[source.index()].push_back(i);
        if (fresh_[source.index()]++ == 0) fresh_sources_.push_back(source);
    }
}

void SwitchHoldings::claim(NodeId node, std::uint32_t i) {
    expects(!is_claimed(node, i));
    mark(node, i);
    if (!is_npu(node)) return;
    --missing_;
    if (--open_[i] == 0) done_.set(0, i);
}

void SwitchHoldings::mark(NodeId node, std::uint32_t i) {
    claimed_.set(node.index(), i);
    if (claims_[i]++ == spreads_[i].sources.size()) {
        for (const NodeId source : spreads_[i].sources) --fresh_[source.index()];
    }
    for (std::size_t l = 0; l < clusters_.levels(); ++l) {
        const std::uint32_t k = clusters_.cluster(l, node);
        if (brought_[l].test(k, i)) continue;
        brought_[l].set(k, i);
        --lacking_[l][k];
    }
}

const std::vector<NodeId>& SwitchHoldings::fresh_sources() {
    std::erase_if(fresh_sources_, [&](NodeId node) { return fresh_[node.index()] == 0; });
    return fresh_sources_;
}

}  // namespace tutti::heuristics

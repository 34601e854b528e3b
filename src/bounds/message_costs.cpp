// As paced_paths, but in prices, with predecessors, and in flat arrays: it is run for every NPU, again and
// again. A stretch's pace is guessed at its first link.

#include "bounds/message_costs.hpp"

#include <algorithm>
#include <queue>

namespace tutti::bounds {

MessageCosts::MessageCosts(const Passage& passage)
    : passage_(&passage), topology_(&passage.instance->topology()) {
    const std::vector<Ticks> betas = topology_->betas(passage.bytes);
    paces_ = betas;
    std::ranges::sort(paces_);
    paces_.erase(std::ranges::unique(paces_).begin(), paces_.end());
    for (std::size_t l = 0; l < betas.size(); ++l) {
        beta_pace_.push_back(
            static_cast<std::uint32_t>(std::ranges::lower_bound(paces_, betas[l]) - paces_.begin()));
        for (const Ticks pace : paces_) busy_.push_back(passage.instance->busy(LinkId(l), pace).count());
    }
}

std::int64_t MessageCosts::longest_length() const {
    const std::int64_t most = busy_.empty() ? 1 : *std::ranges::max_element(busy_);
    return kFar / 2 / most / static_cast<std::int64_t>(topology_->nodes());
}

void MessageCosts::set_lengths(const std::vector<std::int64_t>& length) {
    price_.resize(busy_.size());
    for (std::size_t i = 0; i < busy_.size(); ++i) price_[i] = busy_[i] * length[i / paces_.size()];
}

void MessageCosts::search(NodeId source, bool many_messages) {
    source_ = source;
    const std::size_t nodes = topology_->nodes(), switches = std::max<std::size_t>(topology_->switches(), 1);
    const std::size_t states = nodes + paces_.size() * topology_->switches();
    cost_.assign(states, kFar);
    via_link_.resize(states);
    via_pace_.resize(states);
    using Entry = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    cost_[source.index()] = 0;
    queue.emplace(0, source.value());
    const auto reach = [&](LinkId id, NodeId next, std::int64_t so_far, std::size_t pace) {
        const std::size_t to = state(next, pace);
        const std::int64_t cost = so_far + price_[id.index() * paces_.size() + pace];
        if (cost >= cost_[to]) return;
        cost_[to] = cost;
        via_link_[to] = id.value();
        via_pace_[to] = static_cast<std::uint32_t>(pace);
        queue.emplace(cost, static_cast<std::uint32_t>(to));
    };
    while (!queue.empty()) {
        const auto [cost, from] = queue.top();
        queue.pop();
        if (cost != cost_[from]) continue;
        const bool here_stores = from < nodes;
        const NodeId here(here_stores ? from : topology_->npus() + (from - nodes) % switches);
        if (here_stores && topology_->is_npu(here) && here != source && !many_messages) continue;
        const std::size_t pace = here_stores ? 0 : (from - nodes) / switches;
        for (const LinkId id : topology_->out_links(here)) {
            const NodeId next = topology_->link(id).dst;
            if (!passage_->admits(next)) continue;
            const std::size_t own = beta_pace_[id.index()];
            if (!here_stores) {
                if (own <= pace) reach(id, next, cost, pace);
                continue;
            }
            const std::size_t end = stores(next) ? own + 1 : paces_.size();
            for (std::size_t k = own; k < end; ++k) reach(id, next, cost, k);
        }
    }
}

void MessageCosts::add_path(NodeId npu, double times, std::vector<double>& load) const {
    std::size_t at = npu.index();
    while (at != source_.index()) {
        const std::size_t link = via_link_[at], pace = via_pace_[at];
        load[link] += times * static_cast<double>(busy(link, pace));
        at = state(topology_->link(LinkId(link)).src, pace);
    }
}

}  // namespace tutti::bounds

// Messages through switches, found once for each kind of port instead of each pair of NPUs.
//
// NPUs whose first link leads to the same switch at the same speed have the same ways on: they share a port.
// From each port one search over the switches gives the quickest way to each of them. A way through
// cut-through switches pays the largest beta once, at its end; a switch that stores collects it. So a label
// is the time without the beta of the current stretch, and that beta (the pace). Only the label with the
// earliest end is kept: with links of very different speeds a slower start can have the faster end, which is
// given up for simplicity. Of equal ends fewer links are better, so that no way goes round in a circle of
// switches without latency. Ways of equal labels are all allowed: the spines of a fat tree.
//
// A rack of 8 192 NPUs on rails has 1 032 switches and as many ports, which reach one switch each; a fat tree
// of 4 096 hosts has 256 ports that reach 768 switches.

#include "heuristics/levels/message_routes.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostPaths = 64;  ///< compared by append_path

}  // namespace

MessageRoutes::MessageRoutes(const Instance& instance, ChunkId sample)
    : instance_(instance),
      topology_(instance.topology()),
      npus_(topology_.npus()),
      switches_(topology_.switches()),
      betas_(topology_.betas(instance.demand(sample).bytes)) {
    find_ports();
    labels_.resize(ports_.size() * switches_);
    for (std::uint32_t port = 0; port < ports_.size(); ++port) search(port);
}

void MessageRoutes::find_ports() {
    std::map<Port, std::uint32_t> known;
    port_of_.resize(topology_.links().size());
    for (std::size_t n = 0; n < npus_; ++n) {
        for (const LinkId link : topology_.out_links(NodeId(n))) {
            const NodeId to = topology_.link(link).dst;
            if (topology_.is_npu(to)) continue;
            const Port port{to, instance_.alpha(link), betas_[link.index()]};
            const auto [entry, is_new] = known.try_emplace(port, static_cast<std::uint32_t>(ports_.size()));
            if (is_new) {
                ports_.push_back(port);
                members_.emplace_back();
            }
            port_of_[link.index()] = entry->second;
            members_[entry->second].push_back(NodeId(n));
        }
    }
}

std::vector<MessageRoutes::Arrivals> MessageRoutes::find_arrivals() const {
    std::map<Port, std::size_t> known;
    std::vector<Arrivals> all;
    for (std::size_t n = 0; n < npus_; ++n) {
        for (const LinkId link : topology_.in_links(NodeId(n))) {
            const NodeId from = topology_.link(link).src;
            if (topology_.is_npu(from)) continue;
            const Port port{from, instance_.alpha(link), betas_[link.index()]};
            const auto [entry, is_new] = known.try_emplace(port, all.size());
            if (is_new) all.push_back({from, link, {}});
            all[entry->second].members.push_back(NodeId(n));
        }
    }
    return all;
}

MessageRoutes::Label MessageRoutes::after(const Label& label, LinkId link) const {
    const std::int64_t beta = betas_[link.index()].count();
    const std::int64_t alpha = instance_.alpha(link).count();
    if (topology_.is_cut_through(topology_.link(link).src))
        return {label.offset + alpha, std::max(label.pace, beta), label.links + 1};
    return {label.end() + alpha, beta, label.links + 1};
}

void MessageRoutes::search(std::uint32_t port) {
    const auto better = [](const Label& a, const Label& b) {
        if (!b.is_reached()) return true;
        return std::tuple(a.end(), a.links, a.pace) < std::tuple(b.end(), b.links, b.pace);
    };
    struct Entry {
        std::int64_t end;
        NodeId at;
        Label label;
        bool operator>(const Entry& other) const {
            return std::pair(end, at) > std::pair(other.end, other.at);
        }
    };
    Label* const labels = &labels_[port * switches_];
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    const auto reach = [&](NodeId at, const Label& label) {
        Label& known = labels[at.index() - npus_];
        if (!better(label, known)) return;
        known = label;
        open.push({label.end(), at, label});
    };
    reach(ports_[port].at, {ports_[port].alpha.count(), ports_[port].beta.count(), 1});
    while (!open.empty()) {
        const Entry entry = open.top();
        open.pop();
        if (entry.label != labels[entry.at.index() - npus_]) continue;
        for (const LinkId link : topology_.out_links(entry.at)) {
            const NodeId to = topology_.link(link).dst;
            if (topology_.is_switch(to)) reach(to, after(entry.label, link));
        }
    }
}

Ticks MessageRoutes::time_along(std::span<const LinkId> links) const {
    Label label{0, 0, 0};
    for (const LinkId link : links) label = after(label, link);
    return Ticks(label.end());
}

std::optional<Ticks> MessageRoutes::time(NodeId from, NodeId to) const {
    const auto found = ends(from, to, {});
    return found ? std::optional(found->time) : std::nullopt;
}

std::optional<MessageRoutes::Ends> MessageRoutes::ends(NodeId from, NodeId to,
                                                       std::span<const Ticks> loads) const {
    const auto load = [&](LinkId link) { return loads.empty() ? Ticks(0) : loads[link.index()]; };
    std::optional<Ends> best;
    Ticks best_load;
    const auto offer = [&](LinkId out, LinkId in, Ticks time) {
        if (best && time > best->time) return;
        const Ticks fuller = std::max(load(out), load(in));
        if (best && time == best->time && fuller >= best_load) return;
        best = Ends{out, in, time};
        best_load = fuller;
    };
    for (const LinkId out : topology_.out_links(from)) {
        const NodeId first = topology_.link(out).dst;
        if (topology_.is_npu(first)) {
            if (first == to) offer(out, out, instance_.alpha(out) + betas_[out.index()]);
            continue;
        }
        for (const LinkId in : topology_.in_links(to)) {
            const NodeId last = topology_.link(in).src;
            if (topology_.is_npu(last)) continue;
            const Label& known = label(port_of_[out.index()], last);
            if (known.is_reached()) offer(out, in, Ticks(after(known, in).end()));
        }
    }
    return best;
}

/// Depth first, backwards from `last`, over links that lie on quickest ways.
void MessageRoutes::find_paths(std::uint32_t port, NodeId from, LinkId last, std::span<const Ticks> loads) {
    const NodeId at = topology_.link(last).src;
    if (at == from) {
        Ticks load, sum;
        for (const LinkId link : path_) {
            load = std::max(load, loads[link.index()]);
            sum += loads[link.index()];
        }
        if (best_.empty() || std::pair(load, sum) < std::pair(best_load_, best_sum_)) {
            best_ = path_;
            best_load_ = load;
            best_sum_ = sum;
        }
        --paths_left_;
        return;
    }
    const auto in = topology_.in_links(at);
    // Different messages begin with different links, so that equal loads spread.
    const std::size_t first = in.empty() ? 0 : last.index() % in.size();
    for (std::size_t i = 0; i < in.size() && paths_left_ > 0; ++i) {
        const LinkId link = in[(first + i) % in.size()];
        const NodeId before = topology_.link(link).src;
        if (topology_.is_npu(before)) continue;
        const Label& known = label(port, before);
        if (!known.is_reached() || after(known, link) != label(port, at)) continue;
        path_.push_back(link);
        find_paths(port, from, link, loads);
        path_.pop_back();
    }
}

void MessageRoutes::append_path(const Ends& ends, std::span<const Ticks> loads, std::vector<LinkId>& links) {
    links.push_back(ends.out);
    if (ends.out == ends.in) return;
    const NodeId first = topology_.link(ends.out).dst;
    if (first != topology_.link(ends.in).src) {
        path_.clear();
        best_.clear();
        paths_left_ = kMostPaths;
        find_paths(port_of_[ends.out.index()], first, ends.in, loads);
        expects(!best_.empty());
        links.insert(links.end(), best_.rbegin(), best_.rend());
    }
    links.push_back(ends.in);
}

}  // namespace tutti::heuristics

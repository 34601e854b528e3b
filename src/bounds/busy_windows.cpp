#include "bounds/busy_windows.hpp"

#include "core/least_tick.hpp"

#include <algorithm>

namespace tutti::bounds {
namespace {

std::vector<TimedNode> starts(const std::vector<Ticks>& times) {
    std::vector<TimedNode> nodes;
    for (std::size_t n = 0; n < times.size(); ++n) {
        if (times[n] != kNever) nodes.push_back({NodeId(n), times[n]});
    }
    return nodes;
}

}  // namespace

BusyWindows::BusyWindows(const Traffic& traffic)
    : traffic_(traffic), topology_(traffic.topology()), network_(traffic.instance(), smallest()) {
    std::vector<Ticks> since(topology_.npus(), kNever), until(topology_.npus(), kNever);
    for (const ChunkClass& c : traffic.classes()) {
        const Demand demand = traffic.demand(c);
        one_size_ = one_size_ && demand.bytes == smallest();
        for (const NodeId node : demand.holders)
            since[node.index()] = std::min(since[node.index()], traffic.release(c, node));
        for (const NodeId node : demand.receivers) until[node.index()] = Ticks(0);
    }
    const auto anywhere = [](NodeId) { return true; };
    const auto from = network_.times(starts(since), Direction::Forwards, anywhere);
    const auto to = network_.times(starts(until), Direction::Backwards, anywhere);
    for (std::size_t l = 0; l < topology_.links().size(); ++l) windows.push_back(window(LinkId(l), from, to));
}

std::optional<Ticks> BusyWindows::least_end(const std::vector<std::int64_t>& length, Wide cost) const {
    return least_tick([&](Ticks end) { return enough(length, cost, end.count()); });
}

BusyWindow BusyWindows::window(LinkId id, const PacedTimes& from, const PacedTimes& to) const {
    const Instance& instance = traffic_.instance();
    const InnerLink over = network_.over(from, to, id);
    BusyWindow result;
    if (over.pace == kNever) return result;
    result.first = over.before;
    // The end of the busy time is the pace after the start; what follows it does without the pace.
    result.tail = network_.after_pace(to, id);
    if (topology_.busy() == Busy::AlphaPlusBeta) result.tail -= instance.alpha(id);
    result.unit = unit(id);
    return result;
}

std::int64_t BusyWindows::unit(LinkId id) const {
    if (!one_size_) return 1;
    const Ticks own = topology_.beta(id, smallest());
    const Link& link = topology_.link(id);
    if (!topology_.is_cut_through(link.src) && !topology_.is_cut_through(link.dst))
        return traffic_.instance().busy(id, own).count();
    if (topology_.busy() == Busy::AlphaPlusBeta) return 1;
    for (const Ticks pace : network_.paces()) {
        if (pace > own && pace.count() % own.count() != 0) return 1;
    }
    return own.count();
}

bool BusyWindows::enough(const std::vector<std::int64_t>& length, Wide cost, std::int64_t end) const {
    Wide sum = 0;
    for (std::size_t l = 0; l < length.size() && sum < cost; ++l) {
        if (length[l] > 0) sum += Wide{length[l]} * windows[l].length(end);
    }
    return sum >= cost;
}

}  // namespace tutti::bounds

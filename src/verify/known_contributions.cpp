#include "verify/certificate_contributions.hpp"

#include "verify/certificate_segments.hpp"

#include <algorithm>

namespace tutti::verify {
namespace {

/// Beyond this a table would take too much memory.
constexpr std::size_t kMostEntries = 4'000'000;

}  // namespace

std::vector<MessageEnd> message_ends(const Instance& instance, Bytes bytes, const std::vector<bool>& carriers,
                                     NodeId npu, Direction direction) {
    const Topology& topology = instance.topology();
    std::vector<Wide> start(topology.nodes(), kNever);
    for (std::size_t v = 0; v < topology.npus(); ++v) {
        if (NodeId(v) != npu && carriers[v]) start[v] = 0;
    }
    const SegmentPaths paths(
        instance, bytes, direction, start,
        [&](NodeId node) { return topology.is_switch(node) && carriers[node.index()]; },
        times_of_segments(instance));
    std::vector<MessageEnd> ends;
    for (const LinkId link :
         direction == Direction::Forwards ? topology.in_links(npu) : topology.out_links(npu)) {
        const auto [time, pace] = paths.whole(link);
        if (time < kNever) ends.push_back({time, instance.busy(link, pace).count()});
    }
    return ends;
}

void KnownContributions::add(std::vector<MessageEnd> ends) {
    std::ranges::sort(ends, {}, &MessageEnd::gap);
    gaps_.resize(std::max(gaps_.size(), ends.size()), kNever);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        gaps_[i] = std::min(gaps_[i], ends[i].gap);
        message_ = std::min(message_, ends[i].message);
    }
}

Wide KnownContributions::by(Wide time) {
    if (time < 0) return 0;
    if (time < message_) return 1;
    if (full_ && time >= *full_) return most_;
    if (const auto found = known_.find(time); found != known_.end()) return found->second;
    if (known_.size() >= kMostEntries) return most_;
    // A chain of messages, each with one contribution more, is the least that is possible; so this ends.
    if (time / message_ + 1 >= most_) return most_;
    Wide sum = 1;
    for (const Wide gap : gaps_) {
        for (Wide start = time - message_; start >= 0 && sum < most_; start -= gap) sum += by(start);
    }
    return known_[time] = std::min(sum, most_);
}

bool KnownContributions::all_by(Wide time) {
    if (!full_ || time < *full_) {
        if (by(time) < most_) return false;
        full_ = full_ ? std::min(*full_, time) : time;
    }
    return true;
}

bool KnownContributions::gave_up() const { return known_.size() >= kMostEntries; }

}  // namespace tutti::verify

// Sum: for every chunk from one NPU to one other, the start of its first send, the time of its way and the
// time from its arrival to the end add up to at most the makespan. Starts at one NPU are a link's busy time
// apart on each of its links, so they have a least sum, and so have the times left at a receiver.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::verify {
namespace {

class SumCheck {
  public:
    SumCheck(const Instance& instance, const SumCertificate& sum)
        : instance_(instance), topology_(instance.topology()), sum_(sum) {}

    Objection operator()(Ticks value) {
        std::map<std::pair<CollectiveId, NodeId>, SegmentPaths> ways;
        for (const Need& need : needs_of(instance_)) {
            const Demand demand = instance_.demand(need.chunk);
            if (demand.bytes < sum_.bytes || demand.holders.size() != 1 || demand.receivers.size() != 1)
                continue;
            const NodeId from = demand.holders.front(), to = demand.receivers.front();
            const std::pair key{representative(instance_, demand.collective), from};
            auto known = ways.find(key);
            if (known == ways.end()) known = ways.emplace(key, paths(from, demand.collective)).first;
            const Wide time = known->second.at(to);
            if (time >= kNever) return std::nullopt;  // a receiver cannot be reached: every bound holds
            total_ += time * need.count;
            chunks_ += need.count;
            End& start = starts_[from];
            start.chunks += need.count;
            start.release = std::min(start.release, Wide{instance_.release(need.chunk).count()});
            arrivals_[to].chunks += need.count;
        }
        if (chunks_ == 0) return "no chunk goes from one NPU to one other";
        for (const auto& [node, end] : starts_)
            total_ += end.release * end.chunks + earliest(topology_.out_links(node), end.chunks);
        for (const auto& [node, end] : arrivals_) total_ += earliest(topology_.in_links(node), end.chunks);
        if (Wide{value.count() - 1} * chunks_ >= total_) {
            return fmt::format("{} chunks spend {} ticks in sum, which fits into {} each", text_of(chunks_),
                               text_of(total_), value.count() - 1);
        }
        return std::nullopt;
    }

  private:
    struct End {
        Wide chunks = 0, release = kNever;
    };

    [[nodiscard]] SegmentPaths paths(NodeId from, CollectiveId collective) const {
        std::vector<Wide> start(topology_.nodes(), kNever);
        start[from.index()] = 0;
        return {instance_,
                sum_.bytes,
                Direction::Forwards,
                start,
                [this, collective](NodeId node) { return instance_.may_carry(node, collective); },
                times_of_segments(instance_)};
    }

    /// The sum of the earliest ticks at which the links can have so many transfers, each at a tick of its own
    /// per busy time: of all multiples of the busy times up to a limit, and some at the limit itself.
    [[nodiscard]] Wide earliest(std::span<const LinkId> links, Wide chunks) const {
        if (links.empty()) return 0;
        const auto gap = [&](LinkId link) { return Wide{busy(instance_, link, sum_.bytes).count()}; };
        const auto slots_before = [&](Wide tick) {  // those at less than `tick`
            Wide count = 0;
            for (const LinkId link : links) count += tick <= 0 ? Wide{0} : (tick - 1) / gap(link) + 1;
            return count;
        };
        Wide low = 0, high = 1;
        while (slots_before(high) < chunks) high *= 2;
        while (high - low > 1) {  // slots_before(low) < chunks <= slots_before(high)
            const Wide middle = (low + high) / 2;
            (slots_before(middle) < chunks ? low : high) = middle;
        }
        Wide sum = (chunks - slots_before(low)) * low;
        for (const LinkId link : links) {
            const Wide count = low <= 0 ? Wide{0} : (low - 1) / gap(link) + 1;
            sum += gap(link) * (count * (count - 1) / 2);
        }
        return sum;
    }

    const Instance& instance_;
    const Topology& topology_;
    const SumCertificate& sum_;
    Wide total_ = 0, chunks_ = 0;
    std::map<NodeId, End> starts_, arrivals_;
};

}  // namespace

Objection check_sum(const Instance& instance, const SumCertificate& sum, Ticks value) {
    expects(value > Ticks(0));
    return SumCheck(instance, sum)(value);
}

}  // namespace tutti::verify

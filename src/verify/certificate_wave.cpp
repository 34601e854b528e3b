// A wave: chunks cross the border of a set of NPUs, and what has not crossed before the split still has all
// of its work inside to do. Forwards: every receiver inside needs an arrival after that. Backwards: every
// holder inside must have started a message by the time at which its chunk leaves the set for the last time.
//
// How many chunks can cross is bounded twice: by the links over which messages end at NPUs inside (backwards:
// begin there), and by the links between the two sides. The smaller number counts.
//
// Or all messages are counted that the chunks need inside. Those that end before the split are crossings
// again, or come from an NPU inside that a chunk has reached before. A transfer between the two sides is only
// one message's if no switch copies (backwards: adds).

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tutti::verify {
namespace {

class WaveCheck {
  public:
    WaveCheck(const Instance& instance, const WaveCertificate& wave)
        : instance_(instance),
          topology_(instance.topology()),
          wave_(wave),
          inside_(topology_.nodes(), false),
          far_(topology_.nodes(), kNever),
          near_(topology_.nodes(), kNever) {
        for (const NodeId node : wave.inside) inside_[node.index()] = true;
    }

    Objection operator()(Ticks value) {
        count();
        carriers_ = carriers(instance_, collectives_);
        if (chunks_ == 0) return "no chunk has to cross the border of the set";
        find_times();
        const auto left = objection_to_what_is_left(value.count() - 1);
        return left ? objection_to_all(value.count() - 1, *left) : std::nullopt;
    }

  private:
    /// The last link of messages to an NPU inside (backwards: the first): the least time from outside and
    /// from an NPU inside, and how far apart messages are, and those from inside.
    struct Port {
        Wide outer, inner, busy, inner_busy;
    };

    [[nodiscard]] bool is_inside(NodeId node) const { return inside_[node.index()]; }
    [[nodiscard]] bool is_inside_npu(NodeId node) const { return topology_.is_npu(node) && is_inside(node); }
    [[nodiscard]] bool carries(NodeId node) const { return carriers_[node.index()]; }

    /// The chunks that cross at the split or later.
    [[nodiscard]] Objection objection_to_what_is_left(Wide end) const {
        const Wide crossed = std::min(crossings(outer_ports_), crossings(border_));
        if (crossed >= chunks_)
            return fmt::format("all {} chunks may have crossed before the split", text_of(chunks_));
        Wide left = chunks_ - crossed, needed = 0, possible = 0;
        for (const auto& [ends, chunks] : chunks_by_ends_) {
            const Wide some = std::min(left, chunks);
            needed += some * ends;
            left -= some;
        }
        const Wide split = wave_.split.count();
        for (const Port& port : ports_)
            possible += room(std::min(std::max(split, port.outer), split + port.inner), port.busy, end);
        if (possible < needed) return std::nullopt;
        return fmt::format("by tick {} the links of the set's NPUs manage {} messages, and {} are needed",
                           text_of(end), text_of(possible), text_of(needed));
    }

    /// The messages that end (backwards, in time left: begin) at the split or later. `otherwise` is what to
    /// say if they prove nothing.
    [[nodiscard]] Objection objection_to_all(Wide end, const std::string& otherwise) const {
        const Wide split = wave_.split.count();
        Wide entry = kNever, needed = 0, possible = crossings(outer_ports_);
        if (!crossings_divide()) possible = std::min(possible, crossings(border_));
        for (const Port& port : ports_) entry = std::min(entry, port.outer);
        for (const auto& [ends, chunks] : chunks_by_ends_) needed += ends * chunks;
        for (const Port& port : ports_) {
            const Wide passed_on = entry + port.inner;
            if (port.inner < kNever)
                possible += LinkUse{passed_on, 0, port.inner_busy}.transfers_by(split - 1);
            possible += room(std::max(split, std::min(port.outer, passed_on)), port.busy, end);
        }
        return possible < needed ? std::nullopt : Objection(otherwise);
    }

    /// Whether several messages can share one transfer over the border.
    [[nodiscard]] bool crossings_divide() const {
        for (const SwitchRule& rule : topology_.parts().switches) {
            if (wave_.backwards ? rule.reduce : rule.copy) return true;
        }
        return false;
    }

    /// How many messages a port manages by `end`, none before `since`.
    [[nodiscard]] Wide room(Wide since, Wide busy, Wide end) const {
        return LinkUse{since, wave_.backwards ? release_ : Wide{0}, busy}.transfers_by(end);
    }

    void count() {
        for (const Need& need : needs_of(instance_)) {
            const Demand demand = instance_.demand(need.chunk);
            if (demand.bytes < wave_.bytes || (wave_.backwards && !demand.reduction)) continue;
            const auto near = wave_.backwards ? demand.holders : demand.receivers;
            const auto far = wave_.backwards ? demand.receivers : demand.holders;
            Wide near_inside = 0, far_outside = 0;
            for (const NodeId node : near) near_inside += is_inside(node) ? 1 : 0;
            for (const NodeId node : far) far_outside += is_inside(node) ? 0 : 1;
            const Wide all{static_cast<std::int64_t>(far.size())};
            if (near_inside == 0 || far_outside == 0 || (!demand.reduction && far_outside < all)) continue;
            const Wide release = instance_.release(need.chunk).count();
            release_ = std::min(release_, release);
            for (const NodeId node : far) {
                if (is_inside(node)) continue;
                const Wide since =
                    wave_.backwards ? 0 : instance_.release_of(demand.collective, node).count();
                far_[node.index()] = std::min(far_[node.index()], since);
            }
            chunks_ += need.count;
            chunks_by_ends_[near_inside] += need.count;
            collectives_.insert(demand.collective);
        }
    }

    void find_times() {
        for (std::size_t v = 0; v < topology_.npus(); ++v) {
            if (inside_[v] && carries(NodeId(v))) near_[v] = 0;
        }
        const Direction on = wave_.backwards ? Direction::Backwards : Direction::Forwards;
        const Direction back = wave_.backwards ? Direction::Forwards : Direction::Backwards;
        const auto paths = [&](Direction direction, const std::vector<Wide>& start, bool through_inside) {
            return SegmentPaths(
                instance_, wave_.bytes, direction, start,
                [this, through_inside](NodeId node) {
                    return carries(node) && (through_inside || !is_inside_npu(node));
                },
                times_of_segments(instance_));
        };
        const SegmentPaths outer = paths(on, far_, false);
        const SegmentPaths inner = paths(on, near_, true);
        const SegmentPaths onward = paths(back, near_, true);
        for (std::size_t e = 0; e < topology_.links().size(); ++e) {
            const Link& link = topology_.link(LinkId(e));
            if (!carries(link.src) || !carries(link.dst)) continue;
            const NodeId end = wave_.backwards ? link.src : link.dst;
            const NodeId begin = wave_.backwards ? link.dst : link.src;
            if (is_inside(end) && !is_inside(begin)) add_border(LinkId(e), outer, onward);
            if (is_inside_npu(end)) add_port(LinkId(e), outer, inner);
        }
    }

    [[nodiscard]] Wide busy_for(LinkId link, Ticks pace) const { return instance_.busy(link, pace).count(); }

    /// Times before and after are taken apart: the first and the last transfer may be of different paces.
    void add_border(LinkId link, const SegmentPaths& outer, const SegmentPaths& onward) {
        LinkUse use;
        Ticks least = Ticks::max();
        for (const auto& there : outer.before(link)) {
            for (const auto& here : onward.before(link)) {
                if (there.pace != here.pace) continue;
                use.first = std::min(use.first, there.price);
                use.last = std::min(use.last, here.price + instance_.alpha(link).count());
                least = std::min(least, there.pace);
            }
        }
        if (least == Ticks::max()) return;
        use.busy = busy_for(link, least);
        border_.push_back(use);
    }

    void add_port(LinkId link, const SegmentPaths& outer, const SegmentPaths& inner) {
        const auto [outer_time, outer_pace] = outer.whole(link);
        const auto [inner_time, inner_pace] = inner.whole(link);
        if (outer_time < kNever) outer_ports_.push_back({outer_time, 0, busy_for(link, outer_pace)});
        if (outer_time >= kNever && inner_time >= kNever) return;
        ports_.push_back({outer_time, inner_time, busy_for(link, std::min(outer_pace, inner_pace)),
                          inner_time < kNever ? busy_for(link, inner_pace) : kNever});
    }

    [[nodiscard]] Wide crossings(const std::vector<LinkUse>& links) const {
        Wide sum = 0;
        for (const LinkUse& use : links) sum += use.transfers_by(wave_.split.count() - 1);
        return sum;
    }

    const Instance& instance_;
    const Topology& topology_;
    const WaveCertificate& wave_;
    std::vector<bool> inside_;
    std::vector<Wide> far_, near_;  ///< per node: from when it counts as a start, kNever if not
    Wide chunks_ = 0, release_ = kNever;
    std::map<Wide, Wide> chunks_by_ends_;  ///< by the number of receivers (backwards: holders) inside
    std::set<CollectiveId> collectives_;
    std::vector<bool> carriers_;  ///< per node: whether it may hold any of the chunks
    std::vector<LinkUse> outer_ports_, border_;
    std::vector<Port> ports_;
};

}  // namespace

Objection check_wave(const Instance& instance, const WaveCertificate& wave, Ticks value) {
    expects(value > Ticks(0));
    for (const NodeId node : wave.inside) {
        if (node.index() >= instance.topology().nodes())
            return fmt::format("there is no node {}", node.value());
    }
    if (wave.split < Ticks(0)) return "the split is negative";
    return WaveCheck(instance, wave)(value);
}

}  // namespace tutti::verify

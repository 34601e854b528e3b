// Contributions: where no switch adds, an NPU's value of a chunk has no more contributions than its own and
// those in the messages that have arrived, and a message has no more than its sender had when it started. So
// how many any NPU can have grows only so fast, and one receiver cannot have got all that it needs before the
// sum over its arrivals allows it. The latest possible arrivals carry the most: counted back from the end,
// one for each gap of a port.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tutti::verify {
namespace {

/// Beyond this a table would take too much memory.
constexpr std::size_t kMostEntries = 4'000'000;

class ContributionsCheck {
  public:
    ContributionsCheck(const Instance& instance, const ContributionsCertificate& claim)
        : instance_(instance), topology_(instance.topology()), claim_(claim) {}

    Objection operator()(Ticks value) {
        count();
        carriers_ = carriers(instance_, collectives_);
        if (needed_ == 0) return "the receiver needs no contribution of others";
        for (std::size_t v = 0; v < topology_.npus(); ++v) {
            if (!carries(NodeId(v))) continue;
            std::vector<Port> ports = ports_of(NodeId(v));
            if (NodeId(v) == claim_.receiver) own_ = ports;
            std::ranges::sort(ports, {}, &Port::gap);
            fastest_.resize(std::max(fastest_.size(), ports.size()), Port{kNever, kNever});
            for (std::size_t i = 0; i < ports.size(); ++i) {
                fastest_[i].gap = std::min(fastest_[i].gap, ports[i].gap);
                message_ = std::min(message_, ports[i].message);
            }
        }
        const Wide end = value.count() - 1 - release_;
        Wide received = 0;
        for (const Port& port : own_) {
            for (Wide start = end - port.message; start >= 0 && received < needed_; start -= port.gap) {
                if (is_full(start)) {
                    // All earlier ones up to then carry as many; count them at once.
                    const Wide many = (start - *full_) / port.gap + 1;
                    received += many * most_useful_;
                    start -= (many - 1) * port.gap;
                } else {
                    received += std::min(most_useful_, known_by(start));
                }
            }
        }
        if (known_.size() >= kMostEntries) return "it takes too long to check";
        if (received >= needed_) {
            return fmt::format("by tick {} the receiver may have all {} contributions", value.count() - 1,
                               text_of(needed_));
        }
        return std::nullopt;
    }

  private:
    struct Port {
        Wide message, gap;
    };

    [[nodiscard]] bool carries(NodeId node) const { return carriers_[node.index()]; }

    void count() {
        for (const Need& need : needs_of(instance_)) {
            const Demand demand = instance_.demand(need.chunk);
            if (!demand.reduction || demand.bytes < claim_.bytes) continue;
            // Whoever carries chunks of this kind may be on the way of what the receiver gets.
            collectives_.insert(demand.collective);
            if (!std::ranges::binary_search(demand.receivers, claim_.receiver)) continue;
            Wide others = 0;
            for (const NodeId holder : demand.holders) others += holder != claim_.receiver ? 1 : 0;
            if (others == 0) continue;
            needed_ += others * need.count;
            most_useful_ = std::max(most_useful_, others);
            most_ = std::max(most_, Wide{static_cast<std::int64_t>(demand.holders.size())});
            release_ = std::min(release_, Wide{instance_.release(need.chunk).count()});
        }
    }

    /// The links over which messages of other NPUs end at this one.
    [[nodiscard]] std::vector<Port> ports_of(NodeId npu) const {
        std::vector<Wide> start(topology_.nodes(), kNever);
        for (std::size_t v = 0; v < topology_.npus(); ++v) {
            if (NodeId(v) != npu && carries(NodeId(v))) start[v] = 0;
        }
        const SegmentPaths paths(
            instance_, claim_.bytes, Direction::Forwards, start,
            [this](NodeId node) { return topology_.is_switch(node) && carries(node); },
            times_of_segments(instance_));
        std::vector<Port> ports;
        for (const LinkId link : topology_.in_links(npu)) {
            const auto [time, pace] = paths.whole(link);
            if (time < kNever) ports.push_back({time, instance_.busy(link, pace).count()});
        }
        return ports;
    }

    [[nodiscard]] bool is_full(Wide time) {
        if (!full_ || time < *full_) {
            if (known_by(time) < most_) return false;
            full_ = full_ ? std::min(*full_, time) : time;
        }
        return true;
    }

    /// The most contributions to one chunk that any NPU can have so long after the release.
    Wide known_by(Wide time) {
        if (time < 0) return 0;
        if (time < message_) return 1;
        if (full_ && time >= *full_) return most_;
        if (const auto found = known_.find(time); found != known_.end()) return found->second;
        if (known_.size() >= kMostEntries) return most_;
        // A chain of messages, each with one contribution more, is the least that is possible; so this ends.
        if (time / message_ + 1 >= most_) return most_;
        Wide sum = 1;
        for (const Port& port : fastest_) {
            for (Wide start = time - message_; start >= 0 && sum < most_; start -= port.gap)
                sum += known_by(start);
        }
        return known_[time] = std::min(sum, most_);
    }

    const Instance& instance_;
    const Topology& topology_;
    const ContributionsCertificate& claim_;
    Wide needed_ = 0, most_useful_ = 0, most_ = 0, release_ = kNever, message_ = kNever;
    std::set<CollectiveId> collectives_;
    std::vector<bool> carriers_;  ///< per node: whether it may hold any of the chunks
    std::vector<Port> own_, fastest_;
    std::map<Wide, Wide> known_;
    std::optional<Wide> full_;  ///< from then on everybody may know everything
};

}  // namespace

Objection check_contributions(const Instance& instance, const ContributionsCertificate& contributions,
                              Ticks value) {
    expects(value > Ticks(0));
    const Topology& topology = instance.topology();
    if (contributions.receiver.index() >= topology.npus())
        return fmt::format("there is no NPU {}", contributions.receiver.value());
    for (const SwitchRule& rule : topology.parts().switches) {
        if (rule.reduce) return "a switch adds";
    }
    return ContributionsCheck(instance, contributions)(value);
}

}  // namespace tutti::verify

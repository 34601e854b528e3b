// Contributions: where no switch adds, an NPU's value of a chunk has no more contributions than its own and
// those in the messages that have arrived, and a message has no more than its sender had when it started. So
// how many any NPU can have grows only so fast, and one receiver cannot have got all that it needs before the
// sum over its arrivals allows it. The latest possible arrivals carry the most: counted back from the end,
// one for each gap of a port.

#include "verify/certificate_contributions.hpp"
#include "core/expects.hpp"
#include "verify/certificate.hpp"
#include "verify/certificate_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tutti::verify {
namespace {

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
            const auto ends =
                message_ends(instance_, claim_.bytes, carriers_, NodeId(v), Direction::Forwards);
            if (NodeId(v) == claim_.receiver) own_ = ends;
            known_.add(ends);
        }
        known_.limit(most_);
        const Wide end = value.count() - 1 - release_;
        Wide received = 0;
        for (const MessageEnd& port : own_) {
            for (Wide start = end - port.message; start >= 0 && received < needed_; start -= port.gap) {
                if (known_.all_by(start)) {
                    // All earlier ones up to then carry as many; count them at once.
                    const Wide many = (start - *known_.full()) / port.gap + 1;
                    received += many * most_useful_;
                    start -= (many - 1) * port.gap;
                } else {
                    received += std::min(most_useful_, known_.by(start));
                }
            }
        }
        if (known_.gave_up()) return std::string(kTooLongToCheck);
        if (received >= needed_) {
            return fmt::format("by tick {} the receiver may have all {} contributions", value.count() - 1,
                               text_of(needed_));
        }
        return std::nullopt;
    }

  private:
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

    const Instance& instance_;
    const Topology& topology_;
    const ContributionsCertificate& claim_;
    Wide needed_ = 0, most_useful_ = 0, most_ = 0, release_ = kNever;
    std::set<CollectiveId> collectives_;
    std::vector<bool> carriers_;  ///< per node: whether it may hold any of the chunks
    std::vector<MessageEnd> own_;
    KnownContributions known_;
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

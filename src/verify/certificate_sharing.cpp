// Shared contributions: what all NPUs together can pass on. What a receiver keeps of a chunk are sets that do
// not overlap, and each gains it the contributions in it but its own. A message that starts before the split
// gains what anybody can have had by then. A later one gains at most what its sender has been told about this
// chunk, plus the sender's own; less the receiver's own, if the sender has been told that. A sender tells one
// receiver the same contribution to no avail twice, and all that it has been told, about all chunks, is no
// more than what has come over its links. So for each sender a knapsack: chunks, for each of which it was
// told `known` contributions and tells `told` receivers.

#include "core/expects.hpp"
#include "verify/certificate.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_contributions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::verify {
namespace {

/// Beyond this a table would take too long.
constexpr Wide kMostSteps = 200'000'000;

/// Arrivals (or starts) up to `last`, none before `first`, a gap apart.
Wide count(Wide first, Wide last, Wide gap) { return last < first ? 0 : (last - first) / gap + 1; }

class SharingCheck {
  public:
    SharingCheck(const Instance& instance, const SharedContributionsCertificate& claim)
        : instance_(instance), topology_(instance.topology()), claim_(claim) {}

    Objection operator()(Ticks value) {
        count_needs();
        if (needed_ == 0) return "nobody needs contributions of others";
        if (claim_.split.count() <= release_) return "the split is not after the first release";
        carriers_ = carriers(instance_, collectives_);
        for (std::size_t v = 0; v < topology_.npus(); ++v) {
            if (!carriers_[v]) {
                in_.emplace_back();
                out_.emplace_back();
                continue;
            }
            in_.push_back(ends_of(NodeId(v), Direction::Forwards));
            out_.push_back(ends_of(NodeId(v), Direction::Backwards));
            known_.add(in_.back());
            everybody_wants_ = everybody_wants_ && wants_all_[v];
        }
        known_.limit(most_);
        split_ = claim_.split.count() - release_;
        early_ = std::min(most_useful_, known_.by(split_ - 1));
        end_ = value.count() - 1 - release_;

        Wide gained = 0;
        for (std::size_t v = 0; v < topology_.npus(); ++v) gained += early(v);
        for (std::size_t v = 0; v < topology_.npus() && gained < needed_; ++v) {
            const auto more = late(v);
            if (!more) return std::string(kTooLongToCheck);
            gained += *more;
        }
        if (known_.gave_up()) return std::string(kTooLongToCheck);
        if (gained >= needed_) {
            return fmt::format("by tick {} all {} contributions may have been passed on", value.count() - 1,
                               text_of(needed_));
        }
        return std::nullopt;
    }

  private:
    [[nodiscard]] std::vector<MessageEnd> ends_of(NodeId npu, Direction direction) const {
        return message_ends(instance_, claim_.bytes, carriers_, npu, direction);
    }

    void count_needs() {
        wants_any_.resize(topology_.npus(), false);
        wants_all_.resize(topology_.npus(), true);
        for (const Need& need : needs_of(instance_)) {
            const Demand demand = instance_.demand(need.chunk);
            if (!demand.reduction || demand.bytes < claim_.bytes) continue;
            collectives_.insert(demand.collective);
            std::set<NodeId> members(demand.holders.begin(), demand.holders.end());
            const Wide holders{static_cast<std::int64_t>(members.size())};
            std::vector<bool> wants(topology_.npus(), false);
            for (const NodeId receiver : demand.receivers) {
                wants[receiver.index()] = wants_any_[receiver.index()] = true;
                const Wide others = holders - (std::ranges::binary_search(demand.holders, receiver) ? 1 : 0);
                needed_ += others * need.count;
                most_useful_ = std::max(most_useful_, others);
                members.insert(receiver);
            }
            for (std::size_t v = 0; v < wants.size(); ++v) wants_all_[v] = wants_all_[v] && wants[v];
            chunks_ += need.count;
            most_ = std::max(most_, holders);
            most_receivers_ =
                std::max(most_receivers_, Wide{static_cast<std::int64_t>(demand.receivers.size())});
            most_members_ = std::max(most_members_, Wide{static_cast<std::int64_t>(members.size())});
            release_ = std::min(release_, Wide{instance_.release(need.chunk).count()});
        }
    }

    /// What comes over a link whose last message starts then. Enough is enough.
    Wide carried(Wide last, Wide gap, Wide enough) {
        Wide sum = 0;
        while (last >= 0 && sum < enough) {
            const Wide each = known_.by(last);
            // Below the first message time everything carries one.
            const Wide many = each == 1 ? count(0, last, gap) : 1;
            sum += each * many;
            last -= many * gap;
        }
        return sum;
    }

    /// What an NPU gains if all late messages to it are worth an early one.
    Wide early(std::size_t npu) {
        Wide sum = 0;
        if (!wants_any_[npu]) return sum;
        for (const MessageEnd& port : in_[npu]) {
            const Wide last = end_ - port.message;
            const Wide late = count(split_, last, port.gap);
            sum += late * early_ + carried(last - late * port.gap, port.gap, needed_);
        }
        return sum;
    }

    /// What late messages of an NPU are worth more than that; none if that takes too long.
    std::optional<Wide> late(std::size_t npu) {
        Wide sent = 0, told = 0, way = kNever;
        const Wide most_told = most_receivers_ - (everybody_wants_ ? 1 : 0);
        for (const MessageEnd& port : out_[npu]) {
            sent += count(split_, end_ - port.message, port.gap);
            way = std::min(way, port.message);
        }
        sent = std::min(sent, chunks_ * most_told);
        const Wide useful = (most_ - 1) * std::min(chunks_, sent);
        for (const MessageEnd& port : in_[npu]) told += carried(end_ - way - port.message, port.gap, useful);
        told = std::min(told, useful);
        if (told == 0 || sent == 0) return 0;
        return packed(told, sent, most_told);
    }

    /// The knapsack: one chunk after the other.
    std::optional<Wide> packed(Wide room, Wide messages, Wide most_told) {
        const auto [place, fresh] = packed_.try_emplace({room, messages}, 0);
        if (!fresh) return place->second;
        steps_ += room * messages * (most_ - 1) * most_told;
        if (steps_ > kMostSteps) return std::nullopt;
        const auto wide = static_cast<std::size_t>(messages) + 1;
        std::vector<std::int64_t> best((static_cast<std::size_t>(room) + 1) * wide, 0);
        for (Wide known = 1; known < std::min(most_, room + 1); ++known) {
            for (Wide to = 1; to <= std::min(most_told, messages); ++to) {
                const Wide worth = to * (known - early_) + std::min(to, most_members_ - 1 - known);
                if (worth <= 0) continue;
                const std::size_t step =
                    static_cast<std::size_t>(known) * wide + static_cast<std::size_t>(to);
                // Rising, so that several chunks may be alike.
                for (auto r = static_cast<std::size_t>(known); r <= static_cast<std::size_t>(room); ++r) {
                    for (auto m = static_cast<std::size_t>(to); m < wide; ++m) {
                        auto& entry = best[r * wide + m];
                        entry = std::max(entry, best[r * wide + m - step] + static_cast<std::int64_t>(worth));
                    }
                }
            }
        }
        return place->second = best.back();
    }

    const Instance& instance_;
    const Topology& topology_;
    const SharedContributionsCertificate& claim_;
    Wide needed_ = 0, chunks_ = 0, release_ = kNever;
    Wide most_ = 0, most_useful_ = 0, most_receivers_ = 0, most_members_ = 0;  ///< of one chunk
    Wide split_ = 0, early_ = 0, end_ = 0;                                     ///< after the release
    std::set<CollectiveId> collectives_;
    std::vector<bool> carriers_;               ///< per node: whether it may hold any of the chunks
    std::vector<bool> wants_any_, wants_all_;  ///< per NPU
    bool everybody_wants_ = true;              ///< every carrier every chunk
    std::vector<std::vector<MessageEnd>> in_, out_;
    KnownContributions known_;
    std::map<std::pair<Wide, Wide>, Wide> packed_;
    Wide steps_ = 0;
};

}  // namespace

Objection check_shared_contributions(const Instance& instance, const SharedContributionsCertificate& shared,
                                     Ticks value) {
    expects(value > Ticks(0));
    for (const SwitchRule& rule : instance.topology().parts().switches) {
        if (rule.reduce) return "a switch adds";
        if (rule.copy) return "a switch copies";
    }
    return SharingCheck(instance, shared)(value);
}

}  // namespace tutti::verify

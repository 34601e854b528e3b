// What all NPUs together can pass on. `contributions` looks at one receiver and lets every message carry as
// much as its sender could have received. But who has received contributions to one chunk has not received
// others in their place, and can give a sum only once to each receiver.
//
// A receiver x has the whole sum of a chunk in the end. Take the last `copy` to it and all that was added
// after that, or its own contribution and all that was added: these sets do not overlap and together are all
// holders. So with the **gain** of a message to x = its contributions without that of x, the gains of what x
// keeps add up to the number of holders other than x; over all chunks and receivers: `needed`.
//
// Messages that start before the split gain no more than W(split - 1). For those that start later, let U be
// all contributions to a chunk that have come to the sender u by its last start, and its own. The sizes of
// these sets without u's own add up, over all chunks, to no more than what has come to u: sum of W over
// arrivals. To one receiver x, the messages of u about this chunk gain together no more than |U without x|,
// however many they are. With k = |U without u|, m receivers gain at most k + 1 each, but one less those
// among the k; if r + 1 NPUs hold or want the chunk, at most r - k are not among them:
//
//     gain(k, m) = m k + min(m, r - k).
//
// (A sender that has no contribution of its own gains no more than this either.) What u can do with its late
// messages is thus a knapsack over chunks: sum of k <= what has come, sum of m <= what it can send. Each late
// arrival might be an early one instead, so only what is above W(split - 1) counts.
//
// This tells where sums must be passed on as soon as they can be: all-reduces of few, large chunks, where a
// few latencies are missing to a full load. Beyond that everything fits at once.
//
// Complexity: two searches per NPU, then tables of at most kMostTableWork steps for each split.

#include "bounds/contribution_sums.hpp"
#include "bounds/families.hpp"
#include "core/least_tick.hpp"

#include <ranges>
#include <set>

namespace tutti::bounds {
namespace {

constexpr std::int64_t kMostTableWork = 20'000'000;
constexpr std::size_t kMostSplits = 4;

/// What is to be gained.
struct Needs {
    std::int64_t needed = 0;
    std::int64_t chunks = 0;
    std::int64_t holders = 0;    ///< of one chunk, at most
    std::int64_t others = 0;     ///< other than one receiver of it, at most
    std::int64_t receivers = 0;  ///< of one chunk, at most
    std::int64_t members = 0;    ///< who hold or want one chunk, at most
    Ticks release = kNever;
    std::vector<bool> receives;  ///< per NPU
    std::set<const Passage*> passages;
};

Needs needs_of(const Traffic& traffic, Bytes bytes) {
    Needs needs;
    needs.receives.resize(traffic.topology().npus());
    for (const ChunkClass& c : traffic.classes()) {
        const Demand demand = traffic.demand(c);
        if (!demand.reduction || demand.bytes < bytes) continue;
        const auto holders = std::ssize(demand.holders), receivers = std::ssize(demand.receivers);
        std::int64_t both = 0;
        for (const NodeId npu : demand.receivers) {
            needs.receives[npu.index()] = true;
            both += std::ranges::binary_search(demand.holders, npu) ? 1 : 0;
        }
        needs.needed += (holders * receivers - both) * static_cast<std::int64_t>(c.count);
        needs.chunks += static_cast<std::int64_t>(c.count);
        needs.holders = std::max<std::int64_t>(needs.holders, holders);
        needs.others = std::max<std::int64_t>(needs.others, both < receivers ? holders : holders - 1);
        needs.receivers = std::max<std::int64_t>(needs.receivers, receivers);
        needs.members = std::max<std::int64_t>(needs.members, holders + receivers - both);
        needs.release = std::min(needs.release, traffic.release(c));
        needs.passages.insert(&traffic.passage(c));
    }
    return needs;
}

/// The most that late messages of one NPU gain above what as many early ones would.
class Surplus {
  public:
    /// `most_known`, `most_told`: the largest k and m of one chunk; `others`: r; `early`: what an early
    /// message gains.
    Surplus(std::int64_t most_known, std::int64_t most_told, std::int64_t others, std::int64_t early)
        : most_known_(most_known), most_told_(most_told), others_(others), early_(early) {}

    [[nodiscard]] std::int64_t of_chunk(std::int64_t known, std::int64_t told) const {
        return told * (known - early_) + std::min(told, others_ - known);
    }

    /// Something that can be attained, without a table: whole sums, and one more with what is left.
    [[nodiscard]] std::int64_t at_least(std::int64_t come, std::int64_t sent) const {
        const std::int64_t whole = std::min(come / most_known_, sent / most_told_);
        const std::int64_t known = std::min(come - whole * most_known_, most_known_);
        const std::int64_t told = std::min(sent - whole * most_told_, most_told_);
        return std::max<std::int64_t>(whole * of_chunk(most_known_, most_told_), 0) +
               std::max<std::int64_t>(of_chunk(known, told), 0);
    }

    /// None if that takes too long.
    std::optional<std::int64_t> at_most(std::int64_t come, std::int64_t sent) {
        if (come > come_ || sent > sent_) {
            const std::int64_t wide = std::max(come, come_), high = std::max(sent, sent_);
            const std::int64_t limit = work_left_ / (most_known_ * most_told_);
            if (wide + 1 > limit || high + 1 > limit / (wide + 1)) return std::nullopt;
            work_left_ -= (wide + 1) * (high + 1) * most_known_ * most_told_;
            fill(wide, high);
        }
        return best_[place(come, sent)];
    }

  private:
    [[nodiscard]] std::size_t place(std::int64_t come, std::int64_t sent) const {
        return static_cast<std::size_t>(come * (sent_ + 1) + sent);
    }

    void fill(std::int64_t wide, std::int64_t high) {
        come_ = wide;
        sent_ = high;
        best_.assign(place(come_, sent_) + 1, 0);
        for (std::int64_t b = 1; b <= come_; ++b) {
            for (std::int64_t m = 1; m <= sent_; ++m) {
                std::int64_t best = 0;
                for (std::int64_t known = 1; known <= std::min(b, most_known_); ++known) {
                    for (std::int64_t told = 1; told <= std::min(m, most_told_); ++told)
                        best = std::max(best, best_[place(b - known, m - told)] + of_chunk(known, told));
                }
                best_[place(b, m)] = best;
            }
        }
    }

    std::int64_t most_known_, most_told_, others_, early_;
    std::int64_t come_ = -1, sent_ = -1;  ///< of the table
    std::int64_t work_left_ = kMostTableWork;
    std::vector<std::int64_t> best_;
};

class Sharing {
  public:
    Sharing(const Traffic& traffic, Bytes bytes)
        : topology_(traffic.topology()), bytes_(bytes), needs_(needs_of(traffic, bytes)) {
        if (needs_.needed == 0) return;
        const PacedNetwork network(traffic.instance(), bytes);
        const auto carry = carriers(topology_, {needs_.passages.begin(), needs_.passages.end()});
        in_ = message_ports(network, carry, Direction::Forwards);
        out_ = message_ports(network, carry, Direction::Backwards);
        fastest_ = FastestPorts(in_);
        // Who wants a chunk does not tell it to itself.
        const bool all = std::ranges::all_of(std::views::iota(std::size_t{0}, topology_.npus()),
                                             [&](std::size_t n) { return !carry[n] || needs_.receives[n]; });
        most_told_ = needs_.receivers - (all && one_set(traffic) ? 1 : 0);
    }

    void improve(Bound& best) {
        if (needs_.needed == 0 || needs_.holders < 2 || most_told_ < 1 || fastest_.gaps.empty()) return;
        std::size_t work_left = Sums::kMostEntries;
        Sums sums(fastest_, needs_.holders, work_left);
        for (const std::int64_t split : splits()) {
            const std::int64_t early = std::min(needs_.others, sums.at(split - 1));
            if (early == needs_.others) return;
            Surplus surplus(needs_.holders - 1, most_told_, needs_.members - 1, early);
            const auto enough = [&](Ticks end) { return gained(end.count(), split, early, sums, surplus); };
            const Ticks more = std::max(Ticks(0), best.value - needs_.release + Ticks(1));
            if (enough(more)) continue;
            const auto end = least_tick(enough, more);
            if (!end) continue;
            best = {"contributions", needs_.release + *end,
                    SharedContributionsCertificate{needs_.release + Ticks(split), bytes_}, 0};
        }
    }

  private:
    /// What has come to an NPU, and how many late messages it can send.
    struct Late {
        std::int64_t come = 0, sent = 0;
    };

    /// Whether all counted chunks are wanted by the same NPUs.
    [[nodiscard]] bool one_set(const Traffic& traffic) const {
        return std::ranges::all_of(traffic.classes(), [&](const ChunkClass& c) {
            const Demand demand = traffic.demand(c);
            return !demand.reduction || demand.bytes < bytes_ ||
                   std::ssize(demand.receivers) == std::ranges::count(needs_.receives, true);
        });
    }

    /// Where somebody can have more than before.
    [[nodiscard]] std::vector<std::int64_t> splits() const {
        std::set<std::int64_t> times;
        for (const std::int64_t gap : fastest_.gaps) {
            for (std::size_t i = 0; i < kMostSplits; ++i)
                times.insert(fastest_.lambda + static_cast<std::int64_t>(i) * gap);
        }
        std::vector<std::int64_t> first;
        for (const std::int64_t time : times) {
            if (first.size() < kMostSplits) first.push_back(time);
        }
        return first;
    }

    /// How many starts there are from `first` to `last`.
    static std::int64_t starts(std::int64_t first, std::int64_t last, std::int64_t gap) {
        return last < first ? 0 : (last - first) / gap + 1;
    }

    /// What messages over a port carry if the last of them starts then; no more than `enough` matters.
    [[nodiscard]] std::int64_t carried(std::int64_t last, std::int64_t gap, Sums& sums,
                                       std::int64_t enough) const {
        std::int64_t sum = 0;
        for (; last >= fastest_.lambda && sum < enough; last -= gap) sum += sums.at(last);
        return sum + starts(0, last, gap);
    }

    /// Whether everybody can have got everything by then.
    [[nodiscard]] bool gained(std::int64_t end, std::int64_t split, std::int64_t early, Sums& sums,
                              Surplus& surplus) const {
        std::int64_t left = needs_.needed;
        for (std::size_t npu = 0; npu < in_.size(); ++npu) {
            if (!needs_.receives[npu]) continue;
            for (const MessagePort& port : in_[npu]) {
                const std::int64_t late = starts(split, end - port.time, port.gap);
                if (late >= left) return true;
                left -= late * early + carried(end - port.time - late * port.gap, port.gap, sums, left);
                if (left <= 0) return true;
            }
        }
        std::vector<Late> late;
        std::int64_t least = 0;
        for (std::size_t npu = 0; npu < out_.size(); ++npu) {
            const Late mine = late_of(npu, end, split, sums);
            if (mine.come == 0 || mine.sent == 0) continue;
            late.push_back(mine);
            least += surplus.at_least(mine.come, mine.sent);
        }
        if (least >= left) return true;
        for (const Late& mine : late) {
            const auto most = surplus.at_most(mine.come, mine.sent);
            if (!most) return true;
            left -= *most;
        }
        return left <= 0;
    }

    /// What has come to an NPU before its last message starts, and how many late ones it can start.
    [[nodiscard]] Late late_of(std::size_t npu, std::int64_t end, std::int64_t split, Sums& sums) const {
        Late late;
        std::int64_t quickest = INT64_MAX;
        for (const MessagePort& port : out_[npu]) {
            late.sent += starts(split, end - port.time, port.gap);
            quickest = std::min(quickest, port.time);
        }
        late.sent = std::min(late.sent, needs_.chunks * most_told_);
        const std::int64_t useful = (needs_.holders - 1) * std::min(needs_.chunks, late.sent);
        for (const MessagePort& port : in_[npu]) {
            if (late.come >= useful) break;
            late.come += carried(end - quickest - port.time, port.gap, sums, useful);
        }
        late.come = std::min(late.come, useful);
        return late;
    }

    const Topology& topology_;
    Bytes bytes_;
    Needs needs_;
    std::vector<std::vector<MessagePort>> in_, out_;  ///< per NPU
    FastestPorts fastest_;
    std::int64_t most_told_ = 0;  ///< receivers to whom one NPU can tell a chunk
};

}  // namespace

void improve_by_sharing(const Traffic& traffic, Bytes bytes, Bound& best) {
    Sharing(traffic, bytes).improve(best);
}

}  // namespace tutti::bounds

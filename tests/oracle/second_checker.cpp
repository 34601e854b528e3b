// A second reading of src/verify/README.md, to catch the first one's mistakes.
//
// The verifier streams: it keeps what is in flight and forgets the rest. This one holds all sends and looks
// at the whole of them as often as it likes. First it ties every send out of a cut-through switch to the
// inbound sends that feed it, which needs start times only. Along these ties, paces and busy times are plain
// graph searches, and overlaps are found by comparing all pairs. Then it plays the ticks at which anything
// happens, with an explicit set of contributions for each node and chunk, and an explicit list of copies,
// never shortened, for each switch and chunk. Buffers are counted afterwards from these lists.
//
// Where the README leaves the order open, this checker goes by link number, for sends as for arrivals.

#include "tests/oracle/second_checker.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tutti::oracle {
namespace {

using Value = std::set<NodeId>;

/// The one contribution of a plain chunk.
const Value kData{NodeId(0)};

struct Transfer {
    Send send;
    Link link;
    Ticks beta;
    std::vector<std::size_t> fed_by;  ///< source is cut-through: the inbound transfers it takes onward
    std::vector<std::size_t> feeds;   ///< destination is cut-through: the transfers that take it onward
    Ticks pace;
    Ticks arrival;
    Ticks free_again;               ///< when its link may carry the next one
    Value value;                    ///< what it brings; empty for one that brings nothing
    bool refused = false;           ///< V9 or V12: no inbound transfer to take onward
    bool waits_for_itself = false;  ///< or for one that does
    bool is_read = false;
};

/// A copy of a chunk at a switch, from its arrival to the end of the schedule.
struct Copy {
    Value value;
    Ticks arrival;
    std::optional<Ticks> last_left;
    std::size_t left_as = 0;  ///< counts departures, to find the copy that left last
};

class SecondChecker {
  public:
    SecondChecker(const Instance& instance, const Schedule& schedule)
        : instance_(instance), topology_(instance.topology()) {
        read(schedule);
        for (std::size_t s = topology_.npus(); s < topology_.nodes(); ++s) {
            if (topology_.rule(NodeId(s)).cut_through) tie(NodeId(s));
        }
        time_transfers();
        check_links();
        play();
        check_sums();
        check_buffers();
        check_demands();
        if (schedule.makespan != findings_.makespan) report(Rule::MakespanMismatch);
    }
    [[nodiscard]] Findings findings() const { return findings_; }

  private:
    using Place = std::pair<NodeId, ChunkId>;

    void report(Rule rule) { findings_.broken.insert(rule); }

    void read(const Schedule& schedule) {
        for (const Send& send : schedule.sends) {
            const bool chunk = send.chunk.index() < instance_.chunks();
            const bool link = send.link.index() < topology_.links().size();
            const bool start = send.start >= Ticks(0) && send.start <= kMaxStart;
            if (!chunk) report(Rule::UnknownChunk);
            if (!link) report(Rule::UnknownLink);
            if (!start) report(Rule::BadStart);
            if (!chunk || !link || !start) continue;
            Transfer transfer;
            transfer.send = send;
            transfer.link = topology_.link(send.link);
            transfer.beta = instance_.beta(send.link, send.chunk);
            transfers_.push_back(transfer);
        }
        std::ranges::sort(transfers_, [](const Transfer& a, const Transfer& b) {
            if (a.send.link != b.send.link) return a.send.link < b.send.link;
            if (a.send.start != b.send.start) return a.send.start < b.send.start;
            if (a.send.chunk != b.send.chunk) return a.send.chunk < b.send.chunk;
            return a.send.op < b.send.op;
        });
        for (const Transfer& transfer : transfers_) {
            const CollectiveId collective = instance_.demand(transfer.send.chunk).collective;
            if (!instance_.may_carry(transfer.link.src, collective)) report(Rule::RelayForbidden);
            if (!instance_.may_carry(transfer.link.dst, collective)) report(Rule::RelayForbidden);
            if (reduces_in_vain(transfer)) report(Rule::SwitchReduce);
        }
    }

    [[nodiscard]] bool reduces_in_vain(const Transfer& transfer) const {
        return transfer.send.op == Op::Reduce && topology_.is_switch(transfer.link.dst) &&
               !topology_.rule(transfer.link.dst).reduce;
    }

    /// Ties what leaves a cut-through switch to what comes in. All transfers of one chunk that are due at one
    /// tick are looked at together, in order of link number, and paired as the queue of another switch would
    /// pair them.
    void tie(NodeId crossbar) {
        struct Due {
            std::vector<std::vector<std::size_t>> in;  ///< what counts as one inbound transfer
            std::vector<std::size_t> out;
            std::optional<std::size_t> sum;  ///< the place in `in` of the added ones
        };
        const SwitchRule& rule = topology_.rule(crossbar);
        std::map<std::pair<ChunkId, Ticks>, Due> dues;
        for (std::size_t i = 0; i < transfers_.size(); ++i) {
            const Transfer& transfer = transfers_[i];
            if (transfer.link.src == crossbar)
                dues[{transfer.send.chunk, transfer.send.start}].out.push_back(i);
            if (transfer.link.dst != crossbar) continue;
            Due& due = dues[{transfer.send.chunk, transfer.send.start + transfer.link.wire.alpha}];
            if (rule.reduce && transfer.send.op == Op::Reduce && due.sum) {
                due.in[*due.sum].push_back(i);
                continue;
            }
            if (rule.reduce && transfer.send.op == Op::Reduce) due.sum = due.in.size();
            due.in.push_back({i});
        }
        for (const auto& [key, due] : dues) {
            if (due.sum) sums_.push_back(due.in[*due.sum]);
            for (std::size_t k = 0; k < due.out.size(); ++k) {
                if (due.in.empty() || (k >= due.in.size() && !rule.copy)) {
                    report(due.in.empty() ? Rule::CutThrough : Rule::SwitchCopy);
                    transfers_[due.out[k]].refused = true;
                    continue;
                }
                for (const std::size_t i : due.in[std::min(k, due.in.size() - 1)]) {
                    transfers_[due.out[k]].fed_by.push_back(i);
                    transfers_[i].feeds.push_back(due.out[k]);
                }
            }
            if (due.in.size() > due.out.size()) report(Rule::CutThrough);
        }
    }

    /// A transfer and all those that it can reach by `next`.
    [[nodiscard]] std::set<std::size_t> reached(std::size_t from,
                                                std::vector<std::size_t> Transfer::*next) const {
        std::set<std::size_t> seen{from};
        std::vector<std::size_t> todo{from};
        while (!todo.empty()) {
            const Transfer& transfer = transfers_[todo.back()];
            todo.pop_back();
            for (const std::size_t i : transfer.*next) {
                if (seen.insert(i).second) todo.push_back(i);
            }
        }
        return seen;
    }

    /// Zero-latency crossbars may feed each other in a circle.
    [[nodiscard]] bool is_in_cycle(std::size_t i) const {
        return std::ranges::any_of(transfers_[i].fed_by, [&](std::size_t before) {
            return reached(before, &Transfer::fed_by).contains(i);
        });
    }

    void time_transfers() {
        findings_.finish.resize(instance_.collectives().size());
        for (std::size_t i = 0; i < transfers_.size(); ++i) {
            for (const std::size_t before : reached(i, &Transfer::fed_by)) {
                transfers_[i].pace = std::max(transfers_[i].pace, transfers_[before].beta);
                transfers_[i].waits_for_itself |= is_in_cycle(before);
            }
        }
        for (std::size_t i = 0; i < transfers_.size(); ++i) {
            Transfer& transfer = transfers_[i];
            Ticks busy;
            for (const std::size_t behind : reached(i, &Transfer::feeds)) {
                busy = std::max(busy, transfers_[behind].pace);
            }
            const Ticks alpha = transfer.link.wire.alpha;
            transfer.arrival = transfer.send.start + alpha + transfer.pace;
            transfer.free_again = transfer.send.start + busy;
            if (topology_.busy() == Busy::AlphaPlusBeta) transfer.free_again += alpha;
            findings_.makespan = std::max(findings_.makespan, transfer.arrival);
            Ticks& finish = findings_.finish[instance_.demand(transfer.send.chunk).collective.index()];
            finish = std::max(finish, transfer.arrival);
        }
    }

    void check_links() {
        for (std::size_t i = 0; i < transfers_.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const Transfer &a = transfers_[i], &b = transfers_[j];
                if (a.send.link != b.send.link) continue;
                if (a.send.start < b.free_again && b.send.start < a.free_again) report(Rule::LinkOverlap);
            }
        }
    }

    void play() {
        std::set<Ticks> ticks;
        for (const Collective& collective : instance_.collectives()) {
            ticks.insert(collective.release);
            ticks.insert(collective.releases.begin(), collective.releases.end());
        }
        for (const Transfer& transfer : transfers_) ticks.insert({transfer.send.start, transfer.arrival});
        for (const Ticks tick : ticks) {
            release(tick);
            arrive(tick);
            // Transfers are in order of link number. What leaves a cut-through switch at this tick may have
            // left its source at this tick too, so it comes second.
            for (Transfer& transfer : transfers_) {
                if (transfer.send.start == tick && !topology_.is_cut_through(transfer.link.src))
                    depart(transfer);
            }
            for (Transfer& transfer : transfers_) {
                if (transfer.send.start == tick && topology_.is_cut_through(transfer.link.src))
                    depart(transfer);
            }
        }
    }

    /// By rank, as the collective lists it.
    [[nodiscard]] Ticks release_of(ChunkId chunk, NodeId holder) const {
        const Collective& collective = instance_.collective_of(chunk);
        if (collective.releases.empty()) return collective.release;
        const auto& members = instance_.group_of(chunk).members;
        return collective
            .releases[static_cast<std::size_t>(std::ranges::find(members, holder) - members.begin())];
    }

    void release(Ticks tick) {
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const ChunkId chunk(c);
            const Demand demand = instance_.demand(chunk);
            for (const NodeId holder : demand.holders) {
                if (release_of(chunk, holder) != tick) continue;
                Value& held = held_[{holder, chunk}];
                demand.reduction ? void(held.insert(holder)) : void(held = kData);
            }
        }
    }

    void arrive(Ticks tick) {
        std::map<Place, std::vector<const Transfer*>> arrivals;
        for (const Transfer& transfer : transfers_) {
            if (transfer.arrival != tick || transfer.value.empty()) continue;
            if (topology_.is_cut_through(transfer.link.dst)) continue;
            arrivals[{transfer.link.dst, transfer.send.chunk}].push_back(&transfer);
        }
        for (const auto& [place, transfers] : arrivals) {
            if (is_race(place, transfers)) report(Rule::ArrivalRace);
            for (const Transfer* transfer : transfers) {
                if (topology_.is_npu(place.first)) {
                    arrive_at_npu(held_[place], *transfer);
                } else {
                    arrive_at_switch(copies_[place], *transfer);
                }
            }
        }
    }

    [[nodiscard]] bool is_race(const Place& place, const std::vector<const Transfer*>& transfers) const {
        const auto& [node, chunk] = place;
        if (!instance_.demand(chunk).reduction || transfers.size() < 2) return false;
        if (topology_.is_switch(node) && !topology_.rule(node).reduce) return false;
        const auto is_copy = [](const Transfer* transfer) { return transfer->send.op == Op::Copy; };
        if (std::ranges::none_of(transfers, is_copy)) return false;
        // At a switch copies stand in a queue, so only a sum can get mixed up with them.
        const auto same = [&](const Transfer* transfer) {
            return topology_.is_switch(node) || transfer->value == transfers.front()->value;
        };
        return !(std::ranges::all_of(transfers, is_copy) && std::ranges::all_of(transfers, same));
    }

    /// Whether the two had nothing in common.
    bool unite(Value& sum, const Value& value) const {
        const std::size_t both = sum.size() + value.size();
        sum.insert(value.begin(), value.end());
        return sum.size() == both;
    }

    void add(Value& sum, const Value& value) {
        if (!unite(sum, value)) report(Rule::DoubleCount);
    }

    void check_sums() {
        for (const auto& inbound : sums_) {
            Value sum;
            for (const std::size_t i : inbound) add(sum, transfers_[i].value);
        }
    }

    void arrive_at_npu(Value& held, const Transfer& transfer) {
        if (transfer.send.op == Op::Copy) {
            held = transfer.value;
        } else {
            add(held, transfer.value);
        }
    }

    void arrive_at_switch(std::vector<Copy>& copies, const Transfer& transfer) {
        if (transfer.send.op == Op::Reduce) {
            for (auto copy = copies.rbegin(); copy != copies.rend(); ++copy) {
                if (copy->last_left) continue;
                add(copy->value, transfer.value);
                return;
            }
        }
        copies.push_back({transfer.value, transfer.arrival, std::nullopt, 0});
    }

    /// Finds out what a transfer takes with it.
    void depart(Transfer& transfer) {
        if (std::exchange(transfer.is_read, true)) return;
        const auto& [chunk, link, start, op] = transfer.send;
        const NodeId source = transfer.link.src;
        if (topology_.is_npu(source)) {
            take_from_npu(transfer);
        } else if (topology_.is_cut_through(source)) {
            if (!transfer.refused) take_through(transfer);
        } else {
            take_from_switch(transfer, copies_[{source, chunk}], topology_.rule(source).copy);
        }
        if (reduces_in_vain(transfer)) transfer.value.clear();
    }

    void take_from_npu(Transfer& transfer) {
        const ChunkId chunk = transfer.send.chunk;
        transfer.value = held_[{transfer.link.src, chunk}];
        if (!transfer.value.empty()) return;
        const auto holders = instance_.demand(chunk).holders;
        const bool holder = std::ranges::find(holders, transfer.link.src) != holders.end();
        const bool early = holder && transfer.send.start < release_of(chunk, transfer.link.src);
        report(early ? Rule::BeforeRelease : Rule::NotHeld);
    }

    void take_through(Transfer& transfer) {
        if (transfer.waits_for_itself) return report(Rule::NotHeld);
        for (const std::size_t i : transfer.fed_by) {
            depart(transfers_[i]);
            unite(transfer.value, transfers_[i].value);
        }
        if (transfer.value.empty()) report(Rule::NotHeld);
    }

    void take_from_switch(Transfer& transfer, std::vector<Copy>& copies, bool may_copy) {
        if (copies.empty()) return report(Rule::NotHeld);
        auto taken = std::ranges::find_if(copies, [](const Copy& copy) { return !copy.last_left; });
        if (taken == copies.end()) {
            if (!may_copy) return report(Rule::SwitchCopy);
            taken = std::ranges::max_element(copies, {}, &Copy::left_as);
        }
        taken->last_left = transfer.send.start;
        taken->left_as = ++departures_;
        transfer.value = taken->value;
    }

    void check_buffers() {
        std::map<NodeId, std::vector<Copy>> at;
        for (const auto& [place, copies] : copies_) {
            at[place.first].insert(at[place.first].end(), copies.begin(), copies.end());
        }
        for (const auto& [node, copies] : at) {
            const auto buffer = topology_.rule(node).buffer;
            if (!buffer) continue;
            // The number held grows at arrivals only.
            for (const Copy& moment : copies) {
                const auto held = std::ranges::count_if(copies, [&](const Copy& copy) {
                    return copy.arrival <= moment.arrival &&
                           (!copy.last_left || moment.arrival < *copy.last_left);
                });
                if (held > static_cast<std::ptrdiff_t>(*buffer)) report(Rule::BufferOverflow);
            }
        }
    }

    void check_demands() {
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const Demand demand = instance_.demand(ChunkId(c));
            const Value all = demand.reduction ? Value(demand.holders.begin(), demand.holders.end()) : kData;
            for (const NodeId receiver : demand.receivers) {
                const Value& value = held_[{receiver, ChunkId(c)}];
                if (value == all) continue;
                report(value.empty() ? Rule::DemandUnmet : Rule::DemandWrong);
            }
        }
    }

    const Instance& instance_;
    const Topology& topology_;
    std::vector<Transfer> transfers_;  ///< in order of link number, then start
    std::map<Place, Value> held_;      ///< at NPUs
    std::map<Place, std::vector<Copy>> copies_;
    std::vector<std::vector<std::size_t>> sums_;  ///< inbound transfers that a cut-through switch adds
    std::size_t departures_ = 0;
    Findings findings_;
};

}  // namespace

Findings second_check(const Instance& instance, const Schedule& schedule) {
    return SecondChecker(instance, schedule).findings();
}

}  // namespace tutti::oracle

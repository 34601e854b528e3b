// The values of a plan of sends.
//
// A node's value at an address is a multiset of contributions: the chunks with that address, numbered in the
// order of the file. A chunk that is alone at its address is a sum of one contribution, so all collectives
// are judged alike. Sends read when they start; data that is usable at t is read at t.
//
// Sums are interned (sums.hpp), so a copy costs one number. A contribution counted twice is reported at once
// and then treated as counted once, so that one fault is reported once.
//
// Memory is O(sends + nodes named by chunks) and the runs of all sums that occur; the latter is bounded.

#include "verify/plan/send_replay.hpp"

#include "verify/plan/sum_text.hpp"
#include "verify/plan/sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <unordered_map>

namespace tutti::verify {
namespace {

using plan::NodeSend;
using plan::SendChunk;
using plan::SendProgram;

constexpr std::size_t kMostRuns = std::size_t{1} << 24U;
/// Sums of more runs are not distinguished from each other.
constexpr std::size_t kMostRunsOfOne = std::size_t{1} << 16U;

class Replay {
  public:
    Replay(const SendProgram& plan, std::span<const Flight> flights, Findings& violations, Findings& warnings)
        : plan_(plan),
          flights_(flights),
          violations_(violations),
          warnings_(warnings),
          sums_(kMostRunsOfOne) {}

    /// False if the sums grow too large.
    bool run() {
        place_chunks();
        std::vector<std::uint32_t> order(flights_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return flights_[i].start; });
        for (const std::uint32_t i : order) {
            deliver_until(flights_[i].start);
            leave(i);
        }
        deliver_until(std::numeric_limits<std::int64_t>::max());
        judge_end();
        tell_redundant();
        return !too_large_;
    }

  private:
    struct Arrival {
        std::int64_t usable = 0;
        std::uint32_t send = 0;
        SumId value = Sums::kUndefined;
        friend bool operator>(const Arrival& a, const Arrival& b) {
            return std::pair(a.usable, a.send) > std::pair(b.usable, b.send);
        }
    };
    static constexpr std::uint32_t kNoAddress = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] std::uint32_t number_of(std::int64_t address) const {
        const auto found = std::ranges::lower_bound(addresses_, address);
        return found != addresses_.end() && *found == address
                   ? static_cast<std::uint32_t>(found - addresses_.begin())
                   : kNoAddress;
    }
    [[nodiscard]] std::uint64_t slot(plan::PlanNode node, std::uint32_t address) const {
        return std::uint64_t{node.value()} * addresses_.size() + address;
    }
    [[nodiscard]] SumId value_at(std::uint64_t slot) const {
        const auto found = values_.find(slot);
        return found == values_.end() ? Sums::kUndefined : found->second;
    }
    /// Counts what new sums take.
    SumId counted(SumId id) {
        if (id == Sums::kTooMany) too_large_ = true;
        if (id < next_sum_) return id;
        next_sum_ = id + 1;
        runs_ += sums_.runs(id).size();
        if (runs_ > kMostRuns) too_large_ = true;
        return id;
    }
    [[nodiscard]] SumId added(SumId a, SumId b) {
        return a == Sums::kUndefined ? b : b == Sums::kUndefined ? a : counted(sums_.sum(a, b));
    }
    /// The sum of disjoint runs, by divide and conquer: there are few partial sums.
    SumId sum_of(std::span<const SumRun> runs) {
        if (runs.size() == 1) return counted(sums_.of({runs.front()}));
        return added(sum_of(runs.first(runs.size() / 2)), sum_of(runs.subspan(runs.size() / 2)));
    }

    void place_chunks() {
        for (const SendChunk& chunk : plan_.chunks) addresses_.push_back(chunk.address);
        std::ranges::sort(addresses_);
        const auto rest = std::ranges::unique(addresses_);
        addresses_.erase(rest.begin(), rest.end());
        combining_ = addresses_.size() < plan_.chunks.size();
        contributions_.resize(addresses_.size());
        values_.reserve(plan_.chunks.size() + flights_.size());
        for (std::uint32_t c = 0; c < plan_.chunks.size() && !too_large_; ++c) {
            const std::uint32_t address = number_of(plan_.chunks[c].address);
            const auto rank = static_cast<std::int32_t>(contributions_[address].size());
            contributions_[address].push_back(c);
            const SumId single = counted(sums_.single(rank, plan_.chunks[c].address));
            for (const plan::PlanNode node : plan_.chunks[c].pre) {
                SumId& value = values_[slot(node, address)];
                value = added(value, single);
            }
        }
    }

    void leave(std::uint32_t i) {
        const NodeSend& send = plan_.sends[i];
        if (!joins_nodes(plan_, send)) return;
        const std::uint32_t address = number_of(send.address);
        const SumId value = address == kNoAddress ? Sums::kUndefined : value_at(slot(send.src, address));
        if (value != Sums::kUndefined) {
            arrivals_.push({flights_[i].usable, i, value});
        } else if (violations_.open()) {
            violations_.add("not-held", not_held_text(i, address), place_of(send));
        } else {
            violations_.count_one();
        }
    }

    [[nodiscard]] std::string not_held_text(std::uint32_t i, std::uint32_t address) const {
        const NodeSend& send = plan_.sends[i];
        std::string text = send_text(plan_, send);
        if (address == kNoAddress) return text + ", but no chunk has that address";
        const NodeSend* bringer = nullptr;
        for (const NodeSend& other : plan_.sends) {
            if (other.dst == send.src && other.address == send.address) {
                if (bringer == nullptr || other.when < bringer->when) bringer = &other;
            }
        }
        if (bringer == nullptr) return text + ", but never has it";
        return fmt::format("{}, but does not have it then: {} sends it there {}", text,
                           node_name(plan_, bringer->src), when_text(plan_, *bringer));
    }

    void deliver_until(std::int64_t time) {
        while (!too_large_ && !arrivals_.empty() && arrivals_.top().usable <= time) {
            deliver(arrivals_.top());
            arrivals_.pop();
        }
    }

    void deliver(const Arrival& arrival) {
        const NodeSend& send = plan_.sends[arrival.send];
        SumId& value = values_[slot(send.dst, number_of(send.address))];
        if (!combining_) {
            if (value != Sums::kUndefined && redundant_++ == 0) first_redundant_ = arrival.send;
            value = arrival.value;
        } else if (send.replaces) {
            value = arrival.value;
        } else {
            value = single_counted(added(value, arrival.value), send);
        }
    }

    SumId single_counted(SumId value, const NodeSend& send) {
        if (value <= Sums::kTooMany) return value;
        const auto runs = sums_.runs(value);
        const auto twice = std::ranges::find_if(runs, [](const SumRun& run) { return run.times > 1; });
        if (twice == runs.end()) return value;
        if (violations_.open()) {
            violations_.add("value",
                            fmt::format("{}, which already has {} of the contributions in it: that of {} is "
                                        "counted twice",
                                        send_text(plan_, send), twice->first == twice->last ? "one" : "some",
                                        contributor(send.address, twice->first)),
                            place_of(send));
        } else {
            violations_.count_one();
        }
        std::vector<SumRun> once(runs.begin(), runs.end());
        for (SumRun& run : once) run.times = 1;
        return sum_of(once);
    }

    /// "node 3": where that contribution starts.
    [[nodiscard]] std::string contributor(std::int64_t address, std::int32_t rank) const {
        const auto& chunks = contributions_[number_of(address)];
        const SendChunk& chunk = plan_.chunks[chunks[static_cast<std::size_t>(rank)]];
        return chunk.pre.empty()
                   ? fmt::format("chunk {}, which starts nowhere", chunks[static_cast<std::size_t>(rank)])
                   : node_name(plan_, chunk.pre.front());
    }

    /// Per address: which contributions each node must have, as runs.
    void judge_end() {
        std::vector<std::pair<plan::PlanNode, std::int32_t>> wanted;  // node, contribution
        for (std::uint32_t address = 0; address < addresses_.size() && !too_large_; ++address) {
            wanted.clear();
            const auto& chunks = contributions_[address];
            for (std::size_t rank = 0; rank < chunks.size(); ++rank) {
                for (const plan::PlanNode node : plan_.chunks[chunks[rank]].post)
                    wanted.emplace_back(node, static_cast<std::int32_t>(rank));
            }
            std::ranges::sort(wanted);
            for (std::size_t begin = 0; begin < wanted.size();) {
                std::vector<SumRun> runs;
                const plan::PlanNode node = wanted[begin].first;
                for (; begin < wanted.size() && wanted[begin].first == node; ++begin) {
                    const std::int32_t rank = wanted[begin].second;
                    if (!runs.empty() && runs.back().last + 1 == rank) {
                        runs.back().last = rank;
                    } else {
                        runs.push_back({addresses_[address], rank, rank, 1});
                    }
                }
                judge_value(node, address, sum_of(runs));
            }
        }
    }

    void judge_value(plan::PlanNode node, std::uint32_t address, SumId expected) {
        const SumId value = value_at(slot(node, address));
        if (value == expected || too_large_) return;
        if (!violations_.open()) {
            violations_.count_one();
            return;
        }
        plan::Place place;
        place.gpu = rank_of(node);
        const std::string what = fmt::format("{} in the end", address_name(plan_, addresses_[address]));
        if (value == Sums::kUndefined) {
            violations_.add("value", fmt::format("{} has nothing of {}", node_name(plan_, node), what),
                            place);
            return;
        }
        violations_.add("value",
                        fmt::format("{}, {}: {}; (c,a) is contribution c to address a",
                                    node_name(plan_, node), what, difference_text(sums_, value, expected, 1)),
                        place);
    }

    void tell_redundant() {
        if (redundant_ == 0) return;
        const NodeSend& send = plan_.sends[first_redundant_];
        warnings_.add("redundant",
                      fmt::format("{} sends bring a chunk to a node that already has it; the first: {}",
                                  redundant_, send_text(plan_, send)),
                      place_of(send));
    }

    const SendProgram& plan_;
    std::span<const Flight> flights_;
    Findings &violations_, &warnings_;
    Sums sums_;
    std::size_t runs_ = 0;
    SumId next_sum_ = 2;
    std::vector<std::int64_t> addresses_;                    ///< sorted
    std::vector<std::vector<std::uint32_t>> contributions_;  ///< chunks by number of address
    bool combining_ = false, too_large_ = false;
    std::unordered_map<std::uint64_t, SumId> values_;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
    std::uint64_t redundant_ = 0;
    std::uint32_t first_redundant_ = 0;
};

}  // namespace

bool replay(const SendProgram& plan, std::span<const Flight> flights, Findings& violations,
            Findings& warnings) {
    if (Replay(plan, flights, violations, warnings).run()) return true;
    violations.add("too-large",
                   fmt::format("the sums of this plan take more than {} parts to write down", kMostRuns));
    return false;
}

}  // namespace tutti::verify

// A schedule in rounds.
//
// The events of a collective in order of time are told to Rounds. A chunk that arrives where it is a result
// is stored in the output, every other one in scratch; the input is never written.
//
// Rounds know no times, and all that a rank holds could go in one round: a broadcast along a chain would send
// the whole buffer from rank to rank, and nothing would be left of the pipeline that the schedule is. So at
// most k chunks go from one rank to another in a round. A round is taken to last as long as its slowest path
// plus its busiest link; k is the power of two whose rounds last the least together on the instance's
// network. (One chunk a round for all pairs makes n - 1 rounds of c chunks a step (n - 1) c rounds: with 4
// chunks and a latency of 10 chunks, 3.1 times the time on a ring of 8.)

#include "compile/condition.hpp"
#include "compile/places.hpp"
#include "compile/round_lowering.hpp"
#include "compile/rounds.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

namespace tutti::compile {
namespace {

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) { return (std::uint64_t{a} << 32) | b; }

plan::RoundPlan schedule_heading(const Instance& instance, const Part& part, const Places& places) {
    using enum CollectiveKind;
    const Collective& collective = instance.collective(part.collective);
    plan::RoundPlan plan;
    plan.name = collective.id;
    plan.kind = collective.kind;
    plan.goal = places.goal();
    if (plan.goal == Custom) plan.condition = condition_of(part, places);
    if (places.root()) plan.root = Rank(*places.root());
    plan.ranks = part.ranks;
    plan.members = part.members;
    plan.npus = part.npus;
    const auto share = static_cast<std::uint32_t>(collective.chunks);
    const bool has_shares = plan_kind_of(plan.kind) != Custom;
    plan.share = has_shares ? share : 1;
    plan.block_chunks = !has_shares ? 1 : plan.kind == AllReduce ? part.members * share : share;
    for (std::uint32_t r = 0; r < part.ranks; ++r) {
        const bool is_root = plan.root == Rank(r);
        plan.inputs.push_back(
            plan.kind == Broadcast && !is_root ? 0 : static_cast<std::uint32_t>(places.input_chunks(r)));
        plan.outputs.push_back(
            plan.kind == Reduce && !is_root ? 0 : static_cast<std::uint32_t>(places.output_chunks(r)));
    }
    return plan;
}

/// Tells the messages of one part, at most `most` chunks from one rank to another in a round.
class Teller {
  public:
    Teller(const Part& part, const Places& places, const plan::RoundPlan& heading, std::uint32_t most)
        : part_(part), places_(places), rounds_(heading), most_(most) {
        numbers_.resize(part.messages.size());
        for (const Event& event : events_of(part.messages)) {
            event.arrives ? arrive(event.message) : leave(event.message);
        }
        copy_own();
    }
    [[nodiscard]] std::uint32_t round(std::uint32_t message) const {
        return rounds_.round(numbers_[message]);
    }
    [[nodiscard]] plan::RoundPlan take() { return rounds_.take(); }

  private:
    struct Used {
        std::uint32_t round = 0, chunks = 0;
    };

    [[nodiscard]] Location current(std::uint32_t rank, std::uint32_t chunk) {
        const auto found = current_.find(pair_key(rank, chunk));
        if (found != current_.end()) return found->second;
        return rounds_.input(rank, static_cast<std::uint32_t>(places_.input(rank, chunk).value()));
    }
    [[nodiscard]] std::optional<Location> result(std::uint32_t rank, std::uint32_t chunk) {
        const auto output = places_.output(rank, chunk);
        if (!output) return std::nullopt;
        return rounds_.output(rank, static_cast<std::uint32_t>(*output));
    }

    void leave(std::uint32_t i) {
        const RankMessage& m = part_.messages[i];
        Used& used = used_[pair_key(m.from, m.to)];
        const std::uint32_t earliest = used.chunks == most_ ? used.round + 1 : used.round;
        numbers_[i] = rounds_.begin(current(m.from, m.chunk), m.to, earliest);
        const std::uint32_t round = rounds_.round(numbers_[i]);
        used = {round, used.chunks > 0 && round == used.round ? used.chunks + 1 : 1};
    }
    void arrive(std::uint32_t i) {
        const RankMessage& m = part_.messages[i];
        Location& now = current_.try_emplace(pair_key(m.to, m.chunk), kNowhere).first->second;
        const auto home = result(m.to, m.chunk);
        if (m.op == Op::Reduce) {
            const Location with =
                now != kNowhere
                    ? now
                    : rounds_.input(m.to, static_cast<std::uint32_t>(places_.input(m.to, m.chunk).value()));
            now = rounds_.add(numbers_[i], with, home.value_or(kNowhere));
        } else {
            now = home ? *home : rounds_.scratch(m.to);
            rounds_.store(numbers_[i], now);
        }
    }

    /// Results that nothing arrived at.
    void copy_own() {
        for (std::uint32_t c = 0; c < places_.chunks(); ++c) {
            for (const NodeId holder : places_.demand(c).holders) {
                const std::uint32_t rank = places_.rank_of(holder);
                const auto home = result(rank, c);
                if (home && !current_.contains(pair_key(rank, c))) rounds_.copy(current(rank, c), *home);
            }
        }
        for (const OwnBlock& own : places_.own_blocks()) {
            for (std::int64_t k = 0; k < own.count; ++k) {
                rounds_.copy(rounds_.input(own.rank, static_cast<std::uint32_t>(own.input + k)),
                             rounds_.output(own.rank, static_cast<std::uint32_t>(own.output + k)));
            }
        }
    }

    const Part& part_;
    const Places& places_;
    Rounds rounds_;
    std::uint32_t most_;
    std::vector<std::uint32_t> numbers_;  ///< in Rounds, by message
    std::unordered_map<std::uint64_t, Location> current_;
    std::unordered_map<std::uint64_t, Used> used_;
};

/// How long the rounds last if none begins before the one before has ended.
double rounds_time(const Instance& instance, const Part& part, const Teller& teller) {
    struct Round {
        double latency = 0, busiest = 0;
        std::unordered_map<std::uint32_t, double> busy{};  ///< by link
    };
    std::map<std::uint32_t, Round> rounds;
    for (std::uint32_t i = 0; i < part.messages.size(); ++i) {
        Round& round = rounds[teller.round(i)];
        double latency = 0;
        for (const LinkId id : part.paths[part.messages[i].path].links) {
            const ChunkId chunk(part.first_chunk + part.messages[i].chunk);
            latency += static_cast<double>(instance.alpha(id).count());
            double& busy = round.busy[id.value()];
            busy += static_cast<double>(instance.busy(id, instance.beta(id, chunk)).count());
            round.busiest = std::max(round.busiest, busy);
        }
        round.latency = std::max(round.latency, latency);
    }
    double time = 0;
    for (const auto& [number, round] : rounds) time += round.latency + round.busiest;
    return time;
}

/// The most chunks that go from one rank to another.
std::uint32_t longest_pair(const Part& part) {
    std::unordered_map<std::uint64_t, std::uint32_t> chunks;
    std::uint32_t most = 1;
    for (const RankMessage& m : part.messages) most = std::max(most, ++chunks[pair_key(m.from, m.to)]);
    return most;
}

}  // namespace

plan::RoundPlan lower_to_rounds(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                                bool in_place) {
    const Part part = part_of(instance, schedule, collective);
    const Places places(instance, part);
    plan::RoundPlan head = schedule_heading(instance, part, places);
    head.in_place = in_place;
    const std::uint32_t longest = longest_pair(part);
    std::optional<Teller> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t most = 1;; most *= 2) {
        Teller teller(part, places, head, most);
        const double time = rounds_time(instance, part, teller);
        // Of equal times fewer rounds, which every library likes better.
        if (time <= least) {
            least = time;
            best.emplace(std::move(teller));
        }
        if (most >= longest) break;
    }
    return best->take();
}

}  // namespace tutti::compile

// All-reduce in rounds in which NPUs meet and exchange all they have: recursive doubling and its relatives.
//
// A tree needs 2(n-1) messages for a chunk and the time of its diameter. Where latency counts more than
// bandwidth, log n rounds of n messages are shorter (Thakur, Rabenseifner, Gropp, "Optimization of collective
// communication operations in MPICH", 2005): in each round NPUs meet in pairs, or in larger sets, and each
// sends its sum so far to the others of its set.
//
// What a send carries is what its NPU has when it starts, so messages must not arrive too early. A meeting is
// placed as a whole when all its members are done with the rounds before (they are **ready**), in order of
// time. Its messages arrive after their target was ready, so after all earlier sends of the target started.
// Within a meeting of two, if one message arrives before the other starts, the other one carries the whole
// sum and is a copy. Within a larger meeting every member must have sent everything before the first arrival;
// where the links are too slow for that, there is no schedule.

#include "heuristics/exchange/rounds.hpp"

#include "heuristics/event_queue.hpp"
#include "heuristics/exchange/message_booking.hpp"
#include "heuristics/releases.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

/// A meeting of one chunk.
struct Appointment {
    ChunkId chunk;
    const Meeting* meeting;
    std::uint32_t first_message, messages;  ///< those that are sent
    std::uint32_t waits = 0;                ///< for so many meetings of its members
    std::uint32_t first_next = 0, nexts = 0;
    Ticks ready = {};
};

struct Booked {
    NodeId from, to;
    HopId hop = {};
    Ticks start = {}, arrival = {};
    Op op = Op::Reduce;
};

class Rounds {
  public:
    explicit Rounds(const MessageGraph& graph)
        : graph_(graph),
          calendar_(graph.instance().topology().links().size()),
          npus_(graph.instance().topology().npus()),
          filled_(npus_),
          needed_(npus_),
          last_(npus_),
          stamps_(npus_),
          first_arrival_(npus_, Ticks::max()) {}

    /// False: the plan does not serve the chunk.
    bool add(const RoundSum& sum) {
        const Demand demand = graph_.instance().demand(sum.chunk);
        std::vector<std::vector<bool>> sent;
        if (!choose(demand, *sum.plan, sent)) return false;
        last_.assign(npus_, kNone);
        std::size_t next = 0;
        for (const Round& round : *sum.plan) {
            for (const Meeting& meeting : round) {
                if (!add_meeting(sum.chunk, meeting, sent[next++])) return false;
            }
        }
        return true;
    }

    bool run(const Stop& stop) {
        link_successors();
        for (std::uint32_t a = 0; a < appointments_.size(); ++a) {
            appointments_[a].ready = release_of(appointments_[a]);
            if (appointments_[a].waits == 0) events_.push({appointments_[a].ready.count(), a});
        }
        std::vector<Event> now;
        for (std::uint64_t batch = 0; !events_.empty(); ++batch) {
            if ((batch & 63U) == 0 && stop.requested()) return false;
            events_.pop(now);
            for (const Event& event : now) {
                if (!place(appointments_[event.appointment])) return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::vector<Move> moves() const {
        std::vector<Move> result;
        result.reserve(booked_.size());
        for (const Appointment& a : appointments_) {
            for (std::uint32_t m = a.first_message; m < a.first_message + a.messages; ++m) {
                const Booked& booked = booked_[m];
                result.push_back({&graph_.hops(), {booked.hop, a.chunk, booked.start}, booked.op});
            }
        }
        return result;
    }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Event {
        std::int64_t time;
        std::uint32_t appointment;
    };

    /// When all its senders have their own.
    [[nodiscard]] Ticks release_of(const Appointment& appointment) const {
        Ticks release = graph_.instance().release(appointment.chunk);
        for (std::uint32_t m = 0; m < appointment.messages; ++m) {
            const NodeId from = booked_[appointment.first_message + m].from;
            release = std::max(release, release_at(graph_.instance(), appointment.chunk, from));
        }
        return release;
    }

    /// Which messages of each meeting have something to bring to somebody who needs it.
    bool choose(const Demand& demand, const RoundPlan& plan, std::vector<std::vector<bool>>& sent) {
        filled_.assign(npus_, false);
        for (const NodeId holder : demand.holders) filled_[holder.index()] = true;
        std::vector<NodeId> gained;
        for (const Round& round : plan) {
            for (const Meeting& meeting : round) {
                auto& chosen = sent.emplace_back();
                gained.clear();
                for (const auto& [from, to] : meeting.messages) {
                    chosen.push_back(filled_[from.index()]);
                    if (chosen.back()) gained.push_back(to);
                }
                for (const NodeId node : gained) filled_[node.index()] = true;
            }
        }
        needed_.assign(npus_, false);
        for (const NodeId receiver : demand.receivers) {
            if (!filled_[receiver.index()]) return false;
            needed_[receiver.index()] = true;
        }
        std::size_t number = sent.size();
        for (auto round = plan.rbegin(); round != plan.rend(); ++round) {
            for (auto meeting = round->rbegin(); meeting != round->rend(); ++meeting) {
                auto& chosen = sent[--number];
                gained.clear();
                for (std::size_t m = 0; m < chosen.size(); ++m) {
                    const auto& [from, to] = meeting->messages[m];
                    chosen[m] = chosen[m] && needed_[to.index()];
                    if (chosen[m]) gained.push_back(from);
                }
                for (const NodeId node : gained) needed_[node.index()] = true;
            }
        }
        return true;
    }

    bool add_meeting(ChunkId chunk, const Meeting& meeting, const std::vector<bool>& sent) {
        const Instance& instance = graph_.instance();
        const CollectiveId collective = instance.demand(chunk).collective;
        const auto number = static_cast<std::uint32_t>(appointments_.size());
        Appointment appointment{chunk, &meeting, static_cast<std::uint32_t>(booked_.size()), 0};
        members_.clear();
        for (std::size_t m = 0; m < sent.size(); ++m) {
            if (!sent[m]) continue;
            const auto& [from, to] = meeting.messages[m];
            if (!graph_.joins(from, to) || !instance.may_carry(from, collective) ||
                !instance.may_carry(to, collective))
                return false;
            booked_.push_back({from, to});
            members_.push_back(from);
            members_.push_back(to);
            ++appointment.messages;
        }
        if (appointment.messages == 0) return true;
        std::ranges::sort(members_);
        members_.erase(std::ranges::unique(members_).begin(), members_.end());
        for (const NodeId member : members_) {
            std::uint32_t& last = last_[member.index()];
            if (last != kNone) {
                follows_.emplace_back(last, number);
                ++appointment.waits;
            }
            last = number;
        }
        appointments_.push_back(appointment);
        return true;
    }

    void link_successors() {
        std::ranges::sort(follows_);
        for (std::uint32_t i = 0; i < follows_.size(); ++i) {
            Appointment& before = appointments_[follows_[i].first];
            if (before.nexts++ == 0) before.first_next = i;
        }
    }

    bool place(const Appointment& appointment) {
        const std::span<Booked> all =
            std::span(booked_).subspan(appointment.first_message, appointment.messages);
        // A value that is replaced by the one that it is exchanged for must have left before.
        const bool swaps = (appointment.meeting->copies || appointment.meeting->one_adds) && are_mutual(all);
        const Ticks ready = swaps ? common_start(all, appointment) : appointment.ready;
        for (Booked& message : all) {
            const MessageSlot slot =
                earliest_slot(graph_, calendar_, message.from, message.to, appointment.chunk, ready);
            message.hop = slot.hop;
            message.start = slot.start;
            message.arrival = slot.arrival;
            calendar_.book(graph_.hops(), slot.hop, appointment.chunk, slot.start);
        }
        if (!set_ops(all, *appointment.meeting)) return false;
        for (std::uint32_t i = appointment.first_next; i < appointment.first_next + appointment.nexts; ++i) {
            Appointment& next = appointments_[follows_[i].second];
            next.ready = std::max(next.ready, done_for(next, all));
            if (--next.waits == 0) events_.push({next.ready.count(), follows_[i].second});
        }
        return true;
    }

    static bool are_mutual(std::span<const Booked> all) {
        return all.size() == 2 && all[0].from == all[1].to && all[0].to == all[1].from;
    }
    /// The first tick at which both can start.
    [[nodiscard]] Ticks common_start(std::span<const Booked> both, const Appointment& appointment) const {
        Ticks start = appointment.ready;
        while (true) {
            Ticks later = start;
            for (const Booked& message : both)
                later = std::max(later, earliest_slot(graph_, calendar_, message.from, message.to,
                                                      appointment.chunk, start)
                                            .start);
            if (later == start) return start;
            start = later;
        }
    }

    /// When the members of the next meeting are done with these messages.
    Ticks done_for(const Appointment& next, std::span<const Booked> all) {
        ++stamp_;
        for (std::uint32_t m = next.first_message; m < next.first_message + next.messages; ++m)
            stamps_[booked_[m].from.index()] = stamps_[booked_[m].to.index()] = stamp_;
        Ticks done;
        for (const Booked& message : all) {
            if (stamps_[message.to.index()] == stamp_) done = std::max(done, message.arrival);
            if (stamps_[message.from.index()] == stamp_) done = std::max(done, message.start);
        }
        return done;
    }

    bool set_ops(std::span<Booked> all, const Meeting& meeting) {
        if (meeting.copies) {
            for (Booked& message : all) message.op = Op::Copy;
            return true;
        }
        if (meeting.one_adds) {
            if (!are_mutual(all)) return false;
            all[1].op = Op::Copy;
            return true;
        }
        if (are_mutual(all)) {
            if (all[1].arrival <= all[0].start) all[0].op = Op::Copy;
            if (all[0].arrival <= all[1].start) all[1].op = Op::Copy;
            return true;
        }
        for (const Booked& message : all) first_arrival_[message.to.index()] = Ticks::max();
        for (const Booked& message : all) {
            Ticks& first = first_arrival_[message.to.index()];
            first = std::min(first, message.arrival);
        }
        const bool early = std::ranges::all_of(
            all, [&](const Booked& message) { return message.start < first_arrival_[message.from.index()]; });
        for (const Booked& message : all) first_arrival_[message.to.index()] = Ticks::max();
        return early;
    }

    const MessageGraph& graph_;
    LinkCalendar calendar_;
    const std::size_t npus_;
    std::vector<Appointment> appointments_;
    std::vector<Booked> booked_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> follows_;  ///< a meeting and one that waits for it
    std::vector<bool> filled_, needed_;
    std::vector<std::uint32_t> last_;  ///< by NPU: its latest meeting of the chunk
    std::vector<NodeId> members_;
    std::vector<std::uint64_t> stamps_;  ///< by NPU, for done_for
    std::uint64_t stamp_ = 0;
    std::vector<Ticks> first_arrival_;  ///< by NPU, for set_ops; otherwise never
    EventQueue<Event> events_;
};

}  // namespace

std::optional<std::vector<Move>> schedule_rounds(const MessageGraph& graph, const std::vector<RoundSum>& sums,
                                                 const Stop& stop) {
    Rounds rounds(graph);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if ((i & 15U) == 0 && stop.requested()) return std::nullopt;
        if (!rounds.add(sums[i])) return std::nullopt;
    }
    if (!rounds.run(stop)) return std::nullopt;
    return rounds.moves();
}

}  // namespace tutti::heuristics

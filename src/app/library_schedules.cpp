// Hand-written algorithms as schedules, so that the synthesizer is never worse than one of them.
//
// A program is simulated with the links alone, without thread blocks and FIFOs: a verb between ranks is a
// transfer that waits for the arrivals which its source is made of. The start of each transfer on each link
// is then a send. A program can park what arrives in scratch and add it later; an NPU of a schedule has one
// value of a chunk and adds on arrival. So an incomplete sum is sent to be added, a complete one to be
// copied, and the verifier decides whether the order of arrivals left a value that is right: mostly it does,
// because ranks send their own contribution before others arrive. Where it does not, the schedule is dropped.
//
// A program that relays partial sums through ranks with a part of the same sum is no schedule at all
// (one-step on a ring: every rank keeps what came from each of the others).

#include "app/library_schedules.hpp"

#include "core/error.hpp"
#include "lang/library.hpp"
#include "timing/router.hpp"
#include "timing/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::app {
namespace {

/// Transfers of one program, and of all that are tried for an instance.
constexpr std::uint64_t kMostTransfers = std::uint64_t{1} << 17, kMostWork = std::uint64_t{1} << 19;
/// Beyond it, some programs take long to write down.
constexpr std::size_t kMostRanks = 256;

/// What lies in a place: which chunk of the program's, of how many ranks, and since when.
struct Content {
    static constexpr timing::TaskId kAtOnce = ~timing::TaskId{0};
    std::int64_t chunk = -1;
    std::uint32_t contributions = 0;
    timing::TaskId since = kAtOnce;
};

class Converter {
  public:
    Converter(const lang::Trace& trace, const Instance& instance)
        : trace_(trace),
          shape_(trace.shape),
          instance_(instance),
          collective_(instance.collectives().front()),
          members_(instance.groups()[collective_.group.index()].members),
          router_(instance.topology(), collective_.chunk_bytes) {}

    std::optional<Schedule> schedule(const Stop& stop) {
        if (members_.size() != shape_.ranks) return std::nullopt;
        const std::size_t own = of_program();
        if (own == 0 || instance_.chunks() % own != 0) return std::nullopt;
        parts_ = static_cast<std::uint32_t>(instance_.chunks() / own);
        program_.add_size(collective_.chunk_bytes);
        fill();
        for (const lang::Verb& verb : trace_.verbs) {
            for (std::uint32_t i = 0; i < verb.count; ++i) {
                if (!take(verb, i)) return std::nullopt;
            }
        }
        const timing::Timeline timeline = timing::simulate(instance_.topology(), program_, true, stop);
        if (timeline.stuck) return std::nullopt;
        Schedule schedule{instance_.name(), timeline.makespan, {}};
        for (const timing::LinkUse& use : timeline.uses) {
            const Sent& sent = sent_[use.task];
            const auto to = instance_.topology().link(use.link).dst;
            // On the way a sum stays what it is.
            schedule.sends.push_back(
                {sent.chunk, use.link, use.start, to == sent.to && sent.is_added ? Op::Reduce : Op::Copy});
        }
        put_in_order(schedule, instance_.topology().links().size());
        return schedule;
    }

  private:
    struct Sent {
        ChunkId chunk;
        NodeId to;
        bool is_added;
    };

    [[nodiscard]] bool is_sum() const {
        using enum CollectiveKind;
        return shape_.kind == AllReduce || shape_.kind == ReduceScatter || shape_.kind == Reduce;
    }

    /// The chunks of the collective if a share were cut as the program does.
    [[nodiscard]] std::size_t of_program() const {
        using enum CollectiveKind;
        const std::size_t n = shape_.ranks, k = shape_.chunks;
        switch (shape_.kind) {
            case AllReduce:
            case Broadcast:
            case Reduce:
                return k;
            case AllGather:
            case ReduceScatter:
                return n * k;
            case AllToAll:
                return n * (n - 1) * k;
            default:
                return 0;
        }
    }

    /// Numbers chunks as instances do; -1: it is no chunk there, as nobody has to be sent it.
    [[nodiscard]] std::int64_t number_of(const plan::Contribution& value) const {
        using enum CollectiveKind;
        const std::int64_t k = shape_.chunks, n = shape_.ranks;
        const auto from = static_cast<std::int64_t>(value.rank.value());
        if (shape_.kind == AllGather) return from * k + value.chunk;
        if (shape_.kind != AllToAll) return value.chunk;
        const std::int64_t to = value.chunk / k;
        if (to == from) return -1;
        return (from * (n - 1) + to - (to > from ? 1 : 0)) * k + value.chunk % k;
    }

    void fill() {
        places_.resize(shape_.ranks);
        for (const lang::Initial& initial : lang::initial_values(shape_))
            at(initial.slot) = {number_of(initial.value), 1, Content::kAtOnce};
    }

    Content& at(const lang::Slot& slot) {
        auto& rank = places_[slot.rank];
        if (rank.size() <= slot.buffer) rank.resize(slot.buffer + 1);
        auto& buffer = rank[slot.buffer];
        if (buffer.size() <= slot.index) buffer.resize(slot.index + 1);
        return buffer[slot.index];
    }

    /// A task after both.
    timing::TaskId after(timing::TaskId a, timing::TaskId b) {
        if (a == Content::kAtOnce || a == b) return b;
        if (b == Content::kAtOnce) return a;
        const timing::TaskId both = add({});
        program_.edges.push_back({a, both});
        program_.edges.push_back({b, both});
        return both;
    }
    timing::TaskId add(const timing::TimedTask& task, const Sent& sent = {}) {
        sent_.push_back(sent);
        return program_.add_task(task);
    }

    bool take(const lang::Verb& verb, std::uint32_t i) {
        const Content source = at({verb.from.rank, verb.from.buffer, verb.from.index + i});
        Content arriving = source;
        if (verb.from.rank != verb.to.rank && source.chunk >= 0) {
            // What comes to scratch is added from there; elsewhere a sum may take the place of a part of it.
            const Content held = at({verb.to.rank, verb.to.buffer, verb.to.index + i});
            const bool replaces = verb.kind == lang::Verb::Kind::Copy && held.contributions > 0 &&
                                  verb.to.buffer < lang::kFirstScratch;
            const auto first = send(verb.from.rank, verb.to.rank, source, !replaces);
            if (!first) return false;
            arriving.since = *first;
        }
        Content& target = at({verb.to.rank, verb.to.buffer, verb.to.index + i});
        if (verb.kind == lang::Verb::Kind::Reduce) {
            target.contributions += arriving.contributions;
            target.since = after(target.since, arriving.since);
        } else {
            target = arriving;
        }
        return true;
    }

    /// The task at which all parts have arrived; none: there is no way, or it would be too much.
    std::optional<timing::TaskId> send(std::uint32_t from, std::uint32_t to, const Content& what, bool adds) {
        if ((transfers_ += parts_) > kMostTransfers) return std::nullopt;
        const auto route = route_of(from, to);
        if (!route) return std::nullopt;
        // Parts of a chunk follow each other, and whoever waits for the chunk waits for all of them.
        timing::TaskId last = Content::kAtOnce;
        for (std::uint32_t part = 0; part < parts_; ++part) {
            const ChunkId chunk(static_cast<std::size_t>(what.chunk) * parts_ + part);
            const bool is_added = adds && is_sum() && what.contributions < shape_.ranks;
            const timing::TaskId sent =
                add(timing::TimedTask::transfer(*route, 0), {chunk, members_[to], is_added});
            if (what.since != Content::kAtOnce) program_.edges.push_back({what.since, sent});
            last = after(last, sent);
        }
        return last;
    }

    std::optional<timing::RouteId> route_of(std::uint32_t from, std::uint32_t to) {
        const auto [known, fresh] = routes_.try_emplace({from, to});
        if (fresh) {
            if (auto route = router_.route(members_[from], members_[to], from + to))
                known->second = program_.add_route(route->links);
        }
        return known->second;
    }

    const lang::Trace& trace_;
    const lang::Shape& shape_;
    const Instance& instance_;
    const Collective& collective_;
    const std::vector<NodeId>& members_;
    timing::Router router_;
    std::uint32_t parts_ = 1;
    std::uint64_t transfers_ = 0;
    std::vector<std::vector<std::vector<Content>>> places_;  ///< [rank][buffer][index]
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<timing::RouteId>> routes_;
    timing::TimedProgram program_;
    std::vector<Sent> sent_;  ///< by task
};

/// The defaults, then all combinations of the values that are worth trying, at most 64.
std::vector<lang::AlgorithmRequest> settings_for(const lang::Algorithm& algorithm,
                                                 const lang::AlgorithmRequest& request) {
    std::vector<lang::AlgorithmRequest> all{request};
    for (const lang::Parameter& parameter : algorithm.parameters) {
        const std::size_t end = all.size();
        for (std::size_t i = 0; i < end; ++i) {
            for (const std::int64_t value : parameter.worth_trying(request.ranks)) {
                if (all.size() >= 64) return all;
                all.push_back(all[i]);
                all.back().parameters[std::string(parameter.name)] = value;
            }
        }
    }
    return all;
}

}  // namespace

std::optional<Schedule> schedule_of(const lang::Trace& trace, const Instance& instance, const Stop& stop) {
    if (instance.collectives().size() != 1) return std::nullopt;
    return Converter(trace, instance).schedule(stop);
}

void propose_library(const Instance& instance, Ticks below, const Stop& stop,
                     const synth::ProposalTaker& take) {
    if (instance.collectives().size() != 1) return;
    const Collective& collective = instance.collectives().front();
    const auto ranks = instance.groups()[collective.group.index()].members.size();
    lang::AlgorithmRequest request{
        .kind = collective.kind, .ranks = static_cast<std::uint32_t>(ranks), .in_place = false};
    if (ranks > kMostRanks) return;
    if (collective.root) request.root = collective.root->value();
    std::uint64_t work = 0;
    const auto offer = [&](const lang::Algorithm& algorithm, const lang::AlgorithmRequest& asked) {
        if (!lang::why_not(algorithm, asked).empty()) return;
        const lang::Shape shape = lang::shape_of(algorithm, asked);
        if (shape.chunks > instance.chunks() || instance.chunks() % shape.chunks != 0) return;
        const std::uint64_t most = std::max(lang::input_chunks(shape), lang::output_chunks(shape));
        if (most * shape.ranks > kMostTransfers) return;
        const lang::Trace trace = lang::program_of(algorithm, asked);
        work += trace.verbs.size();
        const auto schedule = schedule_of(trace, instance, stop);
        if (!schedule) return;
        work += schedule->sends.size();
        if (schedule->makespan < below && take(algorithm.name, *schedule)) below = schedule->makespan;
    };
    // All of them with their defaults first, as time may be short.
    for (const bool tuned : {false, true}) {
        for (const lang::Algorithm& algorithm : lang::algorithms()) {
            const std::vector<lang::AlgorithmRequest> settings = settings_for(algorithm, request);
            for (std::size_t i = tuned ? 1 : 0; i < (tuned ? settings.size() : 1); ++i) {
                if (stop.requested() || work > kMostWork) return;
                try {
                    offer(algorithm, settings[i]);
                } catch (const LimitError&) {
                    return;  // no time
                }
            }
        }
    }
}

}  // namespace tutti::app

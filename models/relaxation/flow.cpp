// The bound "flow". Forget when things happen and let chunks be split: then the chunks are a multicommodity
// flow, and by the makespan T link e can start at most room(e; T) = floor((T - first - last) / busy) + 1
// transfers, where `first` is the first tick at which any chunk can be at its source and `last` the least
// time from a start to a receiver. Minimising T without the floor is a linear program; its dual gives each
// link a length, such that all shortest paths together just fill all links. Whatever the lengths, the least T
// at which the sum over links of length * room(e; T) reaches the sum of the shortest paths is a bound; that T
// is computed in integers, with the floor, from lengths that are rounded duals.
//
// Where first + last is beyond the makespan, the room is 0 and not negative. The program cannot say so; but
// it may take any known bound in its place, so it takes the longest trip.
//
// Size: shipments * links columns. All-to-all on a torus, one core, HiGHS's simplex: 4x4 in 0.1 s, 6x6 1.6
// s, 8x8 7 s, 10x10 26 s; RelaxationLimits end it.

#include "core/expects.hpp"
#include "core/least_tick.hpp"
#include "models/relaxation.hpp"
#include "models/relaxation/traffic.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tutti::models {
namespace {

struct LinkRoom {
    std::int64_t first = kUnreachable, last = kUnreachable, busy = 1;
    [[nodiscard]] bool open() const { return first < kUnreachable && last < kUnreachable; }
    [[nodiscard]] Wide by(std::int64_t makespan) const {
        if (!open() || makespan < first + last) return 0;
        return (Wide{makespan} - first - last) / busy + 1;
    }
};

/// For all chunks that may count, not only for the trips chosen: the certificate knows no choice.
std::vector<LinkRoom> rooms_of(const Instance& instance, Bytes bytes) {
    const Topology& topology = instance.topology();
    std::map<Kind, std::pair<std::vector<bool>, std::vector<bool>>> ends;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        std::optional<Ticks> last;  // holders of one release follow each other, mostly
        for (const NodeId holder : demand.holders) {
            const Ticks release = instance.release(ChunkId(c), holder);
            auto& [holders, receivers] = ends[{demand.collective, demand.bytes, release, ChunkId(c)}];
            holders.resize(topology.nodes());
            receivers.resize(topology.nodes());
            holders[holder.index()] = true;
            if (last == release) continue;
            last = release;
            for (const NodeId node : demand.receivers) receivers[node.index()] = true;
        }
    }
    const auto nodes = [](const std::vector<bool>& set) {
        std::vector<NodeId> list;
        for (std::size_t v = 0; v < set.size(); ++v) {
            if (set[v]) list.emplace_back(v);
        }
        return list;
    };
    std::vector<LinkRoom> rooms(topology.links().size());
    for (const auto& [kind, sets] : ends) {
        const KindNetwork network(instance, kind, 1);
        const auto before = network.from(nodes(sets.first)), after = network.to(nodes(sets.second));
        for (std::size_t e = 0; e < rooms.size(); ++e) {
            const Link& link = topology.link(LinkId(e));
            const std::int64_t first = before[link.src.index()], last = after[link.dst.index()];
            if (!network.usable(e) || first >= kUnreachable || last >= kUnreachable) continue;
            rooms[e].first = std::min(rooms[e].first, network.release() + first);
            rooms[e].last = std::min(rooms[e].last, std::max(network.arrival(e), network.transit(e) + last));
        }
    }
    for (std::size_t e = 0; e < rooms.size(); ++e) {
        rooms[e].busy = instance.busy(LinkId(e), topology.beta(LinkId(e), bytes)).count();
    }
    return rooms;
}

class FlowProgram {
  public:
    FlowProgram(const Instance& instance, const std::vector<Trip>& trips, const std::vector<LinkRoom>& rooms)
        : instance_(instance), rooms_(rooms), shipments_(shipments(trips)) {}

    [[nodiscard]] std::size_t entries() const { return 3 * shipments_.size() * rooms_.size(); }

    /// The duals of the links' rows, times busy: what a transfer should cost there; empty if the solver has
    /// none.
    [[nodiscard]] std::vector<double> lengths(const Backend& backend, const SolveLimits& limits) {
        const std::uint32_t makespan = program_.add_column(1);
        std::vector<std::vector<std::uint32_t>> on_link(rooms_.size());
        for (const Shipment& shipment : shipments_) add_flow(shipment, on_link);
        const std::int64_t known = longest_trip(instance_, shipments_, 1);
        const std::size_t first_row = program_.rows();
        for (std::size_t e = 0; e < rooms_.size(); ++e) {
            if (on_link[e].empty()) continue;
            const LinkRoom& room = rooms_[e];
            program_.add(makespan, 1);
            for (const std::uint32_t column : on_link[e]) program_.add(column, -room.busy);
            program_.end_row(std::min(room.first + room.last - room.busy, known));
        }
        const LinearAnswer answer = backend.solve(program_, limits);
        if (answer.ended != Ended::Optimal) return {};
        std::vector<double> lengths(rooms_.size(), 0.0);
        std::size_t row = first_row;
        for (std::size_t e = 0; e < rooms_.size(); ++e) {
            if (on_link[e].empty()) continue;
            lengths[e] = std::max(0.0, answer.dual[row++]) * static_cast<double>(rooms_[e].busy);
        }
        return lengths;
    }

  private:
    /// A column per usable link and a row per node: by source, each target gets its count; by target, each
    /// source gives its own.
    void add_flow(const Shipment& shipment, std::vector<std::vector<std::uint32_t>>& on_link) {
        const Topology& topology = instance_.topology();
        const KindNetwork network(instance_, shipment.kind, 1);
        std::vector<std::int64_t> column(rooms_.size(), -1), balance(topology.nodes(), 0);
        std::vector<bool> end(topology.nodes(), false);  // where no balance is kept
        for (const NodeId node :
             shipment.by_source ? shipment.trips.front()->from : std::vector{shipment.trips.front()->to}) {
            end[node.index()] = true;
        }
        for (std::size_t e = 0; e < rooms_.size(); ++e) {
            const Link& link = topology.link(LinkId(e));
            if (!network.usable(e) || !rooms_[e].open()) continue;
            if (end[(shipment.by_source ? link.dst : link.src).index()]) continue;
            column[e] = program_.add_column(0);
            on_link[e].push_back(static_cast<std::uint32_t>(column[e]));
        }
        std::vector<std::vector<std::uint32_t>> given(topology.nodes());
        for (const Trip* trip : shipment.trips) {
            if (shipment.by_source) {
                balance[trip->to.index()] += trip->count;
            } else if (trip->from.size() == 1) {
                balance[trip->from.front().index()] += trip->count;
            } else {
                for (const NodeId node : trip->from) {
                    given[node.index()].push_back(program_.add_column(0));
                    program_.add(given[node.index()].back(), 1);
                }
                program_.end_row(trip->count);
            }
        }
        const std::int64_t sign = shipment.by_source ? 1 : -1;
        for (std::size_t v = 0; v < topology.nodes(); ++v) {
            if (end[v]) continue;
            for (const LinkId link : topology.in_links(NodeId(v))) add(column[link.index()], sign);
            for (const LinkId link : topology.out_links(NodeId(v))) add(column[link.index()], -sign);
            for (const std::uint32_t source : given[v]) program_.add(source, -1);
            program_.end_row(balance[v]);
        }
    }

    void add(std::int64_t column, std::int64_t value) {
        if (column >= 0) program_.add(static_cast<std::uint32_t>(column), value);
    }

    const Instance& instance_;
    const std::vector<LinkRoom>& rooms_;
    std::vector<Shipment> shipments_;
    LinearProgram program_;
};

/// The sum of the trips' shortest paths.
Wide needed(const Instance& instance, const std::vector<Trip>& trips,
            const std::vector<std::int64_t>& lengths) {
    Wide sum = 0;
    for (const Shipment& shipment : shipments(trips)) {
        const KindNetwork network(instance, shipment.kind, 1);
        const Trip& first = *shipment.trips.front();
        const auto lengths_to =
            shipment.by_source ? network.from(first.from, &lengths) : network.to({first.to}, &lengths);
        for (const Trip* trip : shipment.trips) {
            sum += Wide{least(*trip, shipment.by_source, lengths_to)} * trip->count;
        }
    }
    return sum;
}

/// The least makespan by which the links can carry that much length.
std::int64_t least_makespan(const std::vector<LinkRoom>& rooms, const std::vector<std::int64_t>& lengths,
                            Wide needed) {
    const auto enough = [&](Ticks makespan) {
        Wide sum = 0;
        for (std::size_t e = 0; e < rooms.size() && sum < needed; ++e)
            sum += rooms[e].by(makespan.count()) * lengths[e];
        return sum >= needed;
    };
    // None: no link that has a length can carry anything. That proves nothing of use.
    return least_tick(enough).value_or(Ticks(0)).count();
}

/// Largest lengths to round to. Small ones first: they are easier on people, and exact if the duals are
/// simple fractions.
constexpr std::int64_t kScales[] = {1, 2, 6, 12, 60, 2520, 1'000'000};

}  // namespace

Relaxed flow_bound(const Instance& instance, const Backend& backend, const RelaxationLimits& limits) {
    expects(backend.abilities().linear_programs);
    const auto begin = std::chrono::steady_clock::now();
    const auto trips = trips_of(instance, {});
    if (trips.empty()) return {};
    const auto rooms = rooms_of(instance, smallest(instance, {}));
    FlowProgram program(instance, trips, rooms);
    if (program.entries() > std::min(limits.entries, limits.all_entries)) return {{}, true};
    const auto duals = program.lengths(backend, limits.solve);
    if (duals.empty()) return {};
    const double largest = *std::ranges::max_element(duals);
    if (largest <= 0) return {};
    Bound bound{"flow", Ticks(0), std::monostate{}, 0};
    for (const std::int64_t scale : kScales) {
        LengthsCertificate certificate;
        for (const double dual : duals) {
            certificate.length.push_back(std::llround(dual / largest * static_cast<double>(scale)));
        }
        const Wide need = needed(instance, trips, certificate.length);
        const Ticks value(least_makespan(rooms, certificate.length, need));
        if (value > bound.value) {
            bound.value = value;
            bound.certificate = std::move(certificate);
        }
    }
    if (bound.value == Ticks(0)) return {};
    bound.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return {std::move(bound)};
}

}  // namespace tutti::models

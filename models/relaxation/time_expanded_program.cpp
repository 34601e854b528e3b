// The time-expanded program. Columns: f[k, e, t], how much of shipment k starts on link e at t, for the t at
// which that can be of use; h[k, v, t], how much waits at node v from t to t + 1. Rows:
//   R1  at each node and tick, what arrives and waited is what starts and waits on;
//   R2  in every `busy` ticks a link starts at most 1 in sum;
//   R3  what is delivered and what is missing make up the demand (by source: at each target at the horizon;
//   by target:
//       at each source at the release).
// Minimised is what is missing, so that there is always a solution, and a dual. Nodes may wait and copy
// nothing; the source of a shipment by source has unlimited supply, the target of one by target takes all:
// no rows there.

#include "core/expects.hpp"
#include "models/relaxation/time_expanded.hpp"

#include "models/relaxation.hpp"

#include <algorithm>

namespace tutti::models {
namespace {

class TimedProgram {
  public:
    TimedProgram(const TimedCase& timed, std::size_t most_entries)
        : timed_(timed),
          most_entries_(most_entries),
          topology_(timed.instance.topology()),
          starts_(topology_.links().size()) {}

    [[nodiscard]] TimedAnswer solve(const Backend& backend, const SolveLimits& limits) {
        using Word = TimedAnswer::Word;
        if (timed_.horizon > static_cast<std::int64_t>(most_entries_ / topology_.links().size()))
            return {Word::TooLarge, {}, 0};
        for (const Shipment& shipment : shipments(timed_.trips)) {
            if (limits.stop.requested()) return {};
            add(shipment);
            if (program_.entries.size() > most_entries_) return {Word::TooLarge, {}, 0};
        }
        std::vector<WindowWeight> windows = add_windows();
        const std::size_t entries = program_.entries.size();
        if (entries > most_entries_) return {Word::TooLarge, {}, 0};
        const std::size_t first_row = program_.rows() - windows.size();
        const LinearAnswer answer = backend.solve(program_, limits);
        if (answer.ended != Ended::Optimal) return {Word::Unknown, {}, entries};
        if (answer.objective < 1e-6) return {Word::Fits, {}, entries};
        for (std::size_t i = 0; i < windows.size(); ++i)
            windows[i].weight = std::max(0.0, answer.dual[first_row + i]);
        return {Word::Missing, std::move(windows), entries};
    }

  private:
    /// Columns of one thing for the ticks from `first` to `last`.
    struct Ticked {
        std::int64_t first = 0, last = -1;
        std::uint32_t column = 0;
        [[nodiscard]] bool has(std::int64_t tick) const { return first <= tick && tick <= last; }
        [[nodiscard]] std::uint32_t at(std::int64_t tick) const {
            return column + static_cast<std::uint32_t>(tick - first);
        }
    };
    Ticked columns(std::int64_t first, std::int64_t last) {
        Ticked ticked{first, last, static_cast<std::uint32_t>(program_.columns())};
        for (std::int64_t t = first; t <= last; ++t) program_.add_column(0);
        return ticked;
    }

    void add(const Shipment& shipment) {
        const KindNetwork network(timed_.instance, shipment.kind, timed_.unit);
        const bool by_source = shipment.by_source;
        std::vector<NodeId> sources, targets;
        for (const Trip* trip : shipment.trips) {
            sources.insert(sources.end(), trip->from.begin(), trip->from.end());
            targets.push_back(trip->to);
        }
        const auto before = network.from(sources), after = network.to(targets);
        std::vector<bool> end(topology_.nodes(), false);
        for (const NodeId node : by_source ? sources : targets) end[node.index()] = true;

        std::vector<Ticked> flow(topology_.links().size()), wait(topology_.nodes());
        for (std::size_t e = 0; e < flow.size(); ++e) {
            const Link& link = topology_.link(LinkId(e));
            if (!network.usable(e) || end[(by_source ? link.dst : link.src).index()]) continue;
            const std::int64_t first = before[link.src.index()], last = after[link.dst.index()];
            if (first >= kUnreachable || last >= kUnreachable) continue;
            const std::int64_t rest = std::max(network.transit(e) + last, network.arrival(e));
            flow[e] = columns(network.release() + first, timed_.horizon - rest);
            if (flow[e].last >= flow[e].first) starts_[e].push_back(flow[e]);
        }
        for (std::size_t v = 0; v < wait.size(); ++v) {
            if (end[v] || before[v] >= kUnreachable || after[v] >= kUnreachable) continue;
            wait[v] = columns(network.release() + before[v], timed_.horizon - after[v] - 1);
        }
        std::vector<std::vector<std::uint32_t>> given(topology_.nodes());
        std::vector<std::int64_t> wanted(topology_.nodes(), 0);
        for (const Trip* trip : shipment.trips) {
            if (by_source) wanted[trip->to.index()] += trip->count;
            if (!by_source) add_supply(*trip, given);
        }
        for (std::size_t v = 0; v < wait.size(); ++v) {
            if (end[v] || before[v] >= kUnreachable || after[v] >= kUnreachable) continue;
            add_balance(NodeId(v), network, flow, wait[v], timed_.horizon - after[v], given[v], wanted[v]);
        }
    }

    /// R3 by target: what enters at the sources of the trip at the release, and what is missing.
    void add_supply(const Trip& trip, std::vector<std::vector<std::uint32_t>>& given) {
        for (const NodeId node : trip.from) {
            given[node.index()].push_back(program_.add_column(0));
            program_.add(given[node.index()].back(), 1);
        }
        program_.add(program_.add_column(1), 1);
        program_.end_row(trip.count, true);
    }

    /// R1, and R3 by source.
    void add_balance(NodeId node, const KindNetwork& network, const std::vector<Ticked>& flow,
                     const Ticked& wait, std::int64_t last, const std::vector<std::uint32_t>& given,
                     std::int64_t wanted) {
        for (std::int64_t t = wait.first; t <= last; ++t) {
            for (const LinkId link : topology_.in_links(node)) {
                if (!network.usable(link.index())) continue;
                const std::int64_t start = t - network.transit(link.index());
                if (flow[link.index()].has(start)) program_.add(flow[link.index()].at(start), 1);
            }
            if (wait.has(t - 1)) program_.add(wait.at(t - 1), 1);
            if (t == network.release()) {
                for (const std::uint32_t column : given) program_.add(column, 1);
            }
            for (const LinkId link : topology_.out_links(node)) {
                if (flow[link.index()].has(t)) program_.add(flow[link.index()].at(t), -1);
            }
            if (wait.has(t)) program_.add(wait.at(t), -1);
            const bool due = wanted > 0 && t == timed_.horizon;
            if (due) program_.add(program_.add_column(1), 1);
            program_.end_row(due ? wanted : 0, true);
        }
    }

    /// R2. Returns the windows of its rows, in order.
    std::vector<WindowWeight> add_windows() {
        std::vector<WindowWeight> windows;
        for (std::size_t e = 0; e < starts_.size(); ++e) {
            if (starts_[e].empty()) continue;
            std::int64_t first = starts_[e].front().first, last = starts_[e].front().last;
            for (const Ticked& flow : starts_[e]) {
                first = std::min(first, flow.first);
                last = std::max(last, flow.last);
            }
            const std::int64_t busy = timed_.busy[e];
            for (std::int64_t w = first; w <= std::max(first, last - busy + 1); ++w) {
                for (const Ticked& flow : starts_[e]) {
                    const std::int64_t end = std::min(flow.last, w + busy - 1);
                    for (std::int64_t t = std::max(w, flow.first); t <= end; ++t)
                        program_.add(flow.at(t), -1);
                }
                program_.end_row(-1);
                windows.push_back({e, w, 0.0});
                if (program_.entries.size() > most_entries_) return windows;
            }
        }
        return windows;
    }

    const TimedCase& timed_;
    const std::size_t most_entries_;
    const Topology& topology_;
    LinearProgram program_;
    std::vector<std::vector<Ticked>> starts_;  ///< per link, of every shipment
};

}  // namespace

TimedAnswer solve_timed(const TimedCase& timed, const Backend& backend, const SolveLimits& limits,
                        std::size_t most_entries) {
    expects(backend.abilities().linear_programs);
    return TimedProgram(timed, most_entries).solve(backend, limits);
}

}  // namespace tutti::models

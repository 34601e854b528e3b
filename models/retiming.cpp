// Starts are longest paths in the graph of what must come before what. Nearly all of its edges lead forward
// in the order of the given starts, so one round over the edges in that order settles nearly everything; the
// others say that an arrival must not overtake a send whose sum it would change, and lead back.

#include "models/retiming.hpp"

#include <algorithm>
#include <map>

namespace tutti::models {
namespace {

constexpr int kMostRounds = 64;  ///< of changes that lead back; more mean that orders contradict one another

class Retiming {
  public:
    Retiming(const Instance& from, const Schedule& schedule, const Instance& to)
        : from_(from), to_(to), result_{to.name(), Ticks(0), schedule.sends} {
        std::ranges::sort(result_.sends, starts_before);
    }

    std::optional<Schedule> run() {
        add_links();
        add_nodes();
        std::ranges::stable_sort(edges_, {},
                                 [](const Edge& edge) { return std::max(edge.first, edge.then); });
        std::vector<Ticks> starts;
        for (const Send& send : result_.sends) starts.push_back(to_.release(send.chunk));
        bool changed = true;
        for (int round = 0; changed && round < kMostRounds; ++round) {
            changed = false;
            for (const Edge& edge : edges_) {
                const Ticks least = starts[edge.first] + edge.least;
                if (least <= starts[edge.then]) continue;
                starts[edge.then] = least;
                changed = true;
            }
        }
        if (changed) return std::nullopt;
        for (std::size_t i = 0; i < starts.size(); ++i) {
            result_.sends[i].start = starts[i];
            result_.makespan = std::max(result_.makespan, starts[i] + transit(to_, result_.sends[i]));
        }
        std::ranges::sort(result_.sends, starts_before);
        return std::move(result_);
    }

  private:
    /// The second starts at least so long after the first.
    struct Edge {
        std::size_t first, then;
        Ticks least;
    };

    static Ticks transit(const Instance& instance, const Send& send) {
        return instance.alpha(send.link) + instance.beta(send.link, send.chunk);
    }
    [[nodiscard]] Ticks arrival(std::size_t i) const {
        return result_.sends[i].start + transit(from_, result_.sends[i]);
    }

    void add_links() {
        std::vector<std::optional<std::size_t>> last(to_.topology().links().size());
        for (std::size_t i = 0; i < result_.sends.size(); ++i) {
            const Send& send = result_.sends[i];
            auto& before = last[send.link.index()];
            if (before) {
                const Send& earlier = result_.sends[*before];
                edges_.push_back({*before, i, to_.busy(earlier.link, to_.beta(earlier.link, earlier.chunk))});
            }
            before = i;
        }
    }

    /// What each send waits for at its source, and what waits for it.
    void add_nodes() {
        struct Events {
            std::vector<std::size_t> in, out;
        };
        std::map<std::pair<ChunkId, NodeId>, Events> events;
        const Topology& topology = from_.topology();
        for (std::size_t i = 0; i < result_.sends.size(); ++i) {
            const Send& send = result_.sends[i];
            const Link& link = topology.link(send.link);
            events[{send.chunk, link.src}].out.push_back(i);
            events[{send.chunk, link.dst}].in.push_back(i);
        }
        for (auto& [where, at] : events) {
            std::ranges::stable_sort(at.in, {}, [this](std::size_t i) { return arrival(i); });
            if (topology.is_switch(where.second)) {
                for (std::size_t k = 0; k < std::min(at.in.size(), at.out.size()); ++k)
                    wait(at.in[k], at.out[k]);
                continue;
            }
            const bool sums = from_.demand(where.first).reduction;
            for (const std::size_t out : at.out) {
                for (const std::size_t in : at.in) {
                    if (arrival(in) <= result_.sends[out].start) {
                        wait(in, out);
                        if (!sums) break;  // what came first will do
                    } else if (sums) {
                        edges_.push_back({out, in, Ticks(1) - transit(to_, result_.sends[in])});
                    }
                }
            }
        }
    }
    void wait(std::size_t in, std::size_t out) {
        edges_.push_back({in, out, transit(to_, result_.sends[in])});
    }

    const Instance& from_;
    const Instance& to_;
    Schedule result_;
    std::vector<Edge> edges_;
};

}  // namespace

std::optional<Schedule> retimed(const Instance& from, const Schedule& schedule, const Instance& to) {
    return Retiming(from, schedule, to).run();
}

}  // namespace tutti::models

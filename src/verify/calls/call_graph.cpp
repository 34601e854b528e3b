#include "verify/calls/call_graph.hpp"

#include <algorithm>

namespace tutti::verify {
namespace {

using plan::Call;
using plan::CallKind;
using plan::CallList;

/// Makes the edges of one rank after the other.
class GraphMaker {
  public:
    GraphMaker(const CallList& list, const CallMatching& matching, Streams streams)
        : list_(list),
          matching_(matching),
          one_stream_(streams == Streams::One),
          on_stream_(list.names.size()),
          on_group_(list.groups.size()) {
        graph_.nodes = matching.events;
    }

    CallGraph run() {
        for (rank_ = 0; rank_ < list_.ranks.size(); ++rank_) add_rank();
        for (const CallMatching::Message& message : matching_.buffered) {
            graph_.edges.push_back({matching_.event_of[message.send], matching_.event_of[message.receive],
                                    message.send, message.receive});
        }
        return std::move(graph_);
    }

  private:
    /// The last node on a stream or of a group, on the current rank.
    struct Last {
        std::uint32_t rank = Call::kNone, node = 0, call = 0;
    };

    [[nodiscard]] std::uint32_t number(std::size_t call) const {
        return matching_.first_of_rank[rank_] + static_cast<std::uint32_t>(call);
    }
    [[nodiscard]] Last& stream_of(const Call& call) { return on_stream_[one_stream_ ? 0 : call.stream]; }
    [[nodiscard]] bool is_set(const Last& last) const { return last.rank == rank_; }

    void link(const Last& from, std::uint32_t node, std::uint32_t call) {
        if (is_set(from)) graph_.edges.push_back({from.node, node, from.call, call});
    }

    void add_rank() {
        const auto& calls = list_.ranks[rank_].calls;
        host_ = {};
        for (std::size_t i = 0; i < calls.size();) {
            std::size_t end = i + 1;
            while (calls[i].batch != Call::kNone && end < calls.size() && calls[end].batch == calls[i].batch)
                ++end;
            if (end - i > 1) {
                add_batch(i, end);
            } else {
                add_call(i);
            }
            i = end;
        }
    }

    void add_call(std::size_t index) {
        const Call& call = list_.ranks[rank_].calls[index];
        const std::uint32_t id = number(index), node = matching_.event_of[id];
        add_after(index);
        if (call.kind == CallKind::Local) {
            link(host_, node, id);
            return;
        }
        if (call.kind == CallKind::Wait) {
            add_wait(call, id);
            return;
        }
        Last& stream = stream_of(call);
        link(stream, node, id);
        // What was issued on the stream after the wait comes after it already.
        if (!is_set(stream) || stream.call < host_.call) link(host_, node, id);
        if (is_collective(call.kind)) {
            Last& group = on_group_[call.group];
            if (!is_set(stream) || stream.node != group.node) link(group, node, id);
            group = {rank_, node, id};
        }
        stream = {rank_, node, id};
    }

    /// The host goes on when the stream, or all of them, has done what was issued on it.
    void add_wait(const Call& call, std::uint32_t id) {
        const std::uint32_t node = matching_.event_of[id];
        link(host_, node, id);
        if (call.whole_host) {
            for (const Last& stream : on_stream_) link(stream, node, id);
        } else {
            link(stream_of(call), node, id);
        }
        host_ = {rank_, node, id};
    }

    /// All begin when the first can, and end when the last has: in one launch.
    void add_batch(std::size_t begin, std::size_t end) {
        const auto& calls = list_.ranks[rank_].calls;
        const std::uint32_t first = graph_.nodes++, last = graph_.nodes++;
        link(host_, first, number(begin));
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t node = matching_.event_of[number(i)];
            if (const Last& stream = stream_of(calls[i]); !is_set(stream) || stream.node != first) {
                link(stream, first, number(begin));
                stream_of(calls[i]) = {rank_, first, number(begin)};
            }
            graph_.edges.push_back({first, node, number(i), number(i)});
            graph_.edges.push_back({node, last, number(i), number(i)});
            add_after(i);
            if (!is_collective(calls[i].kind)) continue;
            if (const Last& group = on_group_[calls[i].group]; is_set(group)) link(group, node, number(i));
        }
        for (std::size_t i = begin; i < end; ++i) {
            stream_of(calls[i]) = {rank_, last, number(end - 1)};
            if (is_collective(calls[i].kind)) on_group_[calls[i].group] = {rank_, last, number(end - 1)};
        }
    }

    void add_after(std::size_t index) {
        const plan::RankCalls& rank = list_.ranks[rank_];
        const Call& call = rank.calls[index];
        for (std::uint32_t i = call.after_begin; i < call.after_end; ++i) {
            const std::uint32_t earlier = number(rank.after[i]);
            graph_.edges.push_back(
                {matching_.event_of[earlier], matching_.event_of[number(index)], earlier, number(index)});
        }
    }

    const CallList& list_;
    const CallMatching& matching_;
    const bool one_stream_;
    CallGraph graph_{};
    std::uint32_t rank_ = 0;
    Last host_{};  ///< the last wait
    std::vector<Last> on_stream_, on_group_;
};

/// Edges by the node they leave.
struct Leaving {
    std::vector<std::uint32_t> begin{}, edge{};

    explicit Leaving(const CallGraph& graph) : begin(graph.nodes + 1, 0), edge(graph.edges.size()) {
        for (const auto& e : graph.edges) ++begin[e.from + 1];
        for (std::size_t n = 0; n < graph.nodes; ++n) begin[n + 1] += begin[n];
        std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
        for (std::uint32_t i = 0; i < graph.edges.size(); ++i) edge[next[graph.edges[i].from]++] = i;
    }
};

/// Which nodes never come to their turn when each waits for all that must be over before it.
std::vector<bool> stuck_nodes(const CallGraph& graph, const Leaving& leaving) {
    std::vector<std::uint32_t> open(graph.nodes, 0), ready;
    for (const auto& edge : graph.edges) ++open[edge.to];
    for (std::uint32_t n = 0; n < graph.nodes; ++n) {
        if (open[n] == 0) ready.push_back(n);
    }
    std::vector<bool> stuck(graph.nodes, true);
    while (!ready.empty()) {
        const std::uint32_t node = ready.back();
        ready.pop_back();
        stuck[node] = false;
        for (std::uint32_t i = leaving.begin[node]; i < leaving.begin[node + 1]; ++i) {
            const std::uint32_t to = graph.edges[leaving.edge[i]].to;
            if (--open[to] == 0) ready.push_back(to);
        }
    }
    return stuck;
}

/// Strongly connected components among the stuck nodes (Tarjan, with a stack of its own).
class Components {
  public:
    Components(const CallGraph& graph, const Leaving& leaving, const std::vector<bool>& stuck)
        : graph_(graph), leaving_(leaving), stuck_(stuck), index_(graph.nodes, 0), low_(graph.nodes, 0) {
        of.assign(graph.nodes, Call::kNone);
        for (std::uint32_t n = 0; n < graph.nodes; ++n) {
            if (stuck[n] && index_[n] == 0) visit(n);
        }
    }

    std::vector<std::uint32_t> of{};                    ///< by node
    std::vector<std::vector<std::uint32_t>> members{};  ///< by component

  private:
    struct Frame {
        std::uint32_t node, next;
    };

    void visit(std::uint32_t root) {
        std::vector<Frame> frames;
        const auto enter = [&](std::uint32_t node) {
            index_[node] = low_[node] = ++last_;
            stack_.push_back(node);
            frames.push_back({node, leaving_.begin[node]});
        };
        enter(root);
        while (!frames.empty()) {
            Frame& frame = frames.back();
            if (frame.next < leaving_.begin[frame.node + 1]) {
                const std::uint32_t to = graph_.edges[leaving_.edge[frame.next++]].to;
                if (!stuck_[to]) continue;
                if (index_[to] == 0) {
                    enter(to);
                } else if (of[to] == Call::kNone) {
                    low_[frame.node] = std::min(low_[frame.node], index_[to]);
                }
                continue;
            }
            const std::uint32_t node = frame.node;
            frames.pop_back();
            if (!frames.empty()) low_[frames.back().node] = std::min(low_[frames.back().node], low_[node]);
            if (low_[node] == index_[node]) close(node);
        }
    }

    void close(std::uint32_t root) {
        auto& component = members.emplace_back();
        std::uint32_t node = Call::kNone;
        while (node != root) {
            node = stack_.back();
            stack_.pop_back();
            of[node] = static_cast<std::uint32_t>(members.size() - 1);
            component.push_back(node);
        }
        std::ranges::sort(component);
    }

    const CallGraph& graph_;
    const Leaving& leaving_;
    const std::vector<bool>& stuck_;
    std::vector<std::uint32_t> index_, low_, stack_{};
    std::uint32_t last_ = 0;
};

/// The shortest circle through `start` inside its component; empty if there is none.
std::vector<CallGraph::Edge> circle_through(std::uint32_t start, const CallGraph& graph,
                                            const Leaving& leaving, const Components& components,
                                            std::vector<std::uint32_t>& came_by) {
    std::vector<std::uint32_t> queue{start};
    std::uint32_t closing = Call::kNone;
    for (std::size_t head = 0; head < queue.size() && closing == Call::kNone; ++head) {
        const std::uint32_t node = queue[head];
        for (std::uint32_t i = leaving.begin[node]; i < leaving.begin[node + 1]; ++i) {
            const std::uint32_t edge = leaving.edge[i], to = graph.edges[edge].to;
            if (components.of[to] != components.of[start]) continue;
            if (to == start) {
                closing = edge;
                break;
            }
            if (came_by[to] != Call::kNone) continue;
            came_by[to] = edge;
            queue.push_back(to);
        }
    }
    std::vector<CallGraph::Edge> circle;
    for (std::uint32_t edge = closing; edge != Call::kNone;) {
        circle.push_back(graph.edges[edge]);
        edge = graph.edges[edge].from == start ? Call::kNone : came_by[graph.edges[edge].from];
    }
    std::ranges::reverse(circle);
    for (const std::uint32_t node : queue) came_by[node] = Call::kNone;
    return circle;
}

}  // namespace

CallGraph call_graph(const CallList& list, const CallMatching& matching, Streams streams) {
    return GraphMaker(list, matching, streams).run();
}

CallCircles circles_of(const CallGraph& graph, std::size_t most) {
    /// Circles are sought from so many nodes that this many nodes are looked at.
    constexpr std::size_t kWork = 1'000'000;
    const Leaving leaving(graph);
    const std::vector<bool> stuck = stuck_nodes(graph, leaving);
    CallCircles found;
    if (std::ranges::find(stuck, true) == stuck.end()) return found;
    const Components components(graph, leaving, stuck);
    std::vector<std::uint32_t> came_by(graph.nodes, Call::kNone);
    // The last component that is closed is the first in the order of what must be over before what.
    for (auto it = components.members.rbegin(); it != components.members.rend(); ++it) {
        const std::size_t starts = std::clamp(kWork / it->size(), std::size_t{1}, it->size());
        std::vector<CallGraph::Edge> best;
        for (std::size_t i = 0; i < starts && (best.empty() || best.size() > 2); ++i) {
            if (!best.empty() && found.circles.size() >= most) break;
            auto circle = circle_through((*it)[i], graph, leaving, components, came_by);
            if (circle.empty()) break;  // a single node that only waits for a circle
            if (best.empty() || circle.size() < best.size()) best = std::move(circle);
        }
        if (best.empty()) continue;
        ++found.count;
        if (found.circles.size() < most) found.circles.push_back(std::move(best));
    }
    return found;
}

}  // namespace tutti::verify

// The order of kernels: depth first along what each needs, so that it stays near the order of the program. A
// kernel that is met again while it waits for what it needs closes a circle.

#include "tensor/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tutti::tensor {
namespace {

/// Kernels as nodes, by number: fused ones first, then single values.
struct Graph {
    std::vector<std::size_t> node_of;                        ///< by value
    std::vector<ValueId> single;                             ///< of nodes behind the fused ones: their value
    std::vector<std::pair<std::size_t, std::size_t>> edges;  ///< a node, and one that it needs
    std::vector<std::size_t> begin, needs;                   ///< the same, of each node together

    [[nodiscard]] std::size_t nodes(const Program& program) const {
        return program.fused().size() + single.size();
    }
    [[nodiscard]] const std::string& name(const Program& program, std::size_t node) const {
        const std::size_t fused = program.fused().size();
        return node < fused ? program.fused()[node].name : program[single[node - fused]].name;
    }
};

Graph nodes_of(const Program& program) {
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    Graph graph;
    graph.node_of.assign(program.slots(), kNone);
    for (std::size_t k = 0; k < program.fused().size(); ++k) {
        for (const ValueId id : program.fused()[k].values) graph.node_of[id.index()] = k;
    }
    for (const ValueId id : program.order()) {
        std::size_t& node = graph.node_of[id.index()];
        if (node != kNone) continue;
        node = graph.nodes(program);
        graph.single.push_back(id);
    }
    return graph;
}

void add_data_edges(const Program& program, Graph& graph) {
    for (const ValueId id : program.order()) {
        const std::size_t node = graph.node_of[id.index()];
        for (const ValueId arg : program[id].args) {
            const std::size_t from = graph.node_of[arg.index()];
            if (from != node) graph.edges.emplace_back(node, from);
        }
    }
}

[[noreturn]] void refuse_reader(const Program& program, ValueId update, ValueId reader) {
    throw Refusal("cycle",
                  fmt::format("'{}' needs all of the old '{}', which the same kernel updates",
                              program[reader].name, program[program[update].args[0]].name),
                  program[update].name);
}

/// Readers of a state, or of a part of its memory, come before its update.
void add_storage_edges(const Program& program, Graph& graph) {
    bool any = false;
    for (const ValueId id : program.order()) any = any || program[id].op == Op::Update;
    if (!any) return;
    const Users users(program);
    for (const ValueId update : program.order()) {
        if (program[update].op != Op::Update) continue;
        const std::size_t node = graph.node_of[update.index()];
        std::vector<ValueId> same_memory{program[update].args[0]};
        for (std::size_t i = 0; i < same_memory.size(); ++i) {
            for (const ValueId reader : users[same_memory[i]]) {
                if (reader == update) continue;
                const Value& value = program[reader];
                if (kind_of(value.op) == OpKind::Placement) same_memory.push_back(reader);
                const std::size_t from = graph.node_of[reader.index()];
                if (from != node) {
                    graph.edges.emplace_back(node, from);
                } else if (!is_pointwise(value.op) && value.op != Op::Reduce &&
                           kind_of(value.op) != OpKind::Placement && value.op != Op::Update) {
                    refuse_reader(program, update, reader);
                }
            }
        }
    }
}

void gather_edges(const Program& program, Graph& graph) {
    graph.begin.assign(graph.nodes(program) + 1, 0);
    for (const auto& [node, from] : graph.edges) ++graph.begin[node + 1];
    for (std::size_t i = 1; i < graph.begin.size(); ++i) graph.begin[i] += graph.begin[i - 1];
    graph.needs.resize(graph.edges.size());
    std::vector<std::size_t> next(graph.begin.begin(), graph.begin.end() - 1);
    for (const auto& [node, from] : graph.edges) graph.needs[next[node]++] = from;
}

std::string circle_text(const Program& program, const Graph& graph, const std::vector<std::size_t>& path,
                        std::size_t again) {
    const auto begin = std::ranges::find(path, again);
    std::string text;
    std::size_t shown = 0;
    for (auto node = begin; node != path.end(); ++node) {
        if (++shown > 8) {
            text += "… needs ";
            break;
        }
        text += fmt::format("'{}' needs ", graph.name(program, *node));
    }
    return text + fmt::format("'{}'", graph.name(program, again));
}

/// Node numbers, each after all that it needs.
std::vector<std::size_t> sorted(const Program& program, const Graph& graph) {
    enum class State : char { New, Open, Done };
    std::vector<State> state(graph.nodes(program), State::New);
    std::vector<std::size_t> next(graph.begin.begin(), graph.begin.end() - 1), path, order;
    for (const ValueId id : program.order()) {
        const std::size_t start = graph.node_of[id.index()];
        if (state[start] != State::New) continue;
        path.push_back(start);
        state[start] = State::Open;
        while (!path.empty()) {
            const std::size_t node = path.back();
            if (next[node] == graph.begin[node + 1]) {
                state[node] = State::Done;
                order.push_back(node);
                path.pop_back();
                continue;
            }
            const std::size_t needed = graph.needs[next[node]++];
            if (state[needed] == State::Open) {
                throw Refusal("cycle",
                              "each would wait for the other: " + circle_text(program, graph, path, needed),
                              graph.name(program, needed));
            }
            if (state[needed] == State::New) {
                state[needed] = State::Open;
                path.push_back(needed);
            }
        }
    }
    return order;
}

Graph graph_of(const Program& program) {
    Graph graph = nodes_of(program);
    add_data_edges(program, graph);
    add_storage_edges(program, graph);
    gather_edges(program, graph);
    return graph;
}

}  // namespace

bool does_work(const Value& value) {
    switch (kind_of(value.op)) {
        case OpKind::Pointwise:
        case OpKind::Compute:
        case OpKind::Collective:
            return true;
        default:
            return false;
    }
}

void check_kernel_order(const Program& program) { (void)sorted(program, graph_of(program)); }

Kernels::Kernels(const Program& program) : of_(program.slots()) {
    const Graph graph = graph_of(program);
    const std::size_t fused = program.fused().size();
    std::vector<KernelId> place(graph.nodes(program));
    begin_.push_back(0);
    for (const std::size_t node : sorted(program, graph)) {
        place[node] = KernelId(kernels_.size());
        kernels_.push_back({graph.name(program, node), {}, node < fused});
        for (std::size_t i = graph.begin[node]; i < graph.begin[node + 1]; ++i)
            needs_.push_back(place[graph.needs[i]]);
        begin_.push_back(needs_.size());
    }
    for (const ValueId id : program.order()) {
        of_[id.index()] = place[graph.node_of[id.index()]];
        kernels_[of_[id.index()].index()].values.push_back(id);
    }
}

std::optional<KernelId> Kernels::find(std::string_view name) const {
    std::optional<KernelId> found;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
        if (kernels_[i].name != name) continue;
        if (kernels_[i].fused) return KernelId(i);
        found = KernelId(i);
    }
    return found;
}

std::size_t Kernels::working(const Program& program) const {
    return static_cast<std::size_t>(std::ranges::count_if(kernels_, [&](const Kernel& kernel) {
        return std::ranges::any_of(kernel.values, [&](ValueId id) { return does_work(program[id]); });
    }));
}

}  // namespace tutti::tensor

// The order of kernels: depth first along what each needs, so that it stays near the order of the program. A
// kernel that is met again while it waits for what it needs closes a circle.

#include "tensor/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::tensor {
namespace {

/// Kernels as nodes, by number: fused ones first, then single values.
struct Graph {
    std::vector<Kernel> nodes;
    std::vector<std::size_t> node_of;  ///< by value
    std::vector<std::vector<std::size_t>> needs;
};

Graph nodes_of(const Program& program) {
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    Graph graph{{}, std::vector<std::size_t>(program.slots(), kNone), {}};
    for (const Fused& fused : program.fused()) {
        for (const ValueId id : fused.values) graph.node_of[id.index()] = graph.nodes.size();
        graph.nodes.push_back({fused.name, {}, true});
    }
    for (const ValueId id : program.order()) {
        std::size_t& node = graph.node_of[id.index()];
        if (node == kNone) {
            node = graph.nodes.size();
            graph.nodes.push_back({program[id].name, {}, false});
        }
        graph.nodes[node].values.push_back(id);
    }
    graph.needs.resize(graph.nodes.size());
    return graph;
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
                    graph.needs[node].push_back(from);
                } else if (!is_pointwise(value.op) && value.op != Op::Reduce &&
                           kind_of(value.op) != OpKind::Placement && value.op != Op::Update) {
                    refuse_reader(program, update, reader);
                }
            }
        }
    }
}

std::string circle_text(const Graph& graph, const std::vector<std::size_t>& path, std::size_t again) {
    const auto begin = std::ranges::find(path, again);
    std::string text;
    std::size_t shown = 0;
    for (auto node = begin; node != path.end(); ++node) {
        if (++shown > 8) {
            text += "… needs ";
            break;
        }
        text += fmt::format("'{}' needs ", graph.nodes[*node].name);
    }
    return text + fmt::format("'{}'", graph.nodes[again].name);
}

/// Node numbers, each after all that it needs.
std::vector<std::size_t> sorted(const Graph& graph, const std::vector<std::size_t>& first) {
    enum class State : char { New, Open, Done };
    std::vector<State> state(graph.nodes.size(), State::New);
    std::vector<std::size_t> next(graph.nodes.size()), path, order;
    for (const std::size_t start : first) {
        if (state[start] != State::New) continue;
        path.push_back(start);
        state[start] = State::Open;
        while (!path.empty()) {
            const std::size_t node = path.back();
            if (next[node] == graph.needs[node].size()) {
                state[node] = State::Done;
                order.push_back(node);
                path.pop_back();
                continue;
            }
            const std::size_t needed = graph.needs[node][next[node]++];
            if (state[needed] == State::Open) {
                throw Refusal("cycle", "each would wait for the other: " + circle_text(graph, path, needed),
                              graph.nodes[needed].name);
            }
            if (state[needed] == State::New) {
                state[needed] = State::Open;
                path.push_back(needed);
            }
        }
    }
    return order;
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

Kernels::Kernels(const Program& program) : of_(program.slots()) {
    Graph graph = nodes_of(program);
    std::vector<std::size_t> in_program_order;
    for (const ValueId id : program.order()) {
        const std::size_t node = graph.node_of[id.index()];
        in_program_order.push_back(node);
        for (const ValueId arg : program[id].args) {
            const std::size_t from = graph.node_of[arg.index()];
            if (from != node) graph.needs[node].push_back(from);
        }
    }
    add_storage_edges(program, graph);
    for (const std::size_t node : sorted(graph, in_program_order)) {
        for (const ValueId id : graph.nodes[node].values) of_[id.index()] = KernelId(kernels_.size());
        kernels_.push_back(std::move(graph.nodes[node]));
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

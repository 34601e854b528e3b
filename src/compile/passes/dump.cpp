// What there is after a pass, for people. A line has only what the passes so far have decided, so that the
// difference of two dumps is what the passes between them did.

#include "compile/passes/dump.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

namespace tutti::compile {

std::vector<std::string_view> pass_names() {
    return {"trace", "clock", "lanes", "blocks", "order", "sums", "channels", "steps", "replicate"};
}

namespace passes {
namespace {

std::string range_of(plan::Buffer buffer, std::uint32_t first, std::uint32_t count) {
    if (count == 1) return fmt::format("{}[{}]", letter_of(buffer), first);
    return fmt::format("{}[{}..{}]", letter_of(buffer), first, first + count - 1);
}

class Dumper {
  public:
    Dumper(const lang::Trace& program, const Graph& graph, const Clock& clock, const Layout& layout,
           Pass pass)
        : program_(program), graph_(graph), clock_(clock), layout_(layout), pass_(pass) {}

    [[nodiscard]] std::string text() const {
        std::string text = fmt::format("{} instructions of {} ranks\n", graph_.size(), graph_.ranks());
        for (std::uint32_t l = 0; after(Pass::Lanes) && l < layout_.lanes.size(); ++l) text += lane(l);
        for (std::uint32_t b = 0; after(Pass::Blocks) && b < layout_.blocks.size(); ++b) text += block(b);
        if (after(Pass::Order)) {
            for (const std::uint32_t i : layout_.order) {
                text += line(i) + "\n";
                if (fused(i) != kNone) text += line(fused(i)) + "\n";
            }
        } else {
            for (std::uint32_t i = 0; i < graph_.size(); ++i) text += line(i) + "\n";
        }
        return text;
    }

    [[nodiscard]] std::string dot() const {
        std::string text = "digraph program {\n  node [shape=box];\n";
        // A cluster for each thread block, or rank while there are none.
        std::map<std::uint32_t, std::string> clusters;
        for (std::uint32_t i = 0; i < graph_.size(); ++i) {
            const std::uint32_t cluster =
                after(Pass::Blocks) ? layout_.block_of[i] : graph_.instructions[i].rank;
            clusters[cluster] += fmt::format("    i{} [label=\"{}\"];\n", i, line(i));
        }
        for (const auto& [number, nodes] : clusters) {
            text += fmt::format("  subgraph cluster_{} {{\n    label=\"{} {}\";\n{}  }}\n", number,
                                after(Pass::Blocks) ? "block" : "rank", number, nodes);
        }
        for (std::uint32_t i = 0; i < graph_.size(); ++i) {
            for (const std::uint32_t b : graph_.before(i)) {
                const bool message = graph_.instructions[i].match == b;
                text += fmt::format("  i{} -> i{}{};\n", b, i, message ? " [style=bold]" : "");
            }
        }
        return text + "}\n";
    }

  private:
    [[nodiscard]] bool after(Pass pass) const { return pass_ >= pass; }
    [[nodiscard]] std::uint32_t fused(std::uint32_t i) const {
        return graph_.instructions[i].receives() ? layout_.fused[i] : kNone;
    }

    [[nodiscard]] std::string lane(std::uint32_t l) const {
        const Lane& lane = layout_.lanes[l];
        std::string text =
            fmt::format("lane {}: rank {} to {}, {} messages", l, lane.from, lane.to, lane.messages);
        if (lane.onward != kNone) text += fmt::format(", goes on as lane {}", lane.onward);
        if (after(Pass::Channels)) text += fmt::format(", channel {}", lane.channel);
        return text + "\n";
    }
    [[nodiscard]] std::string block(std::uint32_t b) const {
        const Block& block = layout_.blocks[b];
        std::string text = fmt::format("block {}: rank {}", b, block.rank);
        if (block.wanted >= 0) text += fmt::format(", thread block {} of the program", block.wanted);
        if (block.in != kNone) text += fmt::format(", receives on lane {}", block.in);
        if (block.out != kNone) text += fmt::format(", sends on lane {}", block.out);
        return text + "\n";
    }

    [[nodiscard]] std::string line(std::uint32_t i) const {
        const Instruction& one = graph_.instructions[i];
        std::string text = fmt::format("{}: rank {} ", i, one.rank);
        switch (one.kind) {
            case Instruction::Kind::Send:
                text += fmt::format("sends {} to {}", range_of(one.source_buffer, one.source, one.count),
                                    one.peer);
                break;
            case Instruction::Kind::Receive:
                text += fmt::format("{} {} from {}", one.reduces ? "adds to" : "receives",
                                    range_of(one.target_buffer, one.target, one.count), one.peer);
                break;
            case Instruction::Kind::Local:
                text += fmt::format("{} {} to {}", one.reduces ? "adds" : "copies",
                                    range_of(one.source_buffer, one.source, one.count),
                                    range_of(one.target_buffer, one.target, one.count));
                break;
        }
        if (after(Pass::Clock))
            text += fmt::format(", level {} height {}", clock_.level[i], clock_.height[i]);
        if (after(Pass::Lanes) && layout_.lane_of[i] != kNone)
            text += fmt::format(", lane {}", layout_.lane_of[i]);
        if (after(Pass::Lanes) && fused(i) != kNone) text += fmt::format(", one step with {}", fused(i));
        if (after(Pass::Blocks)) text += fmt::format(", block {}", layout_.block_of[i]);
        if (after(Pass::Sums) && layout_.drops_sum[i]) text += ", stores no sum";
        for (std::size_t k = 0; k < graph_.before(i).size(); ++k) {
            text += fmt::format("{}{}", k == 0 ? ", after " : " ", graph_.before(i)[k]);
        }
        const lang::ProgramPlace& place = program_.place_of(program_.verbs[one.verb]);
        if (!place.file.empty()) {
            text += fmt::format("  @{}:{}", place.file.substr(place.file.rfind('/') + 1), place.line);
        }
        return text;
    }

    const lang::Trace& program_;
    const Graph& graph_;
    const Clock& clock_;
    const Layout& layout_;
    Pass pass_;
};

}  // namespace

std::string dump(const lang::Trace& program, const Graph& graph, const Clock& clock, const Layout& layout,
                 Pass pass, bool dot) {
    const Dumper dumper(program, graph, clock, layout, pass);
    return dot ? dumper.dot() : dumper.text();
}

std::string dot_of(const plan::MscclPlan& plan) {
    std::string text = "digraph plan {\n  node [shape=box];\n", edges;
    // By sender, receiver and channel the steps that send; the k-th message is for the k-th receive.
    using Connection = std::array<std::size_t, 3>;
    std::map<Connection, std::vector<std::string>> sent, received;
    for (const plan::Gpu& gpu : plan.gpus) {
        for (const plan::ThreadBlock& block : gpu.blocks) {
            const auto name = [&](std::size_t b, std::size_t s) {
                return fmt::format("g{}b{}s{}", gpu.id.value(), b, s);
            };
            text += fmt::format("  subgraph cluster_g{}b{} {{\n    label=\"rank {} block {}\";\n",
                                gpu.id.value(), block.id.index(), gpu.id.value(), block.id.index());
            const std::size_t channel = block.channel ? (*block.channel).index() : 0;
            for (std::size_t s = 0; s < block.steps.size(); ++s) {
                const plan::Step& step = block.steps[s];
                const std::string node = name(block.id.index(), s);
                text += fmt::format("    {} [label=\"{} {}\"];\n", node, name_of(step.type), step.count);
                if (s > 0) edges += fmt::format("  {} -> {};\n", name(block.id.index(), s - 1), node);
                if (step.dep_block) {
                    edges += fmt::format("  {} -> {} [style=dashed];\n",
                                         name((*step.dep_block).index(), (*step.dep_step).index()), node);
                }
                if (plan::sends(step.type) && block.send_peer) {
                    sent[{gpu.id.index(), (*block.send_peer).index(), channel}].push_back(node);
                }
                if (plan::receives(step.type) && block.recv_peer) {
                    received[{(*block.recv_peer).index(), gpu.id.index(), channel}].push_back(node);
                }
            }
            text += "  }\n";
        }
    }
    for (const auto& [connection, from] : sent) {
        const auto& to = received[connection];
        for (std::size_t k = 0; k < from.size() && k < to.size(); ++k) {
            edges += fmt::format("  {} -> {} [style=bold];\n", from[k], to[k]);
        }
    }
    return text + edges + "}\n";
}

}  // namespace passes
}  // namespace tutti::compile

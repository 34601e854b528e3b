#include "compile/trace_graph.hpp"

#include "compile/graph_builder.hpp"

#include <algorithm>
#include <utility>

namespace tutti::compile {
namespace {

using lang::Verb;

class TraceGraph {
  public:
    TraceGraph(const lang::Trace& trace, std::uint32_t most)
        : trace_(trace), most_(most), builder_(laid_out()) {
        std::size_t instructions = 0, reads = 0;
        for (const Verb& verb : trace.verbs) {
            const std::size_t halves = verb.from.rank == verb.to.rank ? 1 : 2;
            instructions += halves * ((verb.count + most - 1) / most);
            reads += verb.count;
        }
        builder_.reserve(instructions, reads);
        for (std::uint32_t v = 0; v < trace.verbs.size(); ++v) add(v);
        mark_results();
    }
    Graph take() { return builder_.take(); }

  private:
    /// Scratch buffers of a rank lie one behind the other.
    std::vector<RankMemory> laid_out() {
        const std::uint32_t ranks = trace_.shape.ranks;
        buffers_ = lang::kFirstScratch + trace_.scratch.size();
        offsets_.assign(ranks * buffers_, 0);
        // The sizes of the buffers first; what is before them then takes their place.
        const auto grow = [&](const lang::Slot& slot, std::uint32_t count) {
            std::uint32_t& size = offsets_[slot.rank * buffers_ + slot.buffer];
            size = std::max(size, slot.index + count);
        };
        for (const Verb& verb : trace_.verbs) {
            grow(verb.from, verb.count);
            grow(verb.to, verb.count);
        }
        std::vector<RankMemory> memory;
        memory.reserve(ranks);
        for (std::uint32_t r = 0; r < ranks; ++r) {
            std::uint32_t scratch = 0;
            for (std::size_t b = lang::kFirstScratch; b < buffers_; ++b) {
                const std::uint32_t size = std::exchange(offsets_[r * buffers_ + b], scratch);
                scratch += size;
            }
            memory.push_back({input_chunks(trace_.shape), output_chunks(trace_.shape), scratch});
        }
        return memory;
    }

    [[nodiscard]] static plan::Buffer buffer(const lang::Slot& slot) {
        return slot.buffer == lang::kInput    ? plan::Buffer::Input
               : slot.buffer == lang::kOutput ? plan::Buffer::Output
                                              : plan::Buffer::Scratch;
    }
    [[nodiscard]] std::uint32_t offset(const lang::Slot& slot) const {
        return slot.index +
               (slot.buffer < lang::kFirstScratch ? 0 : offsets_[slot.rank * buffers_ + slot.buffer]);
    }

    void add(std::uint32_t v) {
        const Verb& verb = trace_.verbs[v];
        for (std::uint32_t done = 0; done < verb.count; done += most_) {
            Instruction i;
            i.reduces = verb.kind == Verb::Kind::Reduce;
            i.source_buffer = buffer(verb.from);
            i.source = offset(verb.from) + done;
            i.target_buffer = buffer(verb.to);
            i.target = offset(verb.to) + done;
            i.count = std::min(most_, verb.count - done);
            i.verb = v;
            i.channel = verb.directive.channel;
            i.rank = verb.from.rank;
            i.peer = verb.to.rank;
            i.block = verb.directive.send_block;
            if (i.rank == i.peer) {
                i.kind = Instruction::Kind::Local;
                builder_.append(i, kNoInstruction);
                continue;
            }
            i.kind = Instruction::Kind::Send;
            i.match = builder_.size() + 1;
            const std::uint32_t send = builder_.append(i, kNoInstruction);
            std::swap(i.rank, i.peer);
            i.kind = Instruction::Kind::Receive;
            i.match = send;
            i.block = verb.directive.receive_block;
            if (i.reduces) {
                i.source_buffer = i.target_buffer;
                i.source = i.target;
            }
            builder_.append(i, send);
        }
    }

    void mark_results() {
        const auto mark = [&](const lang::Slot& slot) {
            builder_.mark_result(slot.rank, buffer(slot), offset(slot));
        };
        if (trace_.shape.kind == CollectiveKind::Custom) {
            for (std::uint32_t r = 0; r < trace_.shape.ranks; ++r) {
                for (std::uint32_t i = 0; i < output_chunks(trace_.shape); ++i) {
                    mark(resolved(trace_.shape, {r, lang::kOutput, i}));
                }
            }
        } else {
            for (std::uint32_t r = 0; r < trace_.shape.ranks; ++r) {
                for (const lang::Wanted& wanted : wanted_values(trace_.shape, r)) mark(wanted.slot);
            }
        }
    }

    const lang::Trace& trace_;
    std::uint32_t most_;
    std::size_t buffers_ = 0;             ///< of each rank
    std::vector<std::uint32_t> offsets_;  ///< of scratch buffers, by rank and buffer
    GraphBuilder builder_;
};

}  // namespace

Graph graph_of(const lang::Trace& trace, std::uint32_t most) { return TraceGraph(trace, most).take(); }

}  // namespace tutti::compile

#include "compile/trace_graph.hpp"

#include <algorithm>

namespace tutti::compile {
namespace {

using lang::Slot;
using lang::Verb;

/// Who touched a place last.
struct Touched {
    std::uint32_t writer = kNoInstruction;
    std::uint32_t first_reader = kNoInstruction;  ///< of a list of those since
};
struct Reader {
    std::uint32_t instruction, next;
};

class Builder {
  public:
    Builder(const lang::Trace& trace, std::uint32_t most) : trace_(trace), most_(most) {
        graph_.ranks = trace.shape.ranks;
        graph_.inputs = input_chunks(trace.shape);
        graph_.outputs = output_chunks(trace.shape);
        lay_out();
        for (std::uint32_t v = 0; v < trace.verbs.size(); ++v) add(v);
        mark_results();
    }
    Graph take() { return std::move(graph_); }

  private:
    /// Scratch buffers of a rank lie one behind the other.
    void lay_out() {
        const std::size_t buffers = lang::kFirstScratch + trace_.scratch.size();
        std::vector<std::vector<std::uint32_t>> sizes(graph_.ranks, std::vector<std::uint32_t>(buffers));
        const auto grow = [&](const Slot& slot, std::uint32_t count) {
            auto& size = sizes[slot.rank][slot.buffer];
            size = std::max(size, slot.index + count);
        };
        for (const Verb& verb : trace_.verbs) {
            grow(verb.from, verb.count);
            grow(verb.to, verb.count);
        }
        offsets_.resize(graph_.ranks);
        first_.resize(graph_.ranks);
        std::size_t places = 0;
        for (std::uint32_t r = 0; r < graph_.ranks; ++r) {
            std::uint32_t scratch = 0;
            offsets_[r].resize(buffers);
            for (std::size_t b = lang::kFirstScratch; b < buffers; ++b) {
                offsets_[r][b] = scratch;
                scratch += sizes[r][b];
            }
            graph_.scratch.push_back(scratch);
            first_[r] = places;
            places += graph_.inputs + graph_.outputs + scratch;
        }
        touched_.resize(places);
    }

    [[nodiscard]] plan::Buffer buffer(const Slot& slot) const {
        return slot.buffer == lang::kInput    ? plan::Buffer::Input
               : slot.buffer == lang::kOutput ? plan::Buffer::Output
                                              : plan::Buffer::Scratch;
    }
    [[nodiscard]] std::uint32_t offset(const Slot& slot) const {
        return slot.index + (slot.buffer < lang::kFirstScratch ? 0 : offsets_[slot.rank][slot.buffer]);
    }
    [[nodiscard]] std::size_t place(std::uint32_t rank, plan::Buffer buffer, std::uint32_t offset) const {
        const std::uint32_t before = buffer == plan::Buffer::Input    ? 0
                                     : buffer == plan::Buffer::Output ? graph_.inputs
                                                                      : graph_.inputs + graph_.outputs;
        return first_[rank] + before + offset;
    }

    void add(std::uint32_t v) {
        const Verb& verb = trace_.verbs[v];
        for (std::uint32_t done = 0; done < verb.count; done += most_) {
            const std::uint32_t count = std::min(most_, verb.count - done);
            Instruction i;
            i.reduces = verb.kind == Verb::Kind::Reduce;
            i.source_buffer = buffer(verb.from);
            i.source = offset(verb.from) + done;
            i.target_buffer = buffer(verb.to);
            i.target = offset(verb.to) + done;
            i.count = count;
            i.verb = v;
            i.channel = verb.directive.channel;
            i.rank = verb.from.rank;
            i.peer = verb.to.rank;
            i.block = verb.directive.send_block;
            if (i.rank == i.peer) {
                i.kind = Instruction::Kind::Local;
                append(i, kNoInstruction);
                continue;
            }
            i.kind = Instruction::Kind::Send;
            i.match = graph_.size() + 1;
            append(i, kNoInstruction);
            std::swap(i.rank, i.peer);
            i.kind = Instruction::Kind::Receive;
            i.match = graph_.size() - 1;
            i.block = verb.directive.receive_block;
            append(i, i.match);
        }
    }

    void append(const Instruction& i, std::uint32_t after) {
        const std::uint32_t number = graph_.size();
        graph_.instructions.push_back(i);
        graph_.reads_of.push_back(0);
        const std::size_t begin = graph_.befores.size();
        if (after != kNoInstruction) graph_.befores.push_back(after);
        for (std::uint32_t k = 0; k < i.count; ++k) {
            if (i.reads()) read(touched_[place(i.rank, i.source_buffer, i.source + k)], number);
        }
        for (std::uint32_t k = 0; k < i.count; ++k) {
            if (i.writes()) write(touched_[place(i.rank, i.target_buffer, i.target + k)], number, i.reduces);
        }
        const auto first = graph_.befores.begin() + static_cast<std::ptrdiff_t>(begin);
        std::sort(first, graph_.befores.end());
        graph_.befores.erase(std::unique(first, graph_.befores.end()), graph_.befores.end());
        graph_.first_before.push_back(static_cast<std::uint32_t>(graph_.befores.size()));
    }
    void read(Touched& place, std::uint32_t number) {
        if (place.writer != kNoInstruction) {
            graph_.befores.push_back(place.writer);
            ++graph_.reads_of[place.writer];
        }
        readers_.push_back({number, place.first_reader});
        place.first_reader = static_cast<std::uint32_t>(readers_.size() - 1);
    }
    void write(Touched& place, std::uint32_t number, bool reduces) {
        if (reduces && place.writer != kNoInstruction) {
            graph_.befores.push_back(place.writer);
            ++graph_.reads_of[place.writer];
        }
        bool read_since = false;
        for (std::uint32_t r = place.first_reader; r != kNoInstruction; r = readers_[r].next) {
            if (readers_[r].instruction == number) continue;  // a local step reads before it writes
            graph_.befores.push_back(readers_[r].instruction);
            read_since = true;
        }
        if (!read_since && place.writer != kNoInstruction) graph_.befores.push_back(place.writer);
        place = {number, kNoInstruction};
    }

    void mark_results() {
        graph_.leaves_result.assign(graph_.instructions.size(), false);
        const auto mark = [&](const Slot& slot) {
            const std::uint32_t writer = touched_[place(slot.rank, buffer(slot), offset(slot))].writer;
            if (writer != kNoInstruction) graph_.leaves_result[writer] = true;
        };
        if (trace_.shape.kind == CollectiveKind::Custom) {
            for (std::uint32_t r = 0; r < graph_.ranks; ++r) {
                for (std::uint32_t i = 0; i < graph_.outputs; ++i) {
                    mark(resolved(trace_.shape, {r, lang::kOutput, i}));
                }
            }
        } else {
            for (const lang::Wanted& wanted : wanted_values(trace_.shape)) mark(wanted.slot);
        }
    }

    const lang::Trace& trace_;
    std::uint32_t most_;
    Graph graph_;
    std::vector<std::vector<std::uint32_t>> offsets_;  ///< of scratch buffers, by rank and buffer
    std::vector<std::size_t> first_;                   ///< a rank's first place
    std::vector<Touched> touched_;
    std::vector<Reader> readers_;
};

}  // namespace

Graph graph_of(const lang::Trace& trace, std::uint32_t most) { return Builder(trace, most).take(); }

Clock clock_of(const Graph& graph) {
    Clock clock;
    clock.level.assign(graph.size(), 0);
    clock.height.assign(graph.size(), 0);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        for (const std::uint32_t b : graph.before(i)) {
            clock.level[i] = std::max(clock.level[i], clock.level[b] + 1);
        }
    }
    for (std::uint32_t i = graph.size(); i-- > 0;) {
        for (const std::uint32_t b : graph.before(i)) {
            clock.height[b] = std::max(clock.height[b], clock.height[i] + 1);
        }
    }
    return clock;
}

}  // namespace tutti::compile

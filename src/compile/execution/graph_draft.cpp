// What ranks do for the instructions of a schedule or program: the thread blocks of the layout are lines of
// work, in the order in which everything runs.
//
// Where messages land. The sender must know that nobody at the receiver uses the place any more. What is
// added lands in scratch of its own, written once. A copy may be put where it belongs if all earlier accesses
// of that place (the edges of the receive) come before the send in the graph: every edge of the graph is kept
// by the plan, and one that leads to another rank is a signal and a wait with all threads between the work
// before and behind it. Otherwise it lands in scratch and is copied.
//
// Whether an access comes before a send is searched backwards from the send, in at most kMostSearched
// instructions; what is not found by then lands in scratch, which is always right. (Around a ring of n ranks
// some 4 n instructions lie between them.) A result of an all-reduce comes back to a rank only after that
// rank's own part has gone out, so nearly always it is put where it belongs.
//
// What is added may be read from its sender instead (`rre`), if the receive comes before everything that
// overwrites the source, and before something that the sender still does: so the sender's call does not
// return, and nobody changes its buffers, before the receiver has read. A value that the sender has just made
// is put all the same, in one operation with making it.

#include "compile/execution/graph_draft.hpp"

#include <algorithm>

namespace tutti::compile::execution {
namespace {

constexpr std::size_t kMostSearched = 4096;

/// Decides which messages may be put where they belong.
class Directness {
  public:
    explicit Directness(const Graph& graph) : graph_(graph), seen_(graph.size(), kNoInstruction) {}

    [[nodiscard]] bool of(std::uint32_t receive) {
        const Instruction& one = graph_.instructions[receive];
        if (one.reduces) return false;
        const std::uint32_t send = one.match;
        std::size_t sought = 0;
        std::uint32_t first = send;
        for (const std::uint32_t b : graph_.before(receive)) {
            if (b == send) continue;
            if (b > send) return false;
            ++sought;
            first = std::min(first, b);
        }
        return sought == 0 || finds(receive, send, first, sought);
    }

  private:
    /// Whether all that the receive comes after, from `first` on, comes before the send.
    [[nodiscard]] bool finds(std::uint32_t receive, std::uint32_t send, std::uint32_t first,
                             std::size_t sought) {
        const auto sought_after = graph_.before(receive);
        open_.assign(1, send);
        seen_[send] = receive;
        for (std::size_t searched = 0; !open_.empty() && searched < kMostSearched; ++searched) {
            const std::uint32_t at = open_.back();
            open_.pop_back();
            for (const std::uint32_t b : graph_.before(at)) {
                if (b < first || seen_[b] == receive) continue;
                seen_[b] = receive;
                if (std::ranges::binary_search(sought_after, b) && --sought == 0) return true;
                open_.push_back(b);
            }
        }
        return false;
    }

    const Graph& graph_;
    std::vector<std::uint32_t> seen_;  ///< by instruction: the receive for which it was found last
    std::vector<std::uint32_t> open_;
};

/// Decides which messages may be read from their senders.
class Readable {
  public:
    explicit Readable(const Graph& graph)
        : graph_(graph),
          afters_(graph),
          feeders_(passes::feeders_of(graph)),
          seen_(graph.size(), kNoInstruction) {}

    [[nodiscard]] bool of(std::uint32_t receive) {
        const Instruction& one = graph_.instructions[receive];
        if (!one.reduces || feeders_[one.match] != passes::kNone) return false;
        // What overwrites the source has an edge from the send.
        return comes_before(receive, one.match, afters_.of(one.match).size() - 1);
    }

  private:
    /// Whether the receive comes before the `writers` that come after the send, and before anything of its
    /// sender.
    [[nodiscard]] bool comes_before(std::uint32_t receive, std::uint32_t send, std::size_t writers) {
        bool waited_for = false;
        open_.assign(1, receive);
        seen_[receive] = receive;
        for (std::size_t searched = 0; searched < open_.size() && searched < kMostSearched; ++searched) {
            for (const std::uint32_t a : afters_.of(open_[searched])) {
                if (seen_[a] == receive) continue;
                seen_[a] = receive;
                if (std::ranges::binary_search(graph_.before(a), send)) --writers;
                waited_for = waited_for || graph_.instructions[a].rank == graph_.instructions[send].rank;
                if (waited_for && writers == 0) return true;
                open_.push_back(a);
            }
        }
        return false;
    }

    const Graph& graph_;
    Afters afters_;
    std::vector<std::uint32_t> feeders_;
    std::vector<std::uint32_t> seen_;  ///< by instruction: the receive for which it was found last
    std::vector<std::uint32_t> open_;
};

class GraphDraft {
  public:
    GraphDraft(const Graph& graph, const passes::Layout& layout, const DraftChoice& choice)
        : graph_(graph), layout_(layout), choice_(choice), move_of_(graph.size(), kNoInstruction) {}

    Draft run() {
        const std::int64_t m = choice_.instances;
        draft_.packets = choice_.packets;
        for (RankMemory memory : graph_.memory) {
            const auto times = static_cast<std::uint32_t>(m);
            memory.inputs *= times;
            memory.outputs *= times;
            memory.scratch *= times;
            draft_.of_rank.push_back({.inputs = memory.inputs,
                                      .outputs = memory.outputs,
                                      .scratch = memory.scratch,
                                      .places = memory});
        }
        number_lines();
        choose_direct();
        choose_reads();
        for (instance_ = 0; instance_ < m; ++instance_) {
            for (const std::uint32_t i : layout_.order) {
                add(i);
                // A send that is fused is done right after what it passes on.
                if (graph_.instructions[i].receives() && layout_.fused[i] != passes::kNone)
                    add(layout_.fused[i]);
            }
        }
        for (RankDraft& rank : draft_.of_rank) rank.lines *= static_cast<std::uint32_t>(m);
        return std::move(draft_);
    }

  private:
    void number_lines() {
        for (const passes::Block& block : layout_.blocks) {
            const bool idle = block.in == passes::kNone && block.out == passes::kNone;
            const bool apart = idle && choice_.copies_apart;
            line_.push_back(apart ? kApart : draft_.of_rank[block.rank].lines++);
        }
    }
    void choose_direct() {
        direct_.assign(graph_.size(), false);
        if (!choice_.direct || choice_.packets) return;
        Directness directness(graph_);
        for (std::uint32_t i = 0; i < graph_.size(); ++i) {
            if (graph_.instructions[i].receives()) direct_[i] = directness.of(i);
        }
    }

    void choose_reads() {
        is_read_.assign(graph_.size(), false);
        if (!choice_.reads || choice_.packets) return;
        Readable readable(graph_);
        for (std::uint32_t i = 0; i < graph_.size(); ++i) {
            if (graph_.instructions[i].receives()) is_read_[i] = readable.of(i);
        }
    }

    [[nodiscard]] plan::Address place(std::uint32_t rank, plan::Buffer buffer, std::uint32_t first,
                                      std::uint32_t count) const {
        const plan::Address at{buffer, plan::ChunkOffset(first)};
        if (choice_.instances == 1) return at;
        return passes::moved(at, choice_.manner, graph_.memory[rank].chunks(buffer), count, instance_,
                             choice_.instances);
    }

    void add(std::uint32_t i) {
        const Instruction& one = graph_.instructions[i];
        RankDraft& rank = draft_.of_rank[one.rank];
        const std::uint32_t block_line = line_[layout_.block_of[i]];
        const std::uint32_t line = block_line + static_cast<std::uint32_t>(instance_) * rank.lines;
        switch (one.kind) {
            case Instruction::Kind::Local:
                if (block_line == kApart) return rank.copies.push_back(local(one));
                rank.works.push_back(
                    {Work::Kind::Local, static_cast<std::uint32_t>(draft_.locals.size()), line});
                draft_.locals.push_back(local(one));
                return;
            case Instruction::Kind::Send:
                rank.works.push_back({Work::Kind::Send, add_move(i), line});
                return;
            case Instruction::Kind::Receive:
                rank.works.push_back({Work::Kind::Receive, move_of_[one.match], line});
                return;
        }
    }

    [[nodiscard]] LocalMove local(const Instruction& one) const {
        return {place(one.rank, one.source_buffer, one.source, one.count),
                place(one.rank, one.target_buffer, one.target, one.count),
                static_cast<std::int32_t>(one.count), one.reduces};
    }

    std::uint32_t add_move(std::uint32_t send) {
        const Instruction& one = graph_.instructions[send];
        const Instruction& arrival = graph_.instructions[one.match];
        Move move{.from = one.rank,
                  .to = one.peer,
                  .source = place(one.rank, one.source_buffer, one.source, one.count),
                  .target = place(one.peer, one.target_buffer, one.target, one.count),
                  .count = static_cast<std::int32_t>(one.count),
                  .reduces = one.reduces};
        move.operand =
            one.reduces ? place(one.peer, arrival.source_buffer, arrival.source, one.count) : move.target;
        move.landing = move.target;
        move.is_read = is_read_[one.match];
        if (choice_.staged) {
            std::int64_t& scratch = draft_.of_rank[one.rank].scratch;
            move.staging = {plan::Buffer::Scratch, plan::id_of<plan::ChunkOffset>(scratch)};
            scratch += one.count;
        }
        if (!direct_[one.match] && !move.is_read) {
            std::int64_t& scratch = draft_.of_rank[one.peer].scratch;
            move.landing = {plan::Buffer::Scratch, plan::id_of<plan::ChunkOffset>(scratch)};
            scratch += one.count;
        }
        move_of_[send] = static_cast<std::uint32_t>(draft_.moves.size());
        draft_.moves.push_back(move);
        return move_of_[send];
    }

    const Graph& graph_;
    const passes::Layout& layout_;
    static constexpr std::uint32_t kApart = ~std::uint32_t{0};

    const DraftChoice& choice_;
    Draft draft_;
    std::vector<std::uint32_t> line_;     ///< by block of the layout, within its rank
    std::vector<bool> direct_, is_read_;  ///< by receive
    std::vector<std::uint32_t> move_of_;  ///< by send, of the instance at hand
    std::int64_t instance_ = 0;
};

}  // namespace

Draft draft_of(const Graph& graph, const passes::Layout& layout, const DraftChoice& choice) {
    return GraphDraft(graph, layout, choice).run();
}

}  // namespace tutti::compile::execution

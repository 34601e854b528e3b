#pragma once

#include "plan/program.hpp"
#include "verify/plan/program_graph.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace tutti::verify {

/// "Does `from` happen before `to`?"
struct OrderQuestion {
    plan::OpId from = plan::kNoOp, to = plan::kNoOp;
};

/// Answers many such queries about one program. Precondition: the graph has no cycle.
///
/// Three passes, each for the queries that the one before left open:
/// - What the queried op's own chain has waited for directly. Settles nearly all queries in plans that order
///   their buffers by explicit dependencies. O(edges + queries).
/// - A search backwards from the queried op, breadth first. The way from one access of a place to the next is
///   short in nearly every plan: a fence, a signal, a wait, a fence; or a packet. It stops at half of what
///   the third pass would cost.
/// - Vector clocks: an op comes after a prefix of each chain (a thread block's ops), so one number per chain
///   and op suffices. Clocks for all chains would take ops x chains numbers, so they are computed for kLanes
///   chains at a time, one cache line per op. An op of no chain counts as a chain, so for plans of packets
///   (32 ranks, 16 000 such ops) this pass alone took 40 times as long as all else. O(edges * kLanes) for
///   every kLanes chains left.
class Reachability {
  public:
    Reachability(const plan::Program& program, const ProgramGraph& graph);

    /// One answer per question, in their order.
    [[nodiscard]] std::vector<bool> answers(const std::vector<OrderQuestion>& questions);

  private:
    static constexpr std::size_t kLanes = 16;

    void first_look(const std::vector<OrderQuestion>& questions, std::vector<bool>& answers) const;
    void search_nearby(const std::vector<OrderQuestion>& questions, std::vector<std::uint32_t>& open,
                       std::vector<bool>& answers) const;
    void by_clocks(const std::vector<OrderQuestion>& questions, const std::vector<std::uint32_t>& open,
                   std::vector<bool>& answers);

    using Clock = std::array<std::uint32_t, kLanes>;
    const plan::Program& program_;
    const ProgramGraph& graph_;
    std::vector<std::uint32_t> chain_;     ///< of each op; an op of no chain is one of its own
    std::vector<std::uint32_t> position_;  ///< in that chain, from 1
    std::vector<std::uint32_t> turn_;      ///< in the graph's order
    std::vector<Clock> clocks_;            ///< of each op, for the chains of one batch
    std::uint32_t chains_ = 0;
};

}  // namespace tutti::verify

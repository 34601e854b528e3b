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
/// An op comes after a prefix of each chain (a thread block's ops), so one number per chain and op suffices:
/// a vector clock. Clocks for all chains would take ops x chains numbers, so they are computed for kLanes
/// chains at a time, one cache line per op, and only for queried chains that a first pass did not settle. The
/// first pass uses only what the queried op's own chain has waited for directly; it settles nearly all
/// queries in plans that order their buffers by explicit dependencies.
///
/// O(edges + queries) for the first pass, then O(edges * kLanes) for every kLanes chains left.
class Reachability {
  public:
    Reachability(const plan::Program& program, const ProgramGraph& graph);

    /// One answer per question, in their order.
    [[nodiscard]] std::vector<bool> answers(const std::vector<OrderQuestion>& questions);

  private:
    static constexpr std::size_t kLanes = 16;

    void first_look(const std::vector<OrderQuestion>& questions, std::vector<bool>& answers) const;
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

#pragma once

#include "plan/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::verify {

/// The order that a program enforces: predecessors of each op, and one topological order.
/// O(ops + edges).
class ProgramGraph {
  public:
    explicit ProgramGraph(const plan::Program& program);
    /// The same of Program::first_before and Program::before.
    ProgramGraph(std::vector<std::uint32_t> first_before, std::vector<plan::OpId> before);

    /// Over all edges that order memory, so without weak ones.
    [[nodiscard]] std::span<const plan::OpId> before(plan::OpId op) const {
        const auto all = sources(op);
        return weak_.empty() ? all : all.first(all.size() - weak_[op]);
    }
    /// Every op once, each after all that happens before it; shorter than the program if there is a cycle.
    /// Ties are broken by number, so the order is the same in every run.
    [[nodiscard]] const std::vector<plan::OpId>& order() const { return order_; }
    [[nodiscard]] bool has_cycle() const { return has_cycle_; }
    /// Ops that wait for each other, each for the next one and the last for the first: the shortest cycle
    /// through one of them. Precondition: has_cycle().
    [[nodiscard]] std::vector<plan::OpId> cycle() const;
    /// How many edges there are, weak ones too.
    [[nodiscard]] std::size_t edges() const { return sources_.size(); }
    /// Only the order is left.
    void forget_edges();

  private:
    void find_order(const std::vector<std::uint32_t>& first_after, const std::vector<plan::OpId>& after);
    [[nodiscard]] std::size_t ops() const { return first_.size() - 1; }
    [[nodiscard]] std::span<const plan::OpId> sources(plan::OpId op) const {
        return std::span(sources_).subspan(first_[op], first_[op + 1] - first_[op]);
    }

    bool has_cycle_ = false;
    std::vector<std::uint32_t> first_;  ///< of each op's predecessors in sources_
    std::vector<plan::OpId> sources_;
    std::vector<std::uint32_t> weak_;  ///< how many of them, the last ones, are weak; empty: none is
    std::vector<plan::OpId> order_;
};

}  // namespace tutti::verify

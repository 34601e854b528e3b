#pragma once

#include "plan/execution_plan.hpp"
#include "plan/program.hpp"
#include "verify/plan/execution_layout.hpp"
#include "verify/plan/execution_names.hpp"
#include "verify/plan/findings.hpp"

#include <cstdint>
#include <vector>

namespace tutti::verify {

/// Converts operands to ranges of memories: the moves of data operations. Errors are violations of the
/// current step of `names`.
class ExecutionMoves {
  public:
    ExecutionMoves(const plan::ExecutionPlan& plan, const ExecutionLayout& layout, ExecutionNames& names,
                   Findings& later, plan::Program& program)
        : plan_(plan),
          layout_(layout),
          names_(names),
          later_(later),
          program_(program),
          places_(program.places_per_chunk) {}

    /// Appends the operation's moves to the program.
    void add(const plan::Operation& op);
    /// Whether there were too many ranges; the rest was left out.
    [[nodiscard]] bool too_large() const { return too_large_; }

  private:
    [[nodiscard]] bool operands_fit(const plan::Operation& op);
    void check_channel_type(const plan::Operation& op);
    void add_move(const plan::Operation& op, const plan::OperandGroup& group);
    void push_move(std::int64_t count);
    void check_overlap(std::int64_t count);
    void check_port_pairs(std::size_t first_move);
    void locate(const plan::Operation& op, const plan::Operand& operand, plan::OperandRole role,
                std::vector<plan::Range>& to);
    void locate_at(const plan::Operation& op, const plan::Operand& operand, Rank gpu, plan::Buffer buffer,
                   bool packets, std::vector<plan::Range>& to);

    const plan::ExecutionPlan& plan_;
    const ExecutionLayout& layout_;
    ExecutionNames& names_;
    Findings& later_;
    plan::Program& program_;
    std::int64_t places_;
    bool too_large_ = false;
    std::vector<plan::Range> reads_, writes_;  ///< of the move at hand
};

}  // namespace tutti::verify

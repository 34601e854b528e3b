// Passes over tiles, of which each reads and writes the nearest cache, are what the interpreter costs: Adam
// has 15 operations, here 10 passes. Results that are dead give their tile to others, so that all of them
// stay in that cache, whatever the number of operations.

#include "run/tile_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tutti::run {

using tensor::DType, tensor::Loop, tensor::LoopConstant, tensor::LoopOperand, tensor::LoopStep, tensor::Op;
using OperandKind = LoopOperand::Kind;

namespace {

/// 1 / number, if the product with it is the quotient for all operands.
std::optional<double> exact_inverse(double number, Storage storage) {
    int exponent = 0;
    if (!std::isfinite(number) || std::abs(std::frexp(number, &exponent)) != 0.5) return std::nullopt;
    const int most = storage == Storage::Single ? std::numeric_limits<float>::max_exponent
                                                : std::numeric_limits<double>::max_exponent;
    if (std::abs(exponent) > most - 4) return std::nullopt;
    return 1 / number;
}

Loop without_exact_divisions(Loop loop, Precision precision) {
    for (LoopStep& step : loop.steps) {
        const bool is_rounded = step.from != DType::F32 && step.from != DType::F64;
        if (step.op != Op::Div || is_rounded || step.operands[1].kind != OperandKind::Constant) continue;
        const LoopConstant constant = loop.constants[step.operands[1].index];
        const auto inverse = exact_inverse(constant.number, storage_of(constant.dtype, precision));
        if (!inverse) continue;
        step.op = Op::Mul;
        step.operands[1].index = loop.constants.size();
        loop.constants.push_back({*inverse, constant.dtype});
    }
    return loop;
}

class Planner {
  public:
    Planner(Loop loop, const std::vector<bool>& is_scalar, Precision precision, const TileTable& table)
        : loop_(std::move(loop)),
          precision_(precision),
          table_(table),
          pair_of_(loop_.steps.size()),
          is_gone_(loop_.steps.size()) {
        plan_.constants = loop_.constants;
        plan_.tensors = loop_.tensors.size();
        scalars_.assign(loop_.constants.size(), true);
        scalars_.insert(scalars_.end(), is_scalar.begin(), is_scalar.end());
        plan_.as_tile.resize(scalars_.size());
    }

    TilePlan made() {
        if (precision_ == Precision::Declared) find_pairs();
        for (std::size_t k = 0; k < loop_.steps.size(); ++k) {
            if (!is_gone_[k]) add(k);
        }
        give_slots();
        note_uses();
        return std::move(plan_);
    }

  private:
    /// An operation on floats as table.pairs counts it.
    [[nodiscard]] static bool can_pair(const LoopStep& step) {
        return step.op >= Op::Add && step.op <= Op::Div && step.from == DType::F32 && step.to == DType::F32;
    }
    [[nodiscard]] static std::size_t number_of(Op op) {
        return static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::Add);
    }

    void find_pairs() {
        std::vector<std::size_t> uses(loop_.steps.size());
        for (const LoopStep& step : loop_.steps) {
            for (const LoopOperand& operand : step.operands) {
                if (operand.kind == OperandKind::Earlier) ++uses[operand.index];
            }
        }
        for (std::size_t k = 0; k < loop_.steps.size(); ++k) {
            const LoopStep& step = loop_.steps[k];
            if (!can_pair(step)) continue;
            for (std::size_t side = 0; side < 2; ++side) {
                const LoopOperand& operand = step.operands[side];
                if (operand.kind != OperandKind::Earlier || uses[operand.index] != 1) continue;
                const LoopStep& inner = loop_.steps[operand.index];
                if (!can_pair(inner) || inner.output || pair_of_[operand.index] ||
                    pair_function(step, inner, side) == nullptr)
                    continue;
                pair_of_[k] = side;
                is_gone_[operand.index] = true;
                break;
            }
        }
    }

    /// `side`: where the inner one is.
    [[nodiscard]] TileFunction pair_function(const LoopStep& step, const LoopStep& inner,
                                             std::size_t side) const {
        const bool is_turned = side == 1 && (step.op == Op::Sub || step.op == Op::Div);
        const std::size_t second = is_turned ? (step.op == Op::Sub ? 4 : 5) : number_of(step.op);
        const std::size_t mask = mask_of({inner.operands[0], inner.operands[1], step.operands[1 - side]});
        return table_.pairs[mask][number_of(inner.op)][second];
    }

    [[nodiscard]] std::size_t place_of(const LoopOperand& operand) const {
        switch (operand.kind) {
            case OperandKind::Constant:
                return operand.index;
            case OperandKind::Tensor:
                return plan_.place_of_tensor(operand.index);
            default:
                return plan_.place_of_tensor(plan_.tensors) + operand.index;
        }
    }
    [[nodiscard]] bool is_scalar(const LoopOperand& operand) const {
        return operand.kind != OperandKind::Earlier && scalars_[place_of(operand)];
    }
    [[nodiscard]] std::size_t mask_of(const std::vector<LoopOperand>& operands) const {
        std::size_t mask = 0;
        for (std::size_t k = 0; k < operands.size(); ++k) {
            if (is_scalar(operands[k])) mask |= std::size_t{1} << k;
        }
        return mask;
    }

    void add(std::size_t k) {
        const LoopStep& step = loop_.steps[k];
        TileStep made{.place = plan_.place_of_tensor(plan_.tensors) + k,
                      .output = step.output,
                      .from = step.from,
                      .to = step.to};
        std::vector<LoopOperand> operands = step.operands;
        if (const auto side = pair_of_[k]) {
            const LoopStep& inner = loop_.steps[operands[*side].index];
            made.function = pair_function(step, inner, *side);
            operands = {inner.operands[0], inner.operands[1], operands[1 - *side]};
        } else if (precision_ == Precision::Field) {
            made.function = step.op == Op::Cast ? nullptr : field_step(step.op);
            ask_for_tiles(operands);
        } else {
            set_function(made, step);
        }
        for (std::size_t i = 0; i < operands.size(); ++i) made.operands[i] = place_of(operands[i]);
        for (std::size_t i = operands.size(); i < made.operands.size(); ++i)
            made.operands[i] = made.operands[0];
        plan_.steps.push_back(made);
    }

    void set_function(TileStep& made, const LoopStep& step) {
        const auto from = static_cast<std::size_t>(storage_of(step.from, precision_)),
                   to = static_cast<std::size_t>(storage_of(step.to, precision_)),
                   dtype = static_cast<std::size_t>(step.to);
        if (step.op == Op::Cast) {
            const bool truncates = !tensor::is_floating(step.to) && step.to != DType::Bool;
            made.function = table_.casts[from][to][truncates ? 1 : 0];
            ask_for_tiles(step.operands);
        } else {
            const auto& by_mask = table_.steps[from];
            const std::size_t op = static_cast<std::size_t>(step.op) - kFirstPointwise;
            made.function = by_mask[mask_of(step.operands)][op];
            if (made.function == nullptr) {
                made.function = by_mask[0][op];
                ask_for_tiles(step.operands);
            }
        }
        made.round = to == 0 ? table_.round_single[dtype] : table_.round_full[dtype];
    }

    void ask_for_tiles(const std::vector<LoopOperand>& operands) {
        for (const LoopOperand& operand : operands) {
            if (is_scalar(operand)) plan_.as_tile[place_of(operand)] = true;
        }
    }

    /// A result never takes the tile of an operand of its own step: they may differ in size.
    void give_slots() {
        std::vector<std::size_t> last(plan_.place_of_tensor(plan_.tensors) + loop_.steps.size());
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
            for (const std::size_t operand : plan_.steps[s].operands) last[operand] = s;
        }
        std::vector<std::vector<std::size_t>> dying(plan_.steps.size());  // slots, by step
        std::vector<std::size_t> free;
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
            TileStep& step = plan_.steps[s];
            if (!step.output) {
                if (free.empty()) free.push_back(plan_.slots++);
                step.slot = free.back();
                free.pop_back();
                dying[std::max(last[step.place], s)].push_back(step.slot);
            }
            free.insert(free.end(), dying[s].begin(), dying[s].end());
        }
    }

    void note_uses() {
        plan_.written.resize(loop_.outputs.size());
        plan_.read.resize(plan_.tensors);
        const std::size_t begin = plan_.place_of_tensor(0), end = plan_.place_of_tensor(plan_.tensors);
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
            const TileStep& step = plan_.steps[s];
            if (step.output) plan_.written[*step.output] = s;
            for (const std::size_t operand : step.operands) {
                if (operand >= begin && operand < end) plan_.read[operand - begin] = s;
            }
        }
    }

    Loop loop_;
    Precision precision_;
    const TileTable& table_;
    std::vector<std::optional<std::size_t>> pair_of_;  ///< by step: the operand that is made with it
    std::vector<bool> is_gone_, scalars_;              ///< by step; by place
    TilePlan plan_;
};

}  // namespace

TilePlan tile_plan(const Loop& loop, const std::vector<bool>& is_scalar, Precision precision,
                   const TileTable& table) {
    return Planner(precision == Precision::Field ? loop : without_exact_divisions(loop, precision), is_scalar,
                   precision, table)
        .made();
}

}  // namespace tutti::run

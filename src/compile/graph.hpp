#pragma once

#include "compile/rank_memory.hpp"
#include "plan/buffer.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::compile {

inline constexpr std::uint32_t kNoInstruction = ~std::uint32_t{0};

/// What one rank does for a verb of a program or a transfer of a schedule. It reads and writes places of its
/// own rank only: what the peer does with a message cannot be said wrongly. What stands at the peer (the
/// target of a Send, the source of a Receive that stores) is a description, for files that have one.
struct Instruction {
    enum class Kind : std::uint8_t {
        Send,     ///< sends `source`
        Receive,  ///< stores what comes in `target`; or, where it reduces, the sum of that and `source`
        Local     ///< copies `source` to `target`, or adds it there
    };
    Kind kind = Kind::Send;
    bool reduces = false;
    plan::Buffer source_buffer{}, target_buffer{};
    std::uint32_t rank = 0, peer = 0;      ///< peer: of Send and Receive
    std::uint32_t source = 0, target = 0;  ///< first chunks
    std::uint32_t count = 0;
    std::uint32_t match = kNoInstruction;   ///< the other half of a message
    std::int32_t block = -1, channel = -1;  ///< what the user wants; -1: nothing
    std::uint32_t path = 0;                 ///< of a message: which of several ways between its ranks
    std::uint32_t verb = 0;                 ///< of the trace, for what is told to people

    [[nodiscard]] bool sends() const { return kind == Kind::Send; }
    [[nodiscard]] bool receives() const { return kind == Kind::Receive; }
    [[nodiscard]] bool reads() const { return kind != Kind::Receive; }
    [[nodiscard]] bool writes() const { return kind != Kind::Send; }
    [[nodiscard]] bool adds_to_source() const { return kind == Kind::Receive && reduces; }
};

/// Instructions and what each comes after, in an order that respects it: `before` always leads to smaller
/// numbers. Whatever edges a pass adds forward in that order cannot make a circle. The order is that of the
/// program's verbs, or of the schedule's time.
struct Graph {
    std::vector<RankMemory> memory{};  ///< by rank
    std::vector<Instruction> instructions{};
    std::vector<std::uint32_t> first_before{0};  ///< by instruction, in `befores`; one more at the end
    std::vector<std::uint32_t> befores{};
    /// By instruction that writes: how many places of later instructions read what it wrote, and whether a
    /// result of the collective is left.
    std::vector<std::uint32_t> reads_of{};
    std::vector<bool> leaves_result{};

    [[nodiscard]] std::span<const std::uint32_t> before(std::uint32_t i) const {
        return {befores.data() + first_before[i], befores.data() + first_before[i + 1]};
    }
    /// The instructions are left, without what they come after and who reads them.
    void forget_order();
    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(memory.size()); }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(instructions.size()); }
};

/// The other direction: what comes after each instruction, in order.
class Afters {
  public:
    /// O(instructions + edges).
    explicit Afters(const Graph& graph);
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t i) const {
        return {afters_.data() + first_[i], afters_.data() + first_[i + 1]};
    }

  private:
    std::vector<std::uint32_t> first_, afters_;
};

/// The longest ways: from the start to an instruction, and from it to an end.
struct Clock {
    std::vector<std::uint32_t> level{}, height{};
};
/// O(instructions + edges).
[[nodiscard]] Clock clock_of(const Graph& graph);

}  // namespace tutti::compile

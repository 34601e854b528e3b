#pragma once

#include "plan/buffer.hpp"
#include "plan/msccl_plan.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::compile {

inline constexpr std::uint32_t kNoInstruction = ~std::uint32_t{0};

/// What one rank does for a verb. An instruction names places of its own rank only: what the peer does with
/// a message cannot be said wrongly.
struct Instruction {
    enum class Kind : std::uint8_t {
        Send,     ///< sends `source`
        Receive,  ///< stores, or adds, what comes in `target`
        Local     ///< copies, or adds, `source` to `target`
    };
    Kind kind = Kind::Send;
    bool reduces = false;
    plan::Buffer source_buffer{}, target_buffer{};
    std::uint32_t rank = 0, peer = 0;      ///< peer: of Send and Receive
    std::uint32_t source = 0, target = 0;  ///< first chunks
    std::uint32_t count = 0;
    std::uint32_t match = kNoInstruction;   ///< the other half of a message
    std::int32_t block = -1, channel = -1;  ///< what the user wants; -1: nothing
    std::uint32_t verb = 0;                 ///< of the trace, for messages

    [[nodiscard]] bool sends() const { return kind == Kind::Send; }
    [[nodiscard]] bool receives() const { return kind == Kind::Receive; }
    [[nodiscard]] bool reads() const { return kind != Kind::Receive; }
    [[nodiscard]] bool writes() const { return kind != Kind::Send; }
};

/// Instructions and what each comes after, in an order that respects it: `before` always leads to smaller
/// numbers. Whatever edges a pass adds forward in that order cannot make a circle.
struct Graph {
    std::uint32_t ranks = 0;
    std::vector<std::uint32_t> scratch{};   ///< chunks, by rank
    std::uint32_t inputs = 0, outputs = 0;  ///< chunks of every rank
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
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(instructions.size()); }
};

/// The longest ways: from the start to an instruction, and from it to an end.
struct Clock {
    std::vector<std::uint32_t> level{}, height{};
};
/// O(instructions + edges).
[[nodiscard]] Clock clock_of(const Graph& graph);

}  // namespace tutti::compile

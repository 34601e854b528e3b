#pragma once

#include "compile/excess.hpp"
#include "compile/graph.hpp"
#include "lang/trace.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace tutti::compile::passes {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// A connection: messages in order from one rank to another.
struct Lane {
    std::uint32_t from = 0, to = 0;
    std::int32_t wanted_channel = -1;  ///< the user's; -1: any
    std::uint32_t channel = 0;
    std::uint32_t messages = 0;
    std::uint32_t onward = kNone;   ///< the lane on which the receiving thread block also sends
    std::uint32_t inbound = kNone;  ///< the lane on which the sending thread block also receives
};

/// A thread block: it receives on at most one lane and sends on at most one.
struct Block {
    std::uint32_t rank = 0;
    std::uint32_t in = kNone, out = kNone;
    std::int32_t wanted = -1;  ///< the user's number; -1: any
};

/// Who does what: each pass adds to it.
struct Layout {
    std::vector<Lane> lanes{};
    std::vector<std::uint32_t> lane_of{};  ///< by instruction; none for local ones
    std::vector<std::uint32_t> fused{};    ///< by receive: the send that is done in the same step
    std::vector<bool> is_fused{};          ///< by send
    std::vector<bool> drops_sum{};         ///< by receive: its sum is only sent on
    std::vector<Block> blocks{};
    std::vector<std::uint32_t> block_of{};  ///< by instruction
    std::vector<std::uint32_t> order{};     ///< all instructions but fused sends, as they can run
    /// Of a rank that has scratch which is never stored: the new number of each of its places.
    std::vector<std::vector<std::uint32_t>> scratch_place{};
    std::vector<std::uint32_t> scratch{};  ///< by rank: how many places are left
    std::uint32_t channels = 1;
    bool peeled = false;  ///< some messages got lanes of their own to be fused
};

/// How the passes choose where there is a choice.
struct Choice {
    bool fuse = true;
    bool peel = true;                   ///< what could be fused elsewhere gets lanes of its own
    bool in_turn = false;               ///< only sends that need not go before others of their lane are fused
    bool pack = false;                  ///< lanes share thread blocks even where nothing can be fused
    std::uint32_t lane_length = kNone;  ///< messages of one lane
    std::uint32_t paths = kNone;        ///< lanes for different paths between two ranks
    std::uint32_t in_flight = kNone;    ///< messages under way on a lane, in the order of the graph
    bool locals_apart = false;          ///< local instructions have a thread block of their own
    std::uint32_t most_channels = 32;
    bool graph_order = false;    ///< ready instructions run in the order of the graph
    std::uint32_t fifo = kNone;  ///< messages that a lane holds
};

/// For each send, the receive that brought all that it sends, if it is one and the only instruction that the
/// send comes after; of the sends of one receive, each is in the list of several.
[[nodiscard]] std::vector<std::uint32_t> feeders_of(const Graph& graph);

/// Lanes, which of them share a thread block, and what is done in one step.
void form_lanes(const Graph& graph, const Clock& clock, const Choice& choice, Layout& layout);
/// The thread blocks that the program asks for. Throws InputError where they contradict each other.
void take_manual_blocks(const Graph& graph, const lang::Trace& trace, const Choice& choice,
                        const Clock& clock, Layout& layout);
/// Thread blocks for lanes, and for local instructions.
void form_blocks(const Graph& graph, const Choice& choice, Layout& layout);
/// The order in which instructions run; false: they cannot all run with lanes that hold so few messages.
[[nodiscard]] bool find_order(const Graph& graph, const Clock& clock, const Choice& choice, Layout& layout);
/// Whether that order also runs where each lane holds so many chunks, not messages.
[[nodiscard]] bool runs_by_chunks(const Graph& graph, const Layout& layout, std::uint32_t room);
/// Sums that need not be stored.
void drop_sums(const Graph& graph, Layout& layout);
/// Removes scratch that is never stored.
void pack_scratch(const Graph& graph, Layout& layout);
/// Lanes to channels, within the limits if there are any.
[[nodiscard]] std::optional<Excess> choose_channels(std::uint32_t ranks, const MscclLimits* limits,
                                                    Layout& layout);
/// Steps and what they wait for, within the limits if there are any. The order is not in the layout any more
/// then.
[[nodiscard]] std::variant<std::vector<plan::Gpu>, Excess> steps_of(const Graph& graph,
                                                                    const MscclLimits* limits,
                                                                    Layout& layout);

}  // namespace tutti::compile::passes

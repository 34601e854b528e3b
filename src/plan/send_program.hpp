#pragma once

#include "plan/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::plan {

/// The common form of plans that send addresses from node to node, for verification and timing. SCCL's and
/// TACCL's plans have it (sccl_plan.hpp); TE-CCL's epochs and, for timing, TACOS's queues are converted to it
/// (docs/step-formats.md). It has no thread blocks, channels or buffers. It may be an incorrect plan: the
/// verifier decides.

/// What determines when a send starts, and so which value it carries.
enum class SendClock : std::uint8_t {
    Steps,   ///< SCCL: all sends of a step read what was there before it, and arrive at its end
    Times,   ///< TACCL: a send reads at its time, and arrives after the link's latency
    Epochs,  ///< TE-CCL: a send reads at the beginning of its epoch
    Queues   ///< TACOS: each lane sends in the order of its sends, each as soon as the source holds it
};
/// "steps", "times", …
[[nodiscard]] std::string_view name_of(SendClock clock);

/// A piece of data: the nodes `pre` hold it at first and the nodes `post` must hold it in the end. Several
/// chunks with one address are contributions to a sum; a node holds at that address the sum of those it got.
struct SendChunk {
    std::vector<PlanNode> pre{}, post{};  ///< sorted
    std::int64_t address = 0;
    friend bool operator==(const SendChunk&, const SendChunk&) = default;
};

struct NodeSend {
    std::int64_t address = 0;
    PlanNode src{}, dst{};
    std::int32_t list = 0;                     ///< where it stands in the file: the step, flow or link
    std::optional<std::int32_t> position = 0;  ///< and its place in there; none: the list is the send
    std::int64_t when = 0;                     ///< step, time or epoch; for queues 0
    std::optional<std::int64_t> arrives{};     ///< in the same unit, where the file claims it
    std::int32_t lane = 0;                     ///< which of the links between the two nodes
    bool replaces = false;  ///< the destination's value becomes the sent one; else it is added
    friend bool operator==(const NodeSend&, const NodeSend&) = default;
};

struct SendProgram {
    SendClock clock = SendClock::Steps;
    std::int32_t nodes = 0;
    std::vector<std::string> node_names{};  ///< empty: nodes are called by their numbers
    std::vector<SendChunk> chunks{};
    std::vector<std::string> address_names{};  ///< empty: addresses are called by their numbers
    std::vector<NodeSend> sends{};             ///< in the file's order
    friend bool operator==(const SendProgram&, const SendProgram&) = default;
};

/// Whether both ends of a send are nodes of the program.
[[nodiscard]] inline bool joins_nodes(const SendProgram& program, const NodeSend& send) {
    return std::max(send.src, send.dst).index() < static_cast<std::size_t>(program.nodes);
}
/// "node 3", or the file's name for it.
[[nodiscard]] std::string node_name(std::span<const std::string> names, PlanNode node);
[[nodiscard]] std::string node_name(const SendProgram& program, PlanNode node);
/// "address 7", "chunk 7" of a queue, or the file's name for it.
[[nodiscard]] std::string address_name(const SendProgram& program, std::int64_t address);

}  // namespace tutti::plan

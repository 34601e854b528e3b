#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::plan {

/// A plan that is a list of sends of addresses from node to node, with what lies where before and must lie
/// where after: what SCCL, TACCL, TACOS and ForestColl write, and what TE-CCL's schedules come down to
/// (docs/step-formats.md). It says nothing of thread blocks, channels or buffers. The struct holds what a
/// file says; what is only wrong is for the verifier to tell.

/// What decides when a send leaves, and so what it carries.
enum class SendClock : std::uint8_t {
    Steps,   ///< SCCL: all sends of a step read what was there before it, and arrive at its end
    Times,   ///< TACCL: a send reads at its time, and arrives after the link's latency
    Epochs,  ///< TE-CCL: a send reads at the beginning of its epoch
    Queues,  ///< TACOS: each link sends its queue in order, each chunk as soon as the source holds it
    Trees    ///< ForestColl: each address goes down a tree, from its root to all nodes
};
/// "steps", "times", …
[[nodiscard]] std::string_view name_of(SendClock clock);

/// A piece of data: it lies on `pre` at first and must lie on `post` in the end. Where several chunks have
/// one address they are contributions to a sum, and a node has at that address the sum of those it got.
struct SendChunk {
    std::vector<std::int32_t> pre{}, post{};  ///< nodes; sorted
    std::int64_t address = 0;
    friend bool operator==(const SendChunk&, const SendChunk&) = default;
};

struct NodeSend {
    std::int64_t address = 0;
    std::int32_t src = 0, dst = 0;
    std::int32_t list = 0, position = 0;  ///< where it stands: step, link or tree, and its place in there
    std::int64_t when = 0;                ///< step, time or epoch; for queues and trees 0
    std::int64_t arrives = -1;            ///< as the file claims it, in the same unit; -1: it does not
    std::int32_t lane = 0;                ///< of TACCL: which of the links between the two nodes
    bool replaces = false;                ///< the destination's value becomes the sent one; else it is added
    friend bool operator==(const NodeSend&, const NodeSend&) = default;
};

struct NodeLink {
    std::int32_t src = 0, dst = 0;
    std::int64_t capacity = 1;  ///< Steps: chunks per round. Times: links side by side
    /// What k chunks that leave together take is alpha + k * beta, in millionths of TACCL's unit of time or
    /// in picoseconds (TACOS).
    std::int64_t alpha = 0, beta = 0;
    friend bool operator==(const NodeLink&, const NodeLink&) = default;
};

/// A limit that all sends from one of `srcs` to one of `dsts` share.
struct NodeSwitch {
    std::vector<std::int32_t> srcs{}, dsts{};  ///< sorted
    std::int64_t capacity = 1;                 ///< chunks per round
    std::string name{};
    friend bool operator==(const NodeSwitch&, const NodeSwitch&) = default;
};

/// What ForestColl says of the tree that carries the address of the same number.
struct SendTree {
    std::int32_t root = 0;
    std::int64_t index = 0;   ///< among the trees of its root
    std::int64_t chunks = 1;  ///< of the root's share
    std::int64_t height = 0;
    friend bool operator==(const SendTree&, const SendTree&) = default;
};

/// One unit of `when` in units of NodeLink's alpha and beta, for SendClock::Times.
inline constexpr std::int64_t kFinePerTime = 1'000'000;

struct SendPlan {
    SendClock clock = SendClock::Steps;
    std::string format{};      ///< "sccl-json", …
    std::string name{};        ///< of the plan
    std::string collective{};  ///< its name in the file
    std::string runtime{};     ///< of SCCL: the collective that a runtime knows it as
    std::string network{};     ///< the name of the topology
    std::int32_t nodes = 0;
    std::vector<std::string> node_names{};  ///< empty: nodes are called by their numbers
    std::vector<SendChunk> chunks{};        ///< none: where chunks start follows from the collective (TACOS)
    std::int64_t addresses = 0;             ///< of TACOS: how many chunks there are; else 0
    std::vector<std::string> address_names{};  ///< empty: addresses are called by their numbers
    std::vector<NodeSend> sends{};             ///< in the file's order
    std::vector<std::int64_t> rounds{};        ///< per step
    std::int64_t pipeline = 0;                 ///< steps that many apart run at once; 0: one after the other
    std::int64_t extra_rounds = -1;            ///< more rounds than steps, as stated; -1: not stated
    bool has_links = false;                    ///< the file says which links there are
    bool has_latencies = false;                ///< and how long they take
    std::vector<NodeLink> links{};             ///< sorted by src, dst, unless each is a queue
    std::vector<NodeSwitch> switches{};
    std::vector<SendTree> trees{};
    std::int64_t tree_chunks = 0;        ///< of ForestColl: chunks of each node's share
    std::int64_t busiest_link = 0;       ///< of ForestColl: chunks over the busiest link
    std::vector<std::string> remarks{};  ///< what the file contradicts itself in, in words
    friend bool operator==(const SendPlan&, const SendPlan&) = default;
};

/// "node 3", or the file's name for it.
[[nodiscard]] std::string node_name(const SendPlan& plan, std::int32_t node);
/// "address 7", "chunk 7" of a queue, or the file's name for it.
[[nodiscard]] std::string address_name(const SendPlan& plan, std::int64_t address);

}  // namespace tutti::plan

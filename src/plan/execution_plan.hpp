#pragma once

#include "plan/buffer.hpp"
#include "plan/msccl_plan.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::plan {

/// An execution plan of MSCCL++ (JSON, version 0.9): per GPU thread blocks, each a sequence of operations
/// that access local memory, memory of other ranks (memory and port channels) and of groups of ranks (switch
/// channels). Sends and receives are not paired: the plan synchronises by signals, semaphores, barriers and
/// packets. docs/mscclpp-json.md gives the semantics. The structs hold what a file says; the reader rejects
/// only what they cannot represent.

enum class ChannelType : std::uint8_t { Memory, Port, Switch };
inline constexpr int kChannelTypes = 3;
/// "memory", "port", "switch"; and back.
[[nodiscard]] std::string_view name_of(ChannelType type);
[[nodiscard]] std::optional<ChannelType> channel_type(std::string_view name);

enum class OperationType : std::uint8_t {
    Nop,
    Barrier,
    Signal,
    RelaxedSignal,
    Wait,
    RelaxedWait,
    Flush,
    SemRelease,
    SemAcquire,
    Copy,
    Put,
    PutSignal,       ///< pws
    PutSignalFlush,  ///< pwsf
    Get,
    Reduce,                 ///< re
    ReduceSend,             ///< res
    ReadReduce,             ///< rre
    ReadReduceSend,         ///< rres
    CopyPackets,            ///< cpkt
    PutPackets,             ///< ppkt
    UnpackPackets,          ///< upkt
    ReadPutPackets,         ///< rppkt
    ReducePackets,          ///< repkt
    ReduceSendPackets,      ///< respkt
    ReduceCopyPackets,      ///< recpkt
    ReduceCopySendPackets,  ///< recspkt
    GroupStore,             ///< gstore
    GroupStorePackets,      ///< gstorepkt
    GroupReduce,            ///< glre
    GroupReduceStore,       ///< glres
    Pipeline
};
inline constexpr int kOperationTypes = 31;
/// "recspkt" and the like; and back.
[[nodiscard]] std::string_view name_of(OperationType type);
[[nodiscard]] std::optional<OperationType> operation_type(std::string_view name);
[[nodiscard]] std::vector<std::string_view> operation_names();

/// The kind of an operand. Packets are scratch memory in another format, with a flag that marks their
/// arrival; a group is the same place of all ranks of a switch channel.
enum class OperandRole : std::uint8_t { None, Local, Remote, Packets, RemotePackets, Group, GroupPackets };
[[nodiscard]] constexpr bool is_packets(OperandRole role) {
    return role == OperandRole::Packets || role == OperandRole::RemotePackets ||
           role == OperandRole::GroupPackets;
}

/// The operands of an operation type, by position. `pairwise`: destination k gets source k; otherwise every
/// destination gets the sum of all sources.
struct OperationShape {
    OperandRole first_source = OperandRole::None, other_sources = OperandRole::None;
    OperandRole first_destination = OperandRole::None, second_destination = OperandRole::None,
                other_destinations = OperandRole::None;
    bool pairwise = false;

    [[nodiscard]] OperandRole source(std::size_t position) const {
        return position == 0 ? first_source : other_sources;
    }
    [[nodiscard]] OperandRole destination(std::size_t position) const {
        return position == 0 ? first_destination : position == 1 ? second_destination : other_destinations;
    }
    /// Whether the type moves data at all.
    [[nodiscard]] bool moves_data() const { return first_destination != OperandRole::None; }
};
[[nodiscard]] const OperationShape& shape_of(OperationType type);
struct Operation;
/// The same by operation: `ppkt` on a port channel copies packets, which must be there already; on a memory
/// channel it makes packets of plain data.
[[nodiscard]] const OperationShape& shape_of(const Operation& op);
/// The proxy copies packets as they are, flags included, without waiting for them (`ppkt` on a port channel).
[[nodiscard]] bool copies_raw_packets(const Operation& op);
/// Sends a signal on each of its channels (pws and pwsf do, after the put).
[[nodiscard]] bool signals(OperationType type);
[[nodiscard]] bool waits(OperationType type);
/// Whether it adds up its sources.
[[nodiscard]] bool reduces(OperationType type);

enum class ReduceOp : std::uint8_t { Sum, Min, Max };
[[nodiscard]] std::string_view name_of(ReduceOp op);
[[nodiscard]] std::optional<ReduceOp> reduce_op(std::string_view name);

struct Operand {
    enum class Kind : std::uint8_t { Local, Remote, Switch };
    Kind kind = Kind::Local;
    Buffer buffer = Buffer::Input;  ///< Local
    Slot id{};                      ///< Remote: remote buffer of the thread block; Switch: its switch channel
    std::int64_t index = 0, size = 0;  ///< in chunks
    friend bool operator==(const Operand&, const Operand&) = default;
};

/// The kind of operand that a role wants.
[[nodiscard]] constexpr Operand::Kind kind_of(OperandRole role) {
    using enum OperandRole;
    return role == Group || role == GroupPackets     ? Operand::Kind::Switch
           : role == Remote || role == RemotePackets ? Operand::Kind::Remote
                                                     : Operand::Kind::Local;
}

/// The thread block processes part `part` of `parts` of each range.
struct GroupSlice {
    std::int32_t part = 0, parts = 1;
    friend bool operator==(const GroupSlice&, const GroupSlice&) = default;
};

struct Rounds {
    std::int64_t unit_bytes = 0, chunks = 0;
    friend bool operator==(const Rounds&, const Rounds&) = default;
};

struct Operation {
    OperationType type = OperationType::Nop;
    std::vector<Operand> src{}, dst{};
    std::optional<ChannelType> channel_type{};
    std::vector<Slot> channels{};  ///< of the thread block, of that type
    std::optional<ReduceOp> reduce{};
    std::optional<GroupSlice> slice{};
    BarrierId barrier{};
    std::int32_t barrier_blocks = 0;  ///< thread blocks that come to it
    std::vector<SemaphoreId> semaphores{};
    std::optional<Rounds> rounds{};  ///< of a pipeline
    std::vector<Operation> body{};   ///< of a pipeline; holds no pipeline
    friend bool operator==(const Operation&, const Operation&) = default;
};

/// Sources whose sum goes to all of the destinations; `position` is that of the first of either.
struct OperandGroup {
    std::span<const Operand> src{}, dst{};
    std::size_t position = 0;
};
/// One group for each pair of an operation that works by pairs (what has no partner is left out); else one.
[[nodiscard]] std::vector<OperandGroup> operand_groups(const Operation& op);

/// `ids` of the GPU's channels (remote buffers) of one type; the thread block's slots are numbered across all
/// lists of the type.
template <class IdType>
struct BlockList {
    ChannelType type = ChannelType::Memory;
    std::vector<IdType> ids{};
    friend bool operator==(const BlockList&, const BlockList&) = default;
};
using BlockChannels = BlockList<ChannelId>;
using BlockBuffers = BlockList<RemoteBufferId>;  ///< by the channel type that reaches them

/// The channel (remote buffer) of a thread block's slot; nothing if its lists of that type are shorter.
template <class IdType>
[[nodiscard]] std::optional<IdType> listed(const std::vector<BlockList<IdType>>& lists, ChannelType type,
                                           Slot slot) {
    std::size_t left = slot.index();
    for (const BlockList<IdType>& list : lists) {
        if (list.type != type) continue;
        if (left < list.ids.size()) return list.ids[left];
        left -= list.ids.size();
    }
    return std::nullopt;
}

struct ExecutionBlock {
    BlockId id{};
    std::vector<Operation> ops{};
    std::vector<BlockChannels> channels{};
    std::vector<BlockBuffers> buffers{};
    friend bool operator==(const ExecutionBlock&, const ExecutionBlock&) = default;
};

struct SwitchGroup {
    std::int32_t chunks = 0;
    std::vector<Rank> ranks{};
    friend bool operator==(const SwitchGroup&, const SwitchGroup&) = default;
};

/// Channels of a GPU; those of one type are numbered across all such lists.
struct GpuChannels {
    ChannelType type = ChannelType::Memory;
    std::vector<Rank> peers{};          ///< memory, port: one channel each
    Buffer buffer = Buffer::Input;      ///< switch
    std::vector<SwitchGroup> groups{};  ///< switch: one channel each
    friend bool operator==(const GpuChannels&, const GpuChannels&) = default;
};

struct RemoteBuffer {
    Rank rank{};
    Buffer buffer = Buffer::Input;
    std::vector<ChannelType> access{};
    friend bool operator==(const RemoteBuffer&, const RemoteBuffer&) = default;
};

struct ExecutionGpu {
    Rank id{};
    std::int64_t input_chunks = 0, output_chunks = 0, scratch_chunks = 0;
    std::vector<ExecutionBlock> blocks{};
    std::vector<GpuChannels> channels{};
    std::vector<RemoteBuffer> remote_buffers{};
    std::vector<std::int64_t> semaphores{};  ///< initial values
    friend bool operator==(const ExecutionGpu&, const ExecutionGpu&) = default;

    [[nodiscard]] std::int64_t chunks(Buffer buffer) const {
        return buffer == Buffer::Input    ? input_chunks
               : buffer == Buffer::Output ? output_chunks
                                          : scratch_chunks;
    }
};

/// The other ends of a GPU's memory or port channels, by channel number.
[[nodiscard]] std::vector<Rank> peers_of(const ExecutionGpu& gpu, ChannelType type);
/// A switch channel: the buffer of all ranks of the group.
struct GroupChannel {
    const SwitchGroup* group = nullptr;  ///< of the plan; never null
    Buffer buffer = Buffer::Input;
};
/// A GPU's switch channels, by number.
[[nodiscard]] std::vector<GroupChannel> group_channels(const ExecutionGpu& gpu);

struct ExecutionPlan {
    std::string name{};
    std::string collective{};              ///< as spelled
    Protocol protocol = Protocol::Simple;  ///< Simple or LL
    bool in_place = false;
    bool reuse_resources = false, double_scratch = false;
    std::int64_t buffer_alignment = 16, threads_per_block = 1024;
    std::uint64_t min_bytes = 0, max_bytes = std::numeric_limits<std::uint64_t>::max();
    std::vector<ExecutionGpu> gpus{};
    std::vector<std::string> remarks{};  ///< what the reader took in another way than written, in words
    friend bool operator==(const ExecutionPlan&, const ExecutionPlan&) = default;
};

/// Calls visit(operation) for all operations in order, a pipeline before its body.
template <class Visit>
void for_each_operation(const ExecutionPlan& plan, Visit visit) {
    for (const ExecutionGpu& gpu : plan.gpus) {
        for (const ExecutionBlock& block : gpu.blocks) {
            for (const Operation& op : block.ops) {
                visit(op);
                for (const Operation& inner : op.body) visit(inner);
            }
        }
    }
}
/// The number of operations; a pipeline counts as one plus its body.
[[nodiscard]] std::size_t operations_of(const ExecutionPlan& plan);

}  // namespace tutti::plan

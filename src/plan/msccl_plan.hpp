#pragma once

#include "plan/buffer.hpp"
#include "plan/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::plan {

/// A plan of the MSCCL family (MSCCL-IR XML): per GPU thread blocks, each a sequence of steps; a message goes
/// from one thread block to another over the connection (source, destination, channel). docs/msccl-xml.md
/// gives the semantics. The struct holds what a file says; the reader rejects only what it cannot represent,
/// and the verifier judges the rest.
enum class Protocol : std::uint8_t { Simple, LL, LL128 };

/// "Simple", "LL", "LL128".
[[nodiscard]] std::string_view name_of(Protocol protocol);
/// How many messages a connection buffers in the runtimes before a send blocks.
[[nodiscard]] int fifo_capacity(Protocol protocol);

enum class StepType : std::uint8_t {
    Send,                   ///< s
    Receive,                ///< r
    ReceiveCopySend,        ///< rcs
    ReceiveReduceCopy,      ///< rrc
    ReceiveReduceSend,      ///< rrs
    ReceiveReduceCopySend,  ///< rrcs
    Copy,                   ///< cpy
    Reduce,                 ///< re
    Nop                     ///< nop
};
inline constexpr int kStepTypes = 9;

/// "rrcs" and the like; and back.
[[nodiscard]] std::string_view name_of(StepType type);
[[nodiscard]] std::optional<StepType> step_type(std::string_view name);

[[nodiscard]] bool sends(StepType type);
[[nodiscard]] bool receives(StepType type);
/// Adds a local operand to what was received (rrc, rrs, rrcs).
[[nodiscard]] bool reduces_received(StepType type);
/// Stores its result locally.
[[nodiscard]] bool stores(StepType type);
/// Whether `src` (`dst`) names local memory; otherwise it describes the peer's and is ignored.
[[nodiscard]] bool uses_source(StepType type);
[[nodiscard]] bool uses_destination(StepType type);

struct Address {
    Buffer buffer = Buffer::Input;
    OptionalId<ChunkOffset> offset{};  ///< none: files say so of a half that means nothing
    friend bool operator==(const Address&, const Address&) = default;

    /// That many chunks further on. Precondition: it has an offset.
    [[nodiscard]] Address plus(std::int64_t chunks) const {
        return {buffer, id_of<ChunkOffset>(std::int64_t{(*offset).value()} + chunks)};
    }
};

struct Step {
    StepId number{};  ///< what the file calls it; should be its position
    StepType type = StepType::Nop;
    bool signals = false;  ///< hasdep; here because there may be millions of steps
    Address src{}, dst{};
    std::int32_t count = 1;  ///< consecutive chunks
    /// Waits for that step of that thread block; for none where both are none.
    OptionalId<BlockId> dep_block{};
    OptionalId<StepId> dep_step{};
    friend bool operator==(const Step&, const Step&) = default;
};

struct ThreadBlock {
    BlockId id{};
    OptionalId<Rank> send_peer{}, recv_peer{};
    OptionalId<ChannelId> channel = ChannelId(0);  ///< none: only of a block that talks to nobody
    std::vector<Step> steps{};
    friend bool operator==(const ThreadBlock&, const ThreadBlock&) = default;
};

/// <copy i_off o_off/> under a gpu: in files of TACCL and TE-CCL, a rank's own block is copied first.
struct LocalCopy {
    std::int32_t input_offset = 0, output_offset = 0;
    friend bool operator==(const LocalCopy&, const LocalCopy&) = default;
};

struct Gpu {
    Rank id{};
    std::int32_t input_chunks = 0, output_chunks = 0, scratch_chunks = 0;  ///< as declared
    std::vector<LocalCopy> copies{};
    std::vector<ThreadBlock> blocks{};  ///< in the file's order
    friend bool operator==(const Gpu&, const Gpu&) = default;
};

struct MscclPlan {
    std::string name{};
    Protocol protocol = Protocol::Simple;
    std::int32_t channels = 1;
    std::int32_t chunks_per_loop = 1;
    std::int32_t ranks = 0;                   ///< ngpus
    std::optional<std::string> collective{};  ///< as spelled
    std::optional<bool> in_place{}, out_of_place{};
    std::optional<std::int64_t> min_bytes{}, max_bytes{};
    std::vector<Gpu> gpus{};             ///< in the file's order
    std::vector<std::string> remarks{};  ///< what the reader ignored, in words
    friend bool operator==(const MscclPlan&, const MscclPlan&) = default;
};

/// All steps of all GPUs.
[[nodiscard]] std::size_t steps_of(const MscclPlan& plan);

}  // namespace tutti::plan

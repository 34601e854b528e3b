#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::plan {

/// What a rank issues: a collective, one end of a message, a wait of its host, or work of its own that other
/// calls depend on.
enum class CallKind : std::uint8_t {
    AllReduce,
    Reduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    Gather,
    Scatter,
    AllToAll,
    AllToAllV,
    Barrier,
    Send,
    Receive,
    Wait,
    Local,
};
/// "all_reduce".
[[nodiscard]] std::string_view name_of(CallKind kind);
/// By that name, or one of the usual other spellings: "allreduce", "recv".
[[nodiscard]] std::optional<CallKind> call_kind(std::string_view name);
[[nodiscard]] std::vector<std::string_view> call_kind_names();

/// One name for all usual names of a type: "f32" of "float32", "Float", "torch.float32", "ncclFloat",
/// "MPI_FLOAT". A name that is not known stays as it is.
[[nodiscard]] std::string type_name(std::string_view name);
/// The same of an operator: "sum" of "add", "ReduceOp.SUM", "ncclSum", "MPI_SUM".
[[nodiscard]] std::string operator_name(std::string_view name);

[[nodiscard]] constexpr bool is_collective(CallKind kind) { return kind < CallKind::Send; }
[[nodiscard]] constexpr bool is_message(CallKind kind) {
    return kind == CallKind::Send || kind == CallKind::Receive;
}
[[nodiscard]] constexpr bool has_root(CallKind kind) {
    return kind == CallKind::Reduce || kind == CallKind::Broadcast || kind == CallKind::Gather ||
           kind == CallKind::Scatter;
}

/// One call. Names are positions in CallList::names.
struct Call {
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    std::uint64_t place = 0;   ///< its number in the file, after RankCalls::place
    std::int64_t count = -1;   ///< elements, in traces bytes; -1: not said
    std::uint32_t group = 0;   ///< a position in CallList::groups; for collectives and messages
    std::uint32_t stream = 0;  ///< a name. Calls of a stream run one after the other
    std::uint32_t dtype = kNone, reduction = kNone;  ///< names
    std::int32_t peer = -1;                          ///< a rank: the root, or the other end of a message
    std::uint32_t tag = 0;                           ///< of a message
    std::uint32_t batch = kNone;  ///< neighbours with the same number begin together and end together
    std::uint32_t after_begin = 0, after_end = 0;    ///< in RankCalls::after
    std::uint32_t counts_begin = 0, counts_end = 0;  ///< in RankCalls::counts: sent, then received, by member
    CallKind kind = CallKind::Local;
    bool whole_host = false;  ///< a wait for all streams, not only its own
    bool buffered = false;    ///< a send that does not wait for its receive
};

/// The calls of one rank, in the order in which it issues them.
struct RankCalls {
    bool known = false;   ///< false: of this rank nothing is known, so it is taken to do what is needed
    std::string place{};  ///< what stands before a call's number: "/ranks/3/", "trace.3.et: node "
    std::vector<Call> calls{};
    std::vector<std::uint32_t> after{};  ///< calls of this rank that must be over before another begins
    std::vector<std::int64_t> counts{};
};

/// A process group. Ranks should have the same idea of it.
struct CallGroup {
    std::string name{};
    std::vector<std::uint32_t> members{};  ///< as the first declaration has them
    bool guessed = false;                  ///< nobody says who is in it: those that call on it
    /// What ranks say that say something else.
    std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> others{};
};

/// What the ranks of a job issue.
struct CallList {
    std::string format{};  ///< "tutti", "chakra", "pytorch"
    std::vector<std::string> names{""};
    std::vector<CallGroup> groups{};
    std::vector<RankCalls> ranks{};
    std::vector<std::string> notes{};  ///< what the reader left out or assumed

    /// "/ranks/3/17".
    [[nodiscard]] std::string place_of(std::size_t rank, std::size_t call) const {
        return ranks[rank].place + std::to_string(ranks[rank].calls[call].place);
    }
};

}  // namespace tutti::plan

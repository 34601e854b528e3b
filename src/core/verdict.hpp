#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The rules V1…V18 of src/verify/README.md, in that order.
enum class Rule {
    UnknownChunk,
    UnknownLink,
    BadStart,
    OutOfOrder,
    LinkOverlap,
    NotHeld,
    BeforeRelease,
    RelayForbidden,
    SwitchCopy,
    SwitchReduce,
    BufferOverflow,
    CutThrough,
    DoubleCount,
    ArrivalRace,
    DemandUnmet,
    DemandWrong,
    MakespanMismatch,
    NotSymmetric
};
inline constexpr std::size_t kRules = 18;

/// "link_overlap" and the like: the stable code in JSON.
[[nodiscard]] std::string_view code_of(Rule rule);
/// The number n of Vn.
[[nodiscard]] inline int number_of(Rule rule) { return static_cast<int>(rule) + 1; }

/// One broken rule: where, and a message for people.
struct Violation {
    Rule rule = Rule::UnknownChunk;
    std::string message;
    std::vector<std::uint64_t> sends;  ///< positions in the schedule's file
    std::optional<Ticks> tick;
    std::optional<LinkId> link;
    std::optional<ChunkId> chunk;
    std::optional<NodeId> node;
    std::string collective;  ///< its id, where the violation is about one
    std::string group;
};

struct Verdict {
    std::vector<Violation> violations;  ///< the first ones, in order of time, up to the verifier's limit
    std::uint64_t violation_count = 0;  ///< all of them
    Ticks makespan;                     ///< the true one: the last arrival
    /// By collective, when it is finished: the last arrival of any of its chunks; 0 where nothing is sent.
    /// Empty where a schedule was not judged so far as its arrivals.
    std::vector<Ticks> finish;
    std::uint64_t sends = 0;

    [[nodiscard]] bool valid() const { return violation_count == 0; }
};

}  // namespace tutti

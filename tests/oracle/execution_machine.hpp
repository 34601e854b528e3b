#pragma once

#include "plan/execution_plan.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tutti::oracle {

/// Explores every interleaving of a tiny execution plan of MSCCL++, thread by thread. Written from the
/// format's description alone; it shares no code with src/verify.
///
/// Every place of memory has two elements. The first is the business of the leading thread of a block, which
/// also does all synchronisation, one operation after the other. The second belongs to other threads, one per
/// place of an operation; they wait at nops and barriers, and where two operations use the same range the
/// same thread does both. Port operations are done at once, by the proxy. `ppkt` on a port channel copies
/// packets without waiting for them: where it can come to them too early, that counts as unordered.
///
/// It takes out-of-place plans without switch channels, relaxed signals and pipelines, of at most 64 actions.
struct ExecutionOpinion {
    bool hangs = false;  ///< in some interleaving
    /// Two accesses of plain memory, one a write, can come in either order; or packets are copied too early.
    bool unordered = false;
    std::size_t states = 0;
    /// Sum of (rank, input place) with multiplicity; nothing: undefined.
    using Value = std::optional<std::map<std::pair<std::int32_t, std::int64_t>, int>>;
    /// Per run that was tried: what the output places of each rank hold in the end (second elements).
    std::vector<std::vector<std::vector<Value>>> outputs{};
    /// A packet was written twice, with different values, in one of the runs.
    bool clash = false;
    std::int64_t places_per_chunk = 1;
};

/// Nothing if there are more actions or states than can be looked at. `runs`: how many runs to the end are
/// tried for their values, in random order from `seed`.
[[nodiscard]] std::optional<ExecutionOpinion> explore(const plan::ExecutionPlan& plan,
                                                      std::size_t most_states, int runs, std::uint64_t seed);

}  // namespace tutti::oracle

#pragma once

#include "plan/call_list.hpp"

#include <cstdint>

namespace tutti::oracle {

struct CallRun {
    bool one_stream = false;       ///< a rank has one queue, whatever its calls say
    bool forgive_missing = false;  ///< a call goes on without partners that never come
};

/// What becomes of the calls in every interleaving of hosts, streams and groups. Written from
/// docs/call-order.md: it steps hosts that issue, queues that hold what was issued, and calls that take
/// place; it builds no graph and includes nothing of the verifier. For a few calls.
struct CallOutcome {
    std::uint64_t states = 0;
    std::uint64_t ended = 0, hung = 0;  ///< states from which nothing goes on: with all calls done, or not
};
[[nodiscard]] CallOutcome explore_calls(const plan::CallList& list, const CallRun& run = {});

}  // namespace tutti::oracle

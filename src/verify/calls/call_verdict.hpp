#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::verify {

/// A call of a rank, by position.
struct CallPlace {
    std::uint32_t rank = 0, call = 0;
    friend auto operator<=>(const CallPlace&, const CallPlace&) = default;
};

/// One side of a circle: `later` does not begin before `earlier` is over. Both are of one rank, except where
/// `later` is a receive and `earlier` the buffered send that it waits for.
struct CallOrder {
    CallPlace earlier, later;
};

/// One thing that is wrong. Codes are listed in docs/call-order.md.
struct CallFinding {
    std::string code;
    std::string message;
    std::vector<CallPlace> places{};  ///< the deviating call first, then one that it is compared with
    /// Of a deadlock: each `later` is the same collective or message as the `earlier` of the next.
    std::vector<CallOrder> circle{};
};

enum class CallClass : std::uint8_t {
    Valid,
    ValidIfConcurrent,  ///< only while the streams of a rank never hold each other back
    Invalid,
};

struct CallVerdict {
    CallClass verdict = CallClass::Valid;
    std::uint64_t calls = 0;
    std::vector<CallFinding> violations{};  ///< the first ones
    std::uint64_t violation_count = 0;
    std::vector<CallFinding> warnings{};
    std::uint64_t warning_count = 0;
};

}  // namespace tutti::verify

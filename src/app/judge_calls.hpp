#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "plan/call_list.hpp"
#include "verify/calls/call_verdict.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::app {

/// What the ranks of a job issue, to be judged: a file of tutti's own format, or execution traces, a file for
/// each rank, or a folder of them.
struct CallOptions {
    std::vector<std::string> files{};
    std::size_t max_violations = 20;
    friend bool operator==(const CallOptions&, const CallOptions&) = default;
};

struct JudgedCalls {
    std::string file{};  ///< the first one
    plan::CallList list{};
    verify::CallVerdict verdict{};
};

/// Throws InputError.
[[nodiscard]] JudgedCalls judge_calls(const CallOptions& options, const Watch& watch = {});

/// "valid", "valid-if-concurrent", "invalid".
[[nodiscard]] std::string_view name_of(verify::CallClass verdict);
/// "all_reduce on tp (call 3)".
[[nodiscard]] std::string call_text(const plan::CallList& list, verify::CallPlace place);
[[nodiscard]] io::Json json_of(const JudgedCalls& judged);

}  // namespace tutti::app

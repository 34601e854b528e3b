#pragma once

#include "plan/call_list.hpp"
#include "verify/calls/call_verdict.hpp"

#include <cstddef>

namespace tutti::verify {

/// Whether the ranks' calls fit together, and whether all of them end in every interleaving.
///
/// The n-th collective that a rank issues on a group is matched with the n-th of every other member, and the
/// n-th send from a to b (same group, same tag) with the n-th such receive. A matched call takes place when
/// all its ranks have begun their part; so what happens is the same in every interleaving: either the graph
/// of "is over before the other begins" has no circle and all calls end, or those of a circle never do.
/// Linear in the calls, but for sorting members.
[[nodiscard]] CallVerdict judge_calls(const plan::CallList& list, std::size_t max_findings = 20);

}  // namespace tutti::verify

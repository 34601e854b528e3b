#pragma once

#include "compile/execution/draft.hpp"

#include <vector>

namespace tutti::compile::execution {

/// Where each transfer is put at its receiver, so that nothing is overwritten that is still to be read;
/// scratch grows by the landings. In order of the transfers.
[[nodiscard]] std::vector<plan::Address> landings_of(msccl::Draft& moves, bool in_place);

/// What ranks do for the transfers of a schedule, on its connections, in order of time.
[[nodiscard]] Draft draft_of(msccl::Draft& moves, bool in_place, plan::ChannelType channel);

}  // namespace tutti::compile::execution

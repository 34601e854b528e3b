#pragma once

#include "plan/round_plan.hpp"

#include <string>

namespace tutti::io {

/// The plan as a CUDA or HIP source with one function, which runs it by ncclSend and ncclRecv in groups and
/// by kernels. Precondition: the plan is valid.
[[nodiscard]] std::string nccl_p2p_text(const plan::RoundPlan& plan);

}  // namespace tutti::io

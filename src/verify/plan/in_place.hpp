#pragma once

#include "core/collective.hpp"
#include "plan/program.hpp"

namespace tutti::verify {

/// Places the smaller of a rank's buffers inside the larger one, as in-place calls do: `shift` is the
/// position of the rank's share there.
inline void share_memory(CollectiveKind goal, std::int64_t shift, plan::Range& in, plan::Range& out) {
    switch (goal) {
        case CollectiveKind::AllGather:
        case CollectiveKind::Gather:
            in = {out.memory, shift};
            break;
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::Scatter:
            out = {in.memory, shift};
            break;
        default:
            out = in;
            break;
    }
}

}  // namespace tutti::verify

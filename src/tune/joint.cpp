// The pieces of an overlap usually go piece by piece, each under the same schedule. One schedule for all of
// them may let a piece begin where the one before leaves links idle: on uneven networks that is worth a few
// per cent, on even ones it costs as much, because the instance is k times as large. So both are tried, and
// the better counts.

#include "tune/joint.hpp"

namespace tutti::tune {

double joint_us(CallSchedules& calls, const Call& piece, std::int64_t pieces, double each_us) {
    std::vector<CallSchedules::Released> released;
    for (std::int64_t i = 0; i < pieces; ++i) {
        const double at = each_us * static_cast<double>(i + 1) * 1e6;
        released.push_back({piece, Ticks(static_cast<std::int64_t>(at))});
    }
    return calls.together(released, 1).us();
}

}  // namespace tutti::tune

#pragma once

#include "core/schedule.hpp"

namespace tutti {

/// A send, when its link is free again, and when it has arrived.
struct TimedSend {
    Send send;
    Ticks free;
    Ticks arrive;
    friend bool operator==(const TimedSend&, const TimedSend&) = default;
};

}  // namespace tutti

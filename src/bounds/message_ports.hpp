#pragma once

#include "bounds/paced_paths.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace tutti::bounds {

/// A link over which messages end at an NPU (backwards: begin): the least time of one, and how far apart two
/// are.
struct MessagePort {
    std::int64_t time, gap;
    friend auto operator<=>(const MessagePort&, const MessagePort&) = default;
};

/// Per NPU that carries: the links over which messages from other carriers end at it (forwards), or messages
/// to them begin (backwards). O(NPUs * (NPUs + links * paces log nodes)).
[[nodiscard]] std::vector<std::vector<MessagePort>> message_ports(const PacedNetwork& network,
                                                                  const std::vector<bool>& carriers,
                                                                  Direction direction);

/// NPUs that are equally far away: members, and others.
struct MessageTime {
    std::int64_t time, members, relays;
    friend auto operator<=>(const MessageTime&, const MessageTime&) = default;
};

/// Per NPU that carries: the least times of messages from the other carriers to it (forwards), or from it to
/// them (backwards), rising. O(NPUs * (NPUs log + links * paces log nodes)).
[[nodiscard]] std::vector<std::vector<MessageTime>> message_times(const PacedNetwork& network,
                                                                  const std::vector<bool>& carriers,
                                                                  const std::vector<bool>& members,
                                                                  Direction direction);

}  // namespace tutti::bounds

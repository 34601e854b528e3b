#pragma once

#include "tests/oracle/plan_machine.hpp"

#include <cstdint>
#include <optional>

namespace tutti::oracle {

enum class MessageSize { Step, Chunk };

/// The least number of messages per connection with which every interleaving ends: found by trying 1, 2, …
/// and, for each, every interleaving. Nothing if none does, or if that takes more states than given.
[[nodiscard]] std::optional<std::int64_t> least_capacity(const Machine& machine, MessageSize size,
                                                         std::uint64_t max_states = 300'000);

}  // namespace tutti::oracle

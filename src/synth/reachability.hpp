#pragma once

#include "core/instance.hpp"

#include <optional>
#include <string>

namespace tutti::synth {

/// A message that names a receiver that cannot be reached; none if every demand can be met.
/// O(links) per collective on a strongly connected network, O(links) per different set of holders otherwise.
[[nodiscard]] std::optional<std::string> unreachable(const Instance& instance);

}  // namespace tutti::synth

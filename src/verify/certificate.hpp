#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"

#include <optional>
#include <string>

namespace tutti::verify {

/// Whether the bound's certificate proves its value: none if it does, else why not, in words. Everything is
/// counted anew from the instance, in integers (README.md, "Certificates"); nothing of the certificate is
/// believed but the proof it proposes. A solver's proof is only checked for being complete: who doubts it
/// solves again. Worst case O(holder sets * links * log nodes), with timed lengths O(holder sets * (links +
/// weights) * log).
[[nodiscard]] std::optional<std::string> check_certificate(const Instance& instance, const Bound& bound);

}  // namespace tutti::verify

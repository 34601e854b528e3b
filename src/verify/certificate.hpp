#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tutti::verify {

/// The reason where the check gave up: the bound may be right or wrong.
inline constexpr std::string_view kTooLongToCheck = "it takes too long to check";

/// Whether the bound's certificate proves its value: none if it does, else the reason. Everything is
/// recomputed from the instance, in integers (README.md, "Certificates"), without what its switches can do in
/// vain (core/useful_rules); the certificate only proposes the proof. A solver's proof is only checked for
/// completeness; solving again is the only real check. Worst case O(holder sets * links * log nodes), with
/// timed lengths O(holder sets * (links + weights) * log).
[[nodiscard]] std::optional<std::string> check_certificate(const Instance& instance, const Bound& bound);

}  // namespace tutti::verify

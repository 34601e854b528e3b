#pragma once

#include "core/rng.hpp"

#include <cstdint>
#include <functional>

namespace tutti::test {

/// How many random cases a test runs: TUTTI_PROPERTY_CASES where given, else `standard` (fewer under
/// sanitizers).
[[nodiscard]] std::uint64_t cases(std::uint64_t standard);

/// The seed of the first case: TUTTI_SEED, else 1. Case i has seed first_seed() + i, and TUTTI_SEED=<seed of
/// the failing case> runs that one first.
[[nodiscard]] std::uint64_t first_seed();

/// Runs `body(rng, seed)` for so many seeds; doctest messages name the seed.
void for_seeds(std::uint64_t count, const std::function<void(Rng& rng, std::uint64_t seed)>& body);

/// Whether this is a build for ThreadSanitizer, which does not see an order that another process makes.
[[nodiscard]] bool with_thread_sanitizer();

}  // namespace tutti::test

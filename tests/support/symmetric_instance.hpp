#pragma once

#include "core/instance.hpp"
#include "core/rng.hpp"

namespace tutti::test {

/// All NPUs in one collective, in abstract units.
[[nodiscard]] Instance on_all_npus(TopologyParts topology, CollectiveKind kind, std::uint64_t chunks = 1);

/// A network that the shifts of one, two or three digits leave as it is, on up to 24 NPUs: a few orbits of
/// NPUs, some orbits of links, with links of different speed and some side by side; strongly connected. With
/// a collective of all NPUs.
[[nodiscard]] Instance random_symmetric_instance(Rng& rng);

}  // namespace tutti::test

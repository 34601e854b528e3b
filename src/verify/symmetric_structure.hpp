#pragma once

#include "symmetry/symmetric_schedule.hpp"
#include "verify/report.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti::verify {

/// Checks V18 for a symmetric schedule's generators, links and chunks (a, b, c of symmetric_verifier.cpp),
/// and holds the resulting orbits.
struct SymmetricStructure {
    std::uint64_t group = 1;                ///< its number of elements
    std::vector<std::uint32_t> link_orbit;  ///< by position of the send: links with equal numbers are images
    std::vector<bool> covered;              ///< chunks that are images of sent ones
    /// Which collectives the images of a sent chunk belong to: its own, and others that are images of it.
    /// Empty where there is only one collective.
    std::vector<std::pair<ChunkId, CollectiveId>> collectives;

    /// `sends` are the positions of the sends with existing chunk and link. None: reported as V18.
    [[nodiscard]] static std::optional<SymmetricStructure> check(const Instance& instance,
                                                                 const symmetry::SymmetricSchedule& schedule,
                                                                 std::span<const std::uint32_t> sends,
                                                                 Report& report);
};

}  // namespace tutti::verify

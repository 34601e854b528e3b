#pragma once

#include "plan/program.hpp"
#include "verify/plan/place_index.hpp"
#include "verify/plan/program_graph.hpp"
#include "verify/plan/reachability.hpp"

#include <cstdint>
#include <vector>

namespace tutti::verify {

/// Two unordered accesses of one place, at least one of them a write.
struct Race {
    plan::OpId first = plan::kNoOp, second = plan::kNoOp;
    std::uint32_t place = 0;
    bool first_writes = false, second_writes = false;
    bool live = false;  ///< it can reach an output
};

/// The accesses of a place, taken in the graph's order, are all ordered if every write is ordered with the
/// reads since the write before it (or with that write if there are none) and every read with the write
/// before it: O(accesses) queries. These are the pairs of them that nothing orders; none: there are no races.
/// Precondition: the graph has no cycle.
[[nodiscard]] std::vector<OrderQuestion> unordered_neighbours(const plan::Program& program,
                                                              const ProgramGraph& graph,
                                                              const PlaceIndex& places);

/// All races, the live ones first; one place for each pair of ops. All pairs of accesses are checked, but
/// only at places of `unordered`, the unordered neighbours.
///
/// A race is live if one of its accesses is *marked*: the last write of a needed place is marked; a marked
/// write marks its op's reads, and a marked read the write that it takes its value from. If every marked
/// access is ordered with every write of its place, each marked read takes the same value in every execution,
/// and so do the outputs.
///
/// `needed`, by the place's number: the places whose final values matter.
/// Precondition: the graph has no cycle.
[[nodiscard]] std::vector<Race> find_races(const plan::Program& program, const ProgramGraph& graph,
                                           const PlaceIndex& places,
                                           const std::vector<OrderQuestion>& unordered,
                                           const std::vector<bool>& needed);

}  // namespace tutti::verify

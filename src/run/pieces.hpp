#pragma once

#include "run/binding.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::run {

/// The engine for memory that all workers reach. Element x of every place is worked on with the elements x of
/// other places only, so a call falls into pieces, the same elements of all places, that have nothing to do
/// with each other. Each worker takes its part of the pieces and runs the whole program, all ranks, for one
/// after the other; nobody waits for anybody. A piece is small enough to stay in a core's cache, so memory is
/// touched once, whatever the algorithm.
///
/// O(steps · pieces): some 20 ns a step besides its bytes.
class PieceWorker {
  public:
    /// `piece_bytes`: of a place; 0: what suits the caches.
    PieceWorker(const Binding& binding, std::size_t piece_bytes = 0);

    /// The part of the call that is the worker's, of so many. The call is done when all workers are.
    void run(std::size_t worker, std::size_t workers);

  private:
    void find_slots();
    void run_piece(std::size_t stretch, std::int64_t first, std::int64_t count) const;

    const Binding* binding_;
    std::int64_t piece_;  ///< elements
    /// Of the temporary places: those that live at different times share one.
    std::vector<std::uint32_t> slots_;
    std::size_t slot_count_ = 0;
    std::vector<std::byte> temporary_;
    std::vector<std::vector<Address>> addresses_;  ///< as of the binding, with temporary places
};

/// Pieces of that many elements of a place suit the caches.
[[nodiscard]] std::int64_t piece_elements(const Executable& executable, std::size_t element_bytes);

}  // namespace tutti::run

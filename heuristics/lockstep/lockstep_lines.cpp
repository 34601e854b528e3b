#include "heuristics/lockstep/lockstep_lines.hpp"

#include <cstdlib>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tutti::heuristics {

namespace {
constexpr std::size_t kHugePage = std::size_t{1} << 21;
}

ChunkLines::ChunkLines(std::size_t count) {
    const std::size_t bytes = count * sizeof(ChunkLine);
    const std::size_t page = bytes < kHugePage ? sizeof(ChunkLine) : kHugePage;
    const std::size_t whole = (bytes + page - 1) / page * page;
    void* const memory = std::aligned_alloc(page, whole > 0 ? whole : page);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
    if (page == kHugePage) (void)madvise(memory, whole, MADV_HUGEPAGE);
#endif
    lines_.reset(static_cast<ChunkLine*>(memory));
    std::uninitialized_value_construct_n(lines_.get(), count);
}

void ChunkLines::Free::operator()(ChunkLine* lines) const { std::free(lines); }

}  // namespace tutti::heuristics

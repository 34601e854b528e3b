#include "core/huge_pages.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tutti {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;

}  // namespace

void* allocate_in_huge_pages(std::size_t bytes, std::size_t alignment) {
    const std::size_t page = bytes < kHugePage ? std::max(alignment, sizeof(void*)) : kHugePage;
    const std::size_t whole = std::max(bytes + page - 1, page) / page * page;
    if (whole < bytes) throw std::bad_alloc();
    void* const memory = std::aligned_alloc(page, whole);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
    if (page == kHugePage) (void)madvise(memory, whole, MADV_HUGEPAGE);
#endif
    return memory;
}

void give_back(void* memory) noexcept { std::free(memory); }

}  // namespace tutti

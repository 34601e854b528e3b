#pragma once

#include <cstddef>

namespace tutti {

/// Memory for tables with random access. Large tables go into huge pages where the system has them: with
/// small pages a TLB miss would cost more than the access itself. Throws std::bad_alloc.
[[nodiscard]] void* allocate_in_huge_pages(std::size_t bytes, std::size_t alignment);
void give_back(void* memory) noexcept;

/// The same as an allocator for containers.
template <class T>
struct HugePages {
    using value_type = T;
    HugePages() = default;
    template <class U>
    explicit HugePages(const HugePages<U>&) {}
    [[nodiscard]] T* allocate(std::size_t count) {
        return static_cast<T*>(allocate_in_huge_pages(count * sizeof(T), alignof(T)));
    }
    void deallocate(T* memory, std::size_t) noexcept { give_back(memory); }
    friend bool operator==(const HugePages&, const HugePages&) { return true; }
};

}  // namespace tutti

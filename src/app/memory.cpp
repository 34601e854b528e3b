#include "app/memory.hpp"

#include <sys/resource.h>

namespace tutti::app {

std::optional<std::uint64_t> peak_memory_bytes() {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace tutti::app

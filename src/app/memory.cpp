#include "app/memory.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace tutti::app {

std::optional<std::uint64_t> peak_memory_bytes() {
    rusage own{}, children{};
    if (::getrusage(RUSAGE_SELF, &own) != 0 || ::getrusage(RUSAGE_CHILDREN, &children) != 0)
        return std::nullopt;
    return static_cast<std::uint64_t>(std::max(own.ru_maxrss, children.ru_maxrss)) * 1024;
}

}  // namespace tutti::app

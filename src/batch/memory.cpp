#include "batch/memory.hpp"

#include <sys/resource.h>

#include <fstream>

namespace tutti::batch {

std::optional<std::uint64_t> peak_memory_bytes() {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void forget_peak_memory() {
    // "5" resets the high-water mark that getrusage reads; see proc(5).
    std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace tutti::batch

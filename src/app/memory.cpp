#include "app/memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace tutti::app {
namespace {

/// The number that a file consists of; nothing where it is no number ("max").
std::optional<std::uint64_t> number_in(const char* path) {
    std::ifstream in(path);
    std::uint64_t number = 0;
    return in >> number ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> available_to_machine() {
    std::ifstream in("/proc/meminfo");
    std::string name, rest;
    std::uint64_t kibibytes = 0;
    while (in >> name >> kibibytes && std::getline(in, rest)) {
        if (name == "MemAvailable:") return kibibytes * 1024;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> peak_memory_bytes() {
    rusage own{}, children{};
    if (::getrusage(RUSAGE_SELF, &own) != 0 || ::getrusage(RUSAGE_CHILDREN, &children) != 0)
        return std::nullopt;
    return static_cast<std::uint64_t>(std::max(own.ru_maxrss, children.ru_maxrss)) * 1024;
}

std::optional<std::uint64_t> free_memory_bytes() {
    std::optional<std::uint64_t> free = available_to_machine();
    const auto most = number_in("/sys/fs/cgroup/memory.max"),
               used = number_in("/sys/fs/cgroup/memory.current");
    if (most && used) {
        const std::uint64_t left = *most - std::min(*most, *used);
        free = free ? std::min(*free, left) : left;
    }
    return free;
}

}  // namespace tutti::app

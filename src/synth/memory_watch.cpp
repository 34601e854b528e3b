#include "synth/memory_watch.hpp"

#include <unistd.h>

#include <chrono>
#include <fstream>

namespace tutti::synth {
namespace {

/// What the process holds now; 0 where the system does not tell.
std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0, resident = 0;
    if (!(file >> pages >> resident)) return 0;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

MemoryWatch::MemoryWatch(std::optional<std::size_t> most_bytes) {
    if (!most_bytes) return;
    watcher_ = std::thread([this, most = *most_bytes] {
        std::unique_lock lock(mutex_);
        while (!ended_.wait_for(lock, std::chrono::milliseconds(10), [this] { return end_; })) {
            if (resident_bytes() > most) exceeded_ = true;
        }
    });
}

MemoryWatch::~MemoryWatch() {
    if (!watcher_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        end_ = true;
    }
    ended_.notify_all();
    watcher_.join();
}

}  // namespace tutti::synth

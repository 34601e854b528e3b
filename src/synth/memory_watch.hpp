#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>

namespace tutti::synth {

/// Sets a flag when this process exceeds its memory limit. Solvers allocate on their own, so the operating
/// system's figure is polled, a hundred times a second.
class MemoryWatch {
  public:
    explicit MemoryWatch(std::optional<std::size_t> most_bytes);
    ~MemoryWatch();
    MemoryWatch(const MemoryWatch&) = delete;
    MemoryWatch& operator=(const MemoryWatch&) = delete;

    [[nodiscard]] const std::atomic<bool>* flag() const { return &exceeded_; }
    [[nodiscard]] bool exceeded() const { return exceeded_; }

  private:
    std::atomic<bool> exceeded_ = false;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool end_ = false;
    std::thread watcher_;
};

}  // namespace tutti::synth

#pragma once

#include "run/meeting.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti::run {

/// Threads that do the same thing at the same time, again and again: the caller's thread is worker 0. Between
/// calls they wait, first awake, then asleep.
class WorkerThreads {
  public:
    explicit WorkerThreads(std::size_t workers);
    ~WorkerThreads();
    WorkerThreads(const WorkerThreads&) = delete;
    WorkerThreads& operator=(const WorkerThreads&) = delete;

    [[nodiscard]] std::size_t count() const { return threads_.size() + 1; }
    /// Whether there is a core for each, so that one that waits takes nothing from others.
    [[nodiscard]] bool have_cores() const { return have_cores_; }
    /// Calls work(worker) on `workers` of them (all: 0), and returns when all have returned. The first
    /// exception is thrown again.
    void run(const std::function<void(std::size_t)>& work, std::size_t workers = 0);

  private:
    void loop(std::size_t worker);
    void call(std::size_t worker);

    std::vector<std::thread> threads_;
    bool have_cores_;
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::size_t active_ = 0;
    std::mutex mutex_;
    std::exception_ptr error_;
    std::atomic<std::uint32_t> turn_{0}, finished_{0};
    std::atomic<bool> ended_{false};
    std::function<void()> nothing_ = [] {};
};

}  // namespace tutti::run

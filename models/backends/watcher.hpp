#pragma once

#include "core/stop.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace tutti::models {

/// Calls `interrupt` from its own thread once `stop` is requested, and again every few milliseconds until
/// destroyed, because a solver may miss a call before it has begun. The destructor returns at once.
class Watcher {
  public:
    Watcher(const Stop& stop, std::function<void()> interrupt)
        : thread_([stop, interrupt = std::move(interrupt)](const std::stop_token& done) {
              std::mutex mutex;
              std::condition_variable_any end;
              std::unique_lock lock(mutex);
              while (!end.wait_for(lock, done, kPause, [&] { return done.stop_requested(); })) {
                  if (stop.requested()) interrupt();
              }
          }) {}

  private:
    static constexpr std::chrono::milliseconds kPause{20};
    std::jthread thread_;
};

}  // namespace tutti::models

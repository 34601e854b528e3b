#pragma once

#include "core/stop.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tutti::synth {

/// Watches a search that was told to stop. Solvers do not always hear it: presolving a large model, or
/// building it, can take many times the limit.
class Overtime {
  public:
    /// From `patience` after the stop on, or as soon as `urgent` is raised (may be null), `give_up` is called
    /// again and again, from another thread, until it returns true or this is destroyed.
    Overtime(Stop stop, Stop::Seconds patience, const std::atomic<bool>* urgent,
             std::function<bool()> give_up);
    ~Overtime();
    Overtime(const Overtime&) = delete;
    Overtime& operator=(const Overtime&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable ended_;
    bool end_ = false;
    std::thread watcher_;
};

}  // namespace tutti::synth

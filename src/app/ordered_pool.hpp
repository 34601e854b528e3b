#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace tutti::app {

/// Jobs that threads do in any order and whose results are delivered in job order.
struct OrderedPool {
    std::size_t count = 0;
    unsigned threads = 1;
    std::function<void(std::size_t)> work{};     ///< any thread, each number once
    std::function<void(std::size_t)> deliver{};  ///< this thread, 0, 1, 2, … as soon as they are done
    std::function<void()> idle = [] {};          ///< this thread, several times a second
    const std::atomic<bool>* stop = nullptr;     ///< once raised, nothing more is begun; may be null
};

/// Returns how many were delivered: all, unless stopped; after a stop the longest finished prefix. Rethrows
/// an exception of `work` when its job would be delivered.
std::size_t run_ordered(const OrderedPool& job);

}  // namespace tutti::app

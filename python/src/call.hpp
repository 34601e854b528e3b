#pragma once

#include "app/watch.hpp"

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>

namespace tutti::python {

namespace nb = nanobind;

/// Does `work` on a thread of its own while this one waits without the GIL. Here `progress` (a function or
/// None) is called with each line that the work says, and Ctrl-C is heard: it stops the work through the
/// watch, and KeyboardInterrupt is raised once the work has ended; as is what `progress` raises. What the
/// work throws is thrown here.
void run_stoppable(const nb::object& progress, const std::function<void(const app::Watch&)>& work);

/// The same for work that returns something.
template <class Work>
auto stoppable(const nb::object& progress, const Work& work) {
    std::optional<decltype(work(app::Watch{}))> result;
    run_stoppable(progress, [&](const app::Watch& watch) { result.emplace(work(watch)); });
    return std::move(*result);
}

}  // namespace tutti::python

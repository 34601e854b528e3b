#pragma once

#include "batch/cluster/ranks.hpp"
#include "batch/local_executor.hpp"

#include <atomic>
#include <iosfwd>

namespace tutti::batch::cluster {

/// How a worker ended.
enum class Served {
    ToTheEnd,  ///< rank 0 said that all is done, or that nobody is needed any more
    NotFound,  ///< rank 0 was not to be found, and the others do without
    Cut,       ///< rank 0 or the launcher is gone, or a signal came
};

struct Service {
    Ranks ranks{};          ///< not rank 0
    std::string results{};  ///< the folder
    const std::atomic<bool>* interrupted = nullptr;
    Work work{};                                  ///< as LocalExecutor::Settings
    std::chrono::milliseconds patience{120'000};  ///< until rank 0 must be found
    std::ostream* err = nullptr;                  ///< where to say what went wrong; may be null
};

/// What every rank but the first does: finds rank 0, does the tasks that it gives, and tells it. The process
/// must have one thread only. With ranks.detach it is another process that returns: the caller's has ended.
[[nodiscard]] Served serve(const Service& service);

}  // namespace tutti::batch::cluster

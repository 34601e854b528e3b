// Long calls. The search gets a thread of its own because only the interpreter's main thread may ask whether
// Ctrl-C was pressed: so the caller's thread stays free to ask, and takes the GIL only for that and for the
// progress callback. Searches poll the flag that it raises (core/stop.hpp).
//
// Asking every 20 ms costs nothing that can be measured; a call that is over sooner ends the wait at once.
// The thread costs 30 microseconds.

#include "call.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tutti::python {
namespace {

constexpr std::chrono::milliseconds kBetweenQuestions{20};

/// What the two threads share.
struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> lines;  ///< said, and not yet passed on
    bool done = false;
    std::atomic<bool> interrupted = false;
};

/// Waits, without the GIL, for lines, the end, or the next question. Returns the lines and whether it is
/// done.
std::pair<std::vector<std::string>, bool> wait(Shared& shared) {
    const nb::gil_scoped_release release;
    std::unique_lock lock(shared.mutex);
    shared.changed.wait_for(lock, kBetweenQuestions, [&] { return shared.done || !shared.lines.empty(); });
    return {std::exchange(shared.lines, {}), shared.done};
}

}  // namespace

void run_stoppable(const nb::object& progress, const std::function<void(const app::Watch&)>& work) {
    Shared shared;
    std::exception_ptr thrown, raised;
    app::Watch watch{.interrupted = &shared.interrupted};
    if (!progress.is_none()) {
        watch.say = [&shared](const std::string& line) {
            const std::lock_guard lock(shared.mutex);
            shared.lines.push_back(line);
            shared.changed.notify_one();
        };
    }
    std::thread worker([&] {
        try {
            work(watch);
        } catch (...) {
            thrown = std::current_exception();
        }
        const std::lock_guard lock(shared.mutex);
        shared.done = true;
        shared.changed.notify_one();
    });
    for (bool done = false; !done;) {
        std::vector<std::string> lines;
        std::tie(lines, done) = wait(shared);
        if (raised) continue;
        try {
            for (const std::string& line : lines)
                progress(nb::bytes(line.data(), line.size()).attr("decode")("utf-8", "replace"));
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        } catch (...) {
            raised = std::current_exception();
            shared.interrupted = true;
        }
    }
    {
        const nb::gil_scoped_release release;
        worker.join();
    }
    if (raised) std::rethrow_exception(raised);
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace tutti::python

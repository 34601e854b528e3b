#pragma once

#include "app/watch.hpp"
#include "cli/command.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tutti::cli {

/// Shows on a terminal that a long search is running: after two seconds, a line with the elapsed time that is
/// rewritten in place until the search ends. Other lines must go through say(), so that the two do not mix.
class Heartbeat {
  public:
    using Duration = std::chrono::milliseconds;

    /// Silent unless `streams.err` is a terminal and the talk is not quiet. `first` and `each` are for tests.
    /// The streams must outlive this.
    Heartbeat(const Streams& streams, const Talk& talk, Duration first = std::chrono::seconds(2),
              Duration each = std::chrono::seconds(1));
    Heartbeat(const Heartbeat&) = delete;
    Heartbeat& operator=(const Heartbeat&) = delete;
    ~Heartbeat();

    void say(const text::SafeText& line);
    /// What is being done, if it is not a search: "running ring.xml".
    void doing(const std::string& what);
    /// Something else is printed, and does not mix with the line.
    void aside(const std::function<void()>& print);
    /// The watch for a call: prints its lines (unless quiet), and stops it on an interrupt. This must outlive
    /// the call.
    [[nodiscard]] app::Watch watch(const Process& process);

  private:
    void beat(const std::stop_token& stop, Duration first, Duration each);
    void wipe();

    const Streams& streams_;
    const bool quiet_;
    std::mutex mutex_;
    std::condition_variable_any ended_;
    bool shown_ = false;
    std::string doing_ = "searching";
    std::jthread thread_;  ///< last: it uses all of the above
};

}  // namespace tutti::cli

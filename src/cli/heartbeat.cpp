#include "cli/heartbeat.hpp"

namespace tutti::cli {

Heartbeat::Heartbeat(const Streams& streams, const Talk& talk, Duration first, Duration each)
    : streams_(streams), quiet_(talk.quiet) {
    if (!streams.terminal_err || quiet_) return;
    thread_ = std::jthread([this, first, each](const std::stop_token& stop) { beat(stop, first, each); });
}

Heartbeat::~Heartbeat() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
    wipe();
    streams_.err.flush();
}

void Heartbeat::say(const text::SafeText& line) {
    const std::lock_guard lock(mutex_);
    wipe();
    streams_.err.print("{}\n", line);
}

void Heartbeat::doing(const std::string& what) {
    const std::lock_guard lock(mutex_);
    doing_ = what;
}

void Heartbeat::aside(const std::function<void()>& print) {
    const std::lock_guard lock(mutex_);
    if (shown_) {
        wipe();
        streams_.err.flush();
    }
    print();
}

app::Watch Heartbeat::watch(const Process& process) {
    app::Watch watch{.interrupted = process.interrupted};
    if (!quiet_) {
        watch.say = [this](const std::string& line) { say(toned(Tone::Quiet, line, streams_.colour_err)); };
    }
    return watch;
}

void Heartbeat::beat(const std::stop_token& stop, Duration first, Duration each) {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    for (Duration pause = first; !ended_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); });
         pause = each) {
        const auto time = std::chrono::steady_clock::now() - begin;
        streams_.err.print("{}{}, {} s (Ctrl-C ends it){}", text::line_start(), doing_,
                           std::chrono::duration_cast<std::chrono::seconds>(time).count(),
                           text::clear_line());
        streams_.err.flush();
        shown_ = true;
    }
}

void Heartbeat::wipe() {
    if (shown_) streams_.err << text::line_start() << text::clear_line();
    shown_ = false;
}

}  // namespace tutti::cli

#include "batch/executor.hpp"

#include "batch/result_line.hpp"
#include "core/expects.hpp"
#include "io/source.hpp"
#include "text/format.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace tutti::batch {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWordsKept = 2000;
constexpr std::size_t kLinesTold = 3;
constexpr auto kBetweenWatches = 50ms;
constexpr auto kBetweenTries = 50ms;
constexpr auto kMostPostponed = 10s;
constexpr auto kToHandIn = 1500ms;

/// Each child takes two descriptors of ours.
void allow_many_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65'536);
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

/// All that is there to read; false when there will be no more.
template <class Take>
bool drain(int descriptor, const Take& take) {
    std::array<char, 16384> bytes{};
    for (;;) {
        const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
        if (count > 0) {
            take(std::string_view(bytes.data(), static_cast<std::size_t>(count)));
        } else if (count == 0) {
            return false;
        } else if (errno != EINTR) {
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
    }
}

/// The last lines on one: "; its last words: a / b".
std::string last_words(std::string_view words) {
    std::vector<std::string> lines;
    while (!words.empty() && lines.size() < kLinesTold) {
        const std::size_t begin = words.rfind('\n');
        std::string line(begin == words.npos ? words : words.substr(begin + 1));
        std::ranges::replace_if(
            line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
        if (!line.empty()) lines.insert(lines.begin(), std::move(line));
        words = begin == words.npos ? std::string_view() : words.substr(0, begin);
    }
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "; its last words: " : " / ") + line;
    return text;
}

/// Whether its time is over. On a busy machine a search stops late because it has no core. The time that it
/// waited for one is not counted, up to three times what it may take.
bool is_over(double taken, double limit, pid_t pid) {
    const double most = limit + grace_after(limit).count();
    return taken > most && (taken > 4 * most || taken - seconds_waited_for_cores(pid) > most);
}

}  // namespace

std::chrono::duration<double> grace_after(double time_limit) {
    return std::chrono::duration<double>(std::max(2.0, time_limit / 4));
}

Executor::Executor(Settings settings) : settings_(std::move(settings)) { allow_many_descriptors(); }

bool Executor::has_room(unsigned threads) const {
    return postponed_.empty() && (running_.empty() || busy_ + threads <= settings_.cores);
}

void Executor::begin(std::size_t number, const Task& task) {
    expects(has_room(task.variant.threads));
    if (!start(number, task)) postponed_.push_back({number, task, Clock::now()});
}

/// What the system refuses now it may give when others have ended, or a little later.
void Executor::start_postponed() {
    const auto now = Clock::now();
    if (postponed_.empty() || now - tried_ < kBetweenTries) return;
    const Postponed& first = postponed_.front();
    if (!start(first.number, first.task)) {
        if (!running_.empty() || now - first.since < kMostPostponed) return;
        const std::string words = fmt::format("a process for it could not be started: {}", why_postponed_);
        TaskEvent event{TaskEvent::Kind::Ended, first.number, {}, {}, {}, {}};
        event.line = failed_line(first.task, settings_.limits, io::Failure::Lost, words);
        events_.push_back(std::move(event));
    }
    postponed_.pop_front();
}

bool Executor::start(std::size_t number, const Task& task) {
    tried_ = Clock::now();
    const auto work = [&](const Send& send) {
        const auto end_with = [&](const io::ResultLine& line) {
            send(framed(message_of({TaskEvent::Kind::Ended, number, {}, {}, line, {}})));
        };
        TaskListener listener;
        listener.digested = [&](const std::string& digest) {
            send(framed(message_of({TaskEvent::Kind::Found, number, {}, {}, {}, digest})));
        };
        listener.found = [&](std::optional<Ticks> makespan, std::optional<Ticks> bound) {
            send(framed(message_of({TaskEvent::Kind::Found, number, makespan, bound, {}, {}})));
        };
        Limits limits = settings_.limits;
        // The search measures the whole process, part of which is only a copy of this one.
        if (limits.memory) *limits.memory += inherited_bytes();
        end_with(settings_.work(task, settings_.results, limits, listener));
    };
    try {
        const Child child = start_child(settings_.limits.memory, work);
        running_.push_back({number, task, child, Clock::now()});
        busy_ += task.variant.threads;
        return true;
    } catch (const std::system_error& error) {
        why_postponed_ = error.what();
        return false;
    }
}

std::vector<TaskEvent> Executor::wait(std::chrono::milliseconds time) {
    const auto until = Clock::now() + time;
    while (events_.empty() && !(running_.empty() && postponed_.empty())) {
        start_postponed();
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        if (left < 0ms) break;
        listen(std::min<std::chrono::milliseconds>(left, kBetweenWatches));
        watch_limits();
        if (left == 0ms) break;
    }
    return std::exchange(events_, {});
}

void Executor::listen(std::chrono::milliseconds time) {
    std::vector<pollfd> polled;
    for (const Running& running : running_) {
        polled.push_back({running.child.messages, POLLIN, 0});
        polled.push_back({running.child.words, POLLIN, 0});
    }
    if (::poll(polled.data(), polled.size(), static_cast<int>(time.count())) <= 0) return;
    std::size_t i = 0;
    for (auto running = running_.begin(); running != running_.end(); i += 2) {
        if (polled[i].revents != 0 || polled[i + 1].revents != 0) hear(*running);
        if (!running->ended) {
            ++running;
            continue;
        }
        // A child that has closed its pipe is ending, or is broken. One that has ended keeps its status.
        (void)::kill(running->child.pid, SIGKILL);
        const Ending ending = reap(running->child);
        busy_ -= running->task.variant.threads;
        TaskEvent event{
            TaskEvent::Kind::Ended, running->number, running->makespan, running->lower_bound, {}, {}};
        event.line = line_of_end(*running, ending);
        events_.push_back(std::move(event));
        running = running_.erase(running);
    }
}

void Executor::hear(Running& running) {
    (void)drain(running.child.words, [&](std::string_view bytes) {
        running.words += bytes;
        if (running.words.size() > kWordsKept) running.words.erase(0, running.words.size() - kWordsKept);
    });
    try {
        const bool more = drain(running.child.messages, [&](std::string_view bytes) {
            for (const std::string& message : running.frames.feed(bytes)) {
                TaskEvent event = event_in(message);
                if (event.kind == TaskEvent::Kind::Ended) {
                    running.line = std::move(event.line);
                    continue;
                }
                if (!event.digest.empty()) {
                    running.digest = std::move(event.digest);
                    continue;
                }
                running.makespan = event.makespan;
                running.lower_bound = event.lower_bound;
                event.task = running.number;
                events_.push_back(std::move(event));
            }
        });
        running.ended = !more;
    } catch (const InputError& error) {
        // A child whose memory is corrupted may send anything.
        running.words += fmt::format("\n{}", error.what());
        running.line.reset();
        kill(running, io::Failure::Crash);
        running.ended = true;
    }
}

void Executor::watch_limits() {
    const auto now = Clock::now();
    if (now - watched_ < kBetweenWatches) return;
    watched_ = now;
    const Limits& limits = settings_.limits;
    for (Running& running : running_) {
        const std::chrono::duration<double> taken = now - running.begin;
        if (running.killed_for != io::Failure::None) continue;
        if (limits.time && is_over(taken.count(), *limits.time, running.child.pid)) {
            kill(running, io::Failure::Time);
        } else if (is_too_large(running, now)) {
            kill(running, io::Failure::Memory);
        }
    }
}

/// The child watches its memory too (synth/memory_watch); if it has a schedule, it gets a moment to send it.
bool Executor::is_too_large(Running& running, Clock::time_point now) const {
    if (!settings_.limits.memory) return false;
    const std::uint64_t most = *settings_.limits.memory, held = resident_bytes(running.child);
    if (held <= most) return false;
    if (!running.makespan || held > 2 * most) return true;
    if (!running.too_large_since) running.too_large_since = now;
    return now - *running.too_large_since > kToHandIn;
}

void Executor::kill(Running& running, io::Failure why) {
    running.killed_for = why;
    (void)::kill(running.child.pid, SIGKILL);
}

std::string Executor::best_so_far(const Running& running) const {
    if (!running.makespan && !running.lower_bound) return "; it had no schedule yet";
    std::string text;
    if (running.makespan)
        text += fmt::format("; it had a schedule of makespan {}", running.makespan->count());
    if (running.lower_bound)
        text += fmt::format("{}the bound {}", text.empty() ? "; it had only " : " and ",
                            running.lower_bound->count());
    return text;
}

io::ResultLine Executor::line_of_end(Running& running, const Ending& ending) const {
    const std::chrono::duration<double> taken = Clock::now() - running.begin;
    const Limits& limits = settings_.limits;
    io::ResultLine line;
    if (running.line) {
        line = std::move(*running.line);
    } else {
        io::Failure failure = running.killed_for;
        std::string words;
        if (failure == io::Failure::Time) {
            words = fmt::format("killed after {:.1f} s: it did not stop at its time limit of {:g} s{}",
                                taken.count(), *limits.time, best_so_far(running));
        } else if (failure == io::Failure::Memory) {
            words = fmt::format("killed: it took more memory than its limit of {}{}",
                                text::size_text(*limits.memory), best_so_far(running));
        } else if (ending.signal == SIGKILL && failure == io::Failure::None) {
            failure = io::Failure::Lost;
            words =
                "killed by somebody (SIGKILL); mostly it is the system, when memory runs out: see "
                "--memory-limit and --jobs";
        } else {
            failure = io::Failure::Crash;
            words = ending.signal != 0
                        ? "its process died of " + signal_text(ending.signal)
                        : fmt::format("its process left without a result (exit code {})", ending.exit_code);
            words += last_words(running.words);
        }
        line = failed_line(running.task, limits, failure, words);
        line.digest = running.digest;
        line.seconds = taken.count();
    }
    line.peak_memory_bytes = ending.peak_memory_bytes;
    return line;
}

void Executor::stop() {
    for (Running& running : running_) (void)::kill(running.child.pid, SIGKILL);
    for (Running& running : running_) (void)reap(running.child);
    running_.clear();
    postponed_.clear();
    events_.clear();
    busy_ = 0;
}

}  // namespace tutti::batch

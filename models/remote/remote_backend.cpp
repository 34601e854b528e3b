#include "models/remote/remote_backend.hpp"

#include "models/backends/claim.hpp"
#include "models/remote/helper.hpp"
#include "models/remote/message.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace tutti::models::remote {
namespace {

/// How long a helper that was told to end may take to hand in what it has.
constexpr std::chrono::milliseconds kToAnswer{50};

/// Watches the limits of one solve while its process is at work.
class Watch {
  public:
    Watch(Helper& helper, const SolveLimits& limits, HelperMemory& memory)
        : helper_(helper),
          limits_(limits),
          must_end_(limits.must_end ? *limits.must_end : limits.stop),
          memory_(memory) {}
    ~Watch() { memory_ -= counted_; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// While the order is sent: there is nothing to hand in yet.
    [[nodiscard]] bool may_send() {
        if (limits_.stop.requested() || must_end_.requested()) stopped_ = true;
        return !stopped_ && fits();
    }
    /// While the answer is awaited.
    [[nodiscard]] bool may_continue() {
        const bool must_end = must_end_.requested();
        if (!asked_ && (must_end || limits_.stop.requested())) {
            asked_ = true;
            helper_.request_stop();
        }
        const auto now = Stop::Clock::now();
        if (must_end && !since_) since_ = now;
        if (since_ && now - *since_ > kToAnswer) stopped_ = true;
        return !stopped_ && fits();
    }

    [[nodiscard]] bool stopped() const { return stopped_ || asked_; }
    [[nodiscard]] bool is_too_large() const { return too_large_; }

  private:
    [[nodiscard]] bool fits() {
        if (!limits_.memory_bytes || too_large_) return !too_large_;
        const auto now = Stop::Clock::now();
        if (now - looked_ < Helper::kBetweenLooks) return true;
        looked_ = now;
        const std::size_t held = helper_.resident_bytes();
        memory_ += held - counted_;  // wraps round where it is less
        counted_ = held;
        too_large_ = memory_ + resident_bytes_of(::getpid()) > *limits_.memory_bytes;
        return !too_large_;
    }

    Helper& helper_;
    const SolveLimits& limits_;
    const Stop must_end_;
    HelperMemory& memory_;
    std::size_t counted_ = 0;
    std::optional<Stop::Clock::time_point> since_;
    Stop::Clock::time_point looked_{};
    bool asked_ = false, stopped_ = false, too_large_ = false;
};

/// What the helper may have besides what this process holds.
SolveLimits limits_there(SolveLimits limits) {
    if (limits.memory_bytes) {
        constexpr std::size_t kLeast = std::size_t{1} << 20;
        const std::size_t here = resident_bytes_of(::getpid());
        limits.memory_bytes = std::max(kLeast, *limits.memory_bytes - std::min(*limits.memory_bytes, here));
    }
    return limits;
}

/// Sends the program, waits for the answer. `read` reads it from a source.
template <class Result, class Asked, class Read>
Result ask(const std::string& file, const std::string& backend, const Asked& program,
           const SolveLimits& limits, HelperMemory& memory, Read read) {
    Result result;
    if (limits.stop.requested()) {
        result.ended = Ended::Stopped;
        result.words = "stopped before it began";
        return result;
    }
    Helper helper(file);
    if (!helper.obstacle().empty()) {
        result.words = helper.obstacle();
        return result;
    }
    Watch watch(helper, limits, memory);
    const Sink sink = [&](std::string_view bytes) {
        return helper.send(bytes, [&] { return watch.may_send(); });
    };
    const Source source = [&](std::span<char> room) {
        return helper.receive(room, [&] { return watch.may_continue(); });
    };
    // One that stops reading may have said why.
    (void)write_order(sink, backend, program, limits_there(limits));
    if (!watch.is_too_large()) {
        if (auto answer = read(source)) return std::move(*answer);
    }
    if (watch.is_too_large()) {
        result.words = "its helper process took more memory than the limit";
    } else if (watch.stopped()) {
        result.ended = Ended::Stopped;
        result.words = "stopped: its helper process was killed";
    } else {
        result.words = "its helper process gave no answer: " + helper.end();
    }
    return result;
}

/// A helper is another program, perhaps of another version: believed as far as it can be checked.
Answer checked_again(const Program& program, Answer answer) {
    if (!answer.has_solution()) return answer;
    if (const auto broken = program.broken_by(answer.values))
        return {.words = "its helper process sent values that break " + *broken};
    answer.objective = program.objective_of(answer.values);
    return answer;
}

LinearAnswer checked_again(const LinearProgram& program, LinearAnswer answer) {
    if (answer.ended != Ended::Optimal) return answer;
    if (answer.primal.size() != program.columns() || answer.dual.size() != program.rows())
        return {.words = "its helper process sent values of another linear program"};
    return answer;
}

}  // namespace

RemoteBackend::RemoteBackend(std::string name, std::string helper, std::shared_ptr<const Backend> here,
                             std::shared_ptr<HelperMemory> memory)
    : name_(std::move(name)),
      helper_(std::move(helper)),
      here_(std::move(here)),
      memory_(memory ? std::move(memory) : std::make_shared<HelperMemory>(0)) {}

Answer RemoteBackend::solve(const Program& program, const SolveLimits& limits) const {
    const Stopwatch stopwatch;
    Answer answer =
        checked_again(program, ask<Answer>(helper_, name_, program, limits, *memory_, read_answer));
    answer.seconds = stopwatch.seconds();
    return answer;
}

LinearAnswer RemoteBackend::solve(const LinearProgram& program, const SolveLimits& limits) const {
    const Stopwatch stopwatch;
    LinearAnswer answer = checked_again(
        program, ask<LinearAnswer>(helper_, name_, program, limits, *memory_, read_linear_answer));
    answer.seconds = stopwatch.seconds();
    return answer;
}

}  // namespace tutti::models::remote

// A worker looks through its block for the first task that waits for nothing. Whoever completes a task counts
// down those behind it, does at once the ones that are nobody's, and rings for the workers of the others. Who
// finds nothing to do spins for some microseconds, then sleeps in the kernel until it is rung for or until
// the clock has something: giving the core away with sched_yield instead made calls up to three times longer
// where ranks share cores.

#include "run/task_run.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <new>
#include <thread>
#include <vector>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tutti::run {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kBetweenChecks = std::chrono::milliseconds(20);

inline void rest_a_little() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void sleep_on(Bell& bell, std::uint32_t heard, nanoseconds longest) {
    bell.asleep.fetch_add(1, std::memory_order_seq_cst);
#ifdef __linux__
    const timespec time{longest.count() / 1'000'000'000, longest.count() % 1'000'000'000};
    (void)syscall(SYS_futex, &bell.count, FUTEX_WAIT, heard, &time, nullptr, 0);
#else
    if (bell.count.load() == heard)
        std::this_thread::sleep_for(std::min<nanoseconds>(longest, std::chrono::microseconds(100)));
#endif
    bell.asleep.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

std::size_t TaskRun::shared_bytes(const TaskGraph& graph) {
    return sizeof(Head) + graph.workers() * sizeof(Bell) + graph.tasks() * sizeof(std::atomic<std::uint32_t>);
}

TaskRun::TaskRun(const TaskGraph& graph, std::byte* shared, Stop stop)
    : graph_(graph),
      stop_(stop),
      head_(new(shared) Head),
      bells_(new(shared + sizeof(Head)) Bell[graph.workers()]),
      waits_(new(shared + sizeof(Head) + graph.workers() * sizeof(Bell))
                 std::atomic<std::uint32_t>[graph.tasks()]),
      check_([this] { check(); }),
      spare_cores_(graph.workers() <= std::thread::hardware_concurrency()) {}

void TaskRun::check() const {
    if (head_->ended.load(std::memory_order_acquire) != 0) throw Ended{};
    if (stop_.requested()) throw LimitError("interrupted");
}

Patience TaskRun::patience() const { return Patience(check_, spare_cores_); }

void TaskRun::end() {
    head_->ended.store(1, std::memory_order_release);
    wake_all();
}

void TaskRun::wake_all() {
    for (std::size_t worker = 0; worker < graph_.workers(); ++worker) bells_[worker].ring();
}

void TaskRun::meet() {
    Patience patience = this->patience();
    head_->meeting.meet(static_cast<std::uint32_t>(graph_.workers()), patience);
}

void TaskRun::reset() {
    for (TaskGraph::TaskId task = 0; task < graph_.tasks(); ++task)
        waits_[task].store(graph_.waits(task), std::memory_order_relaxed);
    if (clock_ != nullptr) clock_->reset();
    // What is nobody's and waits for nothing.
    for (TaskGraph::TaskId task = 0; task < graph_.tasks(); ++task) {
        if (graph_.worker_of(task) == TaskGraph::kNobody && graph_.waits(task) == 0)
            complete(task, TaskGraph::kNobody);
    }
}

void TaskRun::call(std::uint32_t worker, const std::function<void()>& before) {
    try {
        Patience patience = this->patience();
        head_->meeting.meet(static_cast<std::uint32_t>(graph_.workers()), patience, [&] {
            before();
            reset();
        });
        work(worker);
    } catch (...) {
        end();
        throw;
    }
}

void TaskRun::work(std::uint32_t worker) {
    std::size_t begin = 0;
    for (const std::size_t end : graph_.block_ends(worker)) {
        run_block(worker, begin, end);
        begin = end;
    }
}

void TaskRun::run_block(std::uint32_t worker, std::size_t begin, std::size_t end) {
    const std::span<const TaskGraph::TaskId> own = graph_.own(worker);
    // Tasks that are done are marked by a count that no task waits for.
    constexpr std::uint32_t kDone = TaskGraph::kNobody;
    std::uint32_t turns = 0;
    while (begin < end) {
        const std::uint32_t heard = bells_[worker].count.load(std::memory_order_acquire);
        std::size_t next = begin;
        while (next < end && waits_[own[next]].load(std::memory_order_acquire) != 0) ++next;
        if (next == end) {
            wait(worker, heard, turns++);
            continue;
        }
        turns = 0;
        check();
        graph_.work(own[next]);
        waits_[own[next]].store(kDone, std::memory_order_relaxed);
        complete(own[next], worker);
        while (begin < end && waits_[own[begin]].load(std::memory_order_relaxed) == kDone) ++begin;
        if (clock_ != nullptr) (void)clock_->poll();
    }
}

void TaskRun::complete(TaskGraph::TaskId task, std::uint32_t worker) {
    for (const TaskGraph::TaskId then : graph_.behind(task)) arrive(then, worker);
}

void TaskRun::arrive(TaskGraph::TaskId task, std::uint32_t worker) {
    if (waits_[task].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const std::uint32_t of = graph_.worker_of(task);
    if (of == TaskGraph::kNobody) {
        graph_.work(task);
        complete(task, worker);
    } else if (of != worker) {
        bells_[of].ring();
    }
}

void TaskRun::wait(std::uint32_t worker, std::uint32_t heard, std::uint32_t turns) {
    const std::uint32_t spins = spare_cores_ ? 2000 : 50;
    if (turns < spins) {
        rest_a_little();
        if (clock_ == nullptr || turns > 0) return;
    }
    nanoseconds longest = kBetweenChecks;
    if (clock_ != nullptr) {
        if (const auto next = clock_->poll()) {
            const nanoseconds left = *next - std::chrono::steady_clock::now();
            if (left.count() <= 0) return;
            longest = std::min(longest, left);
        }
    }
    if (turns < spins) return;
    check();
    sleep_on(bells_[worker], heard, longest);
}

}  // namespace tutti::run

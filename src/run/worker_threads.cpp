#include "run/worker_threads.hpp"

#include <utility>

namespace tutti::run {

WorkerThreads::WorkerThreads(std::size_t workers)
    : have_cores_(workers <= std::thread::hardware_concurrency()) {
    for (std::size_t worker = 1; worker < workers; ++worker)
        threads_.emplace_back([this, worker] { loop(worker); });
}

WorkerThreads::~WorkerThreads() {
    ended_.store(true);
    turn_.fetch_add(1, std::memory_order_release);
    turn_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerThreads::run(const std::function<void(std::size_t)>& work, std::size_t workers) {
    work_ = &work;
    active_ = workers == 0 ? count() : workers;
    if (active_ == 1) {
        work(0);
        return;
    }
    finished_.store(0, std::memory_order_relaxed);
    turn_.fetch_add(1, std::memory_order_release);
    turn_.notify_all();
    call(0);
    Patience patience(nothing_, have_cores_);
    while (finished_.load(std::memory_order_acquire) < threads_.size()) patience.wait();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void WorkerThreads::loop(std::size_t worker) {
    std::uint32_t turn = 0;
    while (true) {
        Patience patience(nothing_, have_cores_);
        for (int spins = 0; spins < 1000 && turn_.load(std::memory_order_acquire) == turn; ++spins)
            patience.wait();
        turn_.wait(turn, std::memory_order_acquire);
        ++turn;
        if (ended_.load()) return;
        call(worker);
        finished_.fetch_add(1, std::memory_order_release);
    }
}

void WorkerThreads::call(std::size_t worker) {
    if (worker >= active_) return;
    try {
        (*work_)(worker);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
    }
}

}  // namespace tutti::run

#include "app/ordered_pool.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tutti::app {
namespace {

class Workers {
  public:
    explicit Workers(const OrderedPool& job)
        : job_(job), done_(job.count, false), errors_(job.count), running_(threads_of(job)) {
        for (unsigned i = 0; i < threads_of(job); ++i) start_one();
    }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    /// When delivery ends, also by an exception, the workers stop.
    ~Workers() { ended_ = true; }

    std::size_t deliver_all() {
        constexpr std::chrono::milliseconds kBetweenIdles{100};
        std::size_t next = 0;
        std::unique_lock lock(mutex_);
        while (next < job_.count) {
            changed_.wait_for(lock, kBetweenIdles, [&] { return done_[next] || running_ == 0; });
            if (!done_[next] && running_ == 0) break;
            const bool ready = done_[next];
            lock.unlock();
            if (ready) {
                if (errors_[next]) std::rethrow_exception(errors_[next]);
                job_.deliver(next++);
            }
            job_.idle();
            lock.lock();
        }
        return next;
    }

  private:
    static unsigned threads_of(const OrderedPool& job) {
        return static_cast<unsigned>(std::min<std::size_t>(std::max(1U, job.threads), job.count));
    }

    void start_one() {
        try {
            threads_.emplace_back([this] { run(); });
        } catch (const std::system_error&) {
            // The system cannot start more threads: continue with those that run.
            const std::lock_guard lock(mutex_);
            --running_;
            if (threads_.empty()) throw;
        }
    }

    void run() {
        while (!stopped()) {
            const std::size_t mine = next_.fetch_add(1);
            if (mine >= job_.count) break;
            try {
                job_.work(mine);
            } catch (...) {
                errors_[mine] = std::current_exception();
            }
            const std::lock_guard lock(mutex_);
            done_[mine] = true;
            changed_.notify_one();
        }
        const std::lock_guard lock(mutex_);
        --running_;
        changed_.notify_one();
    }

    bool stopped() const { return ended_ || (job_.stop != nullptr && *job_.stop); }

    const OrderedPool& job_;
    std::vector<bool> done_;
    std::vector<std::exception_ptr> errors_;
    unsigned running_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> ended_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::jthread> threads_;  ///< last: they use all of the above
};

}  // namespace

std::size_t run_ordered(const OrderedPool& job) {
    if (job.count == 0) return 0;
    return Workers(job).deliver_all();
}

}  // namespace tutti::app

#include "synth/overtime.hpp"

namespace tutti::synth {

Overtime::Overtime(Stop stop, Stop::Seconds patience, const std::atomic<bool>* urgent,
                   std::function<bool()> give_up) {
    watcher_ = std::thread([this, stop, patience, urgent, give_up = std::move(give_up)] {
        constexpr std::chrono::milliseconds kBetweenLooks{20};
        std::optional<Stop::Clock::time_point> stopped;
        std::unique_lock lock(mutex_);
        while (!ended_.wait_for(lock, kBetweenLooks, [this] { return end_; })) {
            if (!stop.requested()) continue;
            if (!stopped) stopped = Stop::Clock::now();
            const bool is_urgent = urgent != nullptr && urgent->load();
            if (!is_urgent && Stop::Clock::now() - *stopped < patience) continue;
            lock.unlock();
            if (give_up()) return;
            lock.lock();
        }
    });
}

Overtime::~Overtime() {
    {
        const std::lock_guard lock(mutex_);
        end_ = true;
    }
    ended_.notify_all();
    watcher_.join();
}

}  // namespace tutti::synth

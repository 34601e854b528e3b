#pragma once

#include "core/error.hpp"
#include "core/schedule.hpp"

#include <atomic>

namespace tutti::cli {

/// Passes a schedule on until somebody interrupts: then next() throws LimitError.
class WatchedSource final : public SendSource {
  public:
    /// Both must outlive this; the flag may be null.
    WatchedSource(SendSource& from, const std::atomic<bool>* interrupted)
        : from_(from), interrupted_(interrupted) {}

    [[nodiscard]] std::span<const Send> next() override {
        if (interrupted_ != nullptr && interrupted_->load()) throw LimitError("interrupted");
        return from_.next();
    }
    [[nodiscard]] Ticks makespan() const override { return from_.makespan(); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return from_.position(i); }
    [[nodiscard]] bool consecutive() const override { return from_.consecutive(); }

  private:
    SendSource& from_;
    const std::atomic<bool>* interrupted_;
};

}  // namespace tutti::cli

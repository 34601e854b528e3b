#pragma once

#include "core/error.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"

namespace tutti {

/// Forwards another source. After a stop, next() throws LimitError.
class StoppableSource final : public SendSource {
  public:
    /// The source must outlive this.
    StoppableSource(SendSource& from, const Stop& stop) : from_(from), stop_(stop) {}

    [[nodiscard]] std::span<const Send> next() override {
        if (stop_.requested()) throw LimitError("stopped before the end of the schedule");
        return from_.next();
    }
    [[nodiscard]] Ticks makespan() const override { return from_.makespan(); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return from_.position(i); }
    [[nodiscard]] bool consecutive() const override { return from_.consecutive(); }

  private:
    SendSource& from_;
    const Stop stop_;
};

}  // namespace tutti

#pragma once

#include "core/schedule.hpp"
#include "verify/value.hpp"

namespace tutti::verify {

/// A send and its position in the file.
struct NumberedSend {
    Send send;
    std::uint64_t position = 0;
};

/// A send in flight, with the value it carries.
struct Arrival {
    Ticks tick;
    NumberedSend numbered;
    Value value;
};

/// The positions of the sends of a source's last batch.
class Positions {
  public:
    explicit Positions(const SendSource& source)
        : source_(source), first_(source.position(0)), consecutive_(source.consecutive()) {}
    [[nodiscard]] std::uint64_t operator()(std::size_t i) const {
        return consecutive_ ? first_ + i : source_.position(i);
    }

  private:
    const SendSource& source_;
    std::uint64_t first_;
    bool consecutive_;
};

}  // namespace tutti::verify

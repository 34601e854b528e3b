#pragma once

#include "core/schedule.hpp"
#include "verify/value.hpp"

namespace tutti::verify {

/// A send and where it stands in its file.
struct NumberedSend {
    Send send;
    std::uint64_t position = 0;
};

/// A send on its way, with what it brings.
struct Arrival {
    Ticks tick;
    NumberedSend numbered;
    Value value;
};

/// The positions of the sends that a source gave last.
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

#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <string>
#include <vector>

namespace tutti {

/// What becomes of the destination's value: it is replaced by the sent one, or the sent one is added to it.
enum class Op : std::uint8_t { Copy, Reduce };

struct Send {
    ChunkId chunk;
    LinkId link;
    Ticks start;
    Op op = Op::Copy;
    friend bool operator==(const Send&, const Send&) = default;
};

/// The order in which schedules are written and verified: by start, then link, then chunk.
[[nodiscard]] inline bool starts_before(const Send& a, const Send& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.link != b.link) return a.link < b.link;
    return a.chunk < b.chunk;
}

struct Schedule {
    std::string instance;  ///< the name of the instance it was made for
    Ticks makespan;        ///< as stated; the verifier recomputes it
    std::vector<Send> sends;
};

/// A schedule that is read send by send, because it may be too large to hold.
class SendSource {
  public:
    virtual ~SendSource() = default;
    /// The next send into `send`; false at the end. Sends come in order of `start`.
    [[nodiscard]] virtual bool next(Send& send) = 0;
    /// As stated. Complete only after next() returned false: a stream ends with its makespan.
    [[nodiscard]] virtual Ticks makespan() const = 0;
    /// The position of the last returned send in the file it came from, for messages.
    [[nodiscard]] virtual std::uint64_t position() const = 0;
};

/// A schedule in memory, played in order of start; positions are those in `schedule.sends`.
class ScheduleSource final : public SendSource {
  public:
    /// The schedule must outlive the source.
    explicit ScheduleSource(const Schedule& schedule);
    [[nodiscard]] bool next(Send& send) override;
    [[nodiscard]] Ticks makespan() const override { return schedule_.makespan; }
    [[nodiscard]] std::uint64_t position() const override { return order_[next_ - 1]; }

  private:
    const Schedule& schedule_;
    std::vector<std::uint32_t> order_;
    std::size_t next_ = 0;
};

}  // namespace tutti

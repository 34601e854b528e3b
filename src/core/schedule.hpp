#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// How the sent value changes the destination's: it replaces it, or is added to it.
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

/// Sorts the sends by starts_before. O(sends) where they are in order of start already and each tick uses
/// many of the links once, as good schedules do.
void put_in_order(Schedule& schedule, std::size_t links);

/// A schedule read in batches of sends, because it may be too large for memory.
class SendSource {
  public:
    virtual ~SendSource() = default;
    /// The next sends, in order of `start`; none at the end. They stay valid until the next call.
    [[nodiscard]] virtual std::span<const Send> next() = 0;
    /// The stated makespan. Known only after next() returned none, because a stream ends with it.
    [[nodiscard]] virtual Ticks makespan() const = 0;
    /// The position in its file of the i-th send of the last batch; for messages.
    [[nodiscard]] virtual std::uint64_t position(std::size_t i) const = 0;
    /// Whether position(i) = position(0) + i for the last batch, so that callers need not ask for each.
    [[nodiscard]] virtual bool consecutive() const { return false; }
};

/// A schedule in memory, read in order of start; positions are indices of `schedule.sends`.
class ScheduleSource final : public SendSource {
  public:
    /// The schedule must outlive the source.
    explicit ScheduleSource(const Schedule& schedule);
    [[nodiscard]] std::span<const Send> next() override;
    [[nodiscard]] Ticks makespan() const override { return schedule_.makespan; }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override {
        return order_.empty() ? begin_ + i : order_[begin_ + i];
    }
    [[nodiscard]] bool consecutive() const override { return order_.empty(); }

  private:
    const Schedule& schedule_;
    std::vector<std::uint64_t> order_;  ///< empty if the schedule is in order already
    std::vector<Send> batch_;
    std::size_t begin_ = 0;  ///< of the last sends given
    std::size_t end_ = 0;
};

}  // namespace tutti

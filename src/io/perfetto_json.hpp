#pragma once

#include "core/instance.hpp"
#include "core/timed_send.hpp"
#include "io/atomic_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::io {

/// Writes a schedule as Chrome trace events (JSON), which ui.perfetto.dev and chrome://tracing open: links
/// are tracks, grouped by the node they leave; see docs/results.md. The file appears when finish() returns;
/// without finish() there is no file. Memory does not grow with the schedule.
class PerfettoWriter {
  public:
    /// A path, or "-" for standard output. The instance must outlive this.
    PerfettoWriter(const std::string& path, const Instance& instance);

    /// In any order.
    void append(std::span<const TimedSend> sends);
    void finish(Ticks makespan);

    /// Schedules of more sends get no arrows from a send to those that depend on it.
    static constexpr std::size_t kMaxArrowSends = 20'000;

  private:
    struct Names {
        std::string category;   ///< as JSON
        std::string arguments;  ///< "group" and "collective", as JSON
    };

    void write_send(const TimedSend& timed);
    void name_track(LinkId link);
    void write_arrows();
    void write_load();
    void begin_event();
    [[nodiscard]] std::int64_t nanoseconds(Ticks ticks) const;
    void add_nanoseconds(std::int64_t count);
    void add_time(Ticks ticks);
    void add_track(LinkId link);
    void count_busy(Ticks from, Ticks to);

    const Instance& instance_;
    AtomicFile file_;
    std::string text_;            ///< not yet in the file
    std::vector<Names> names_;    ///< by collective
    std::vector<bool> is_named_;  ///< nodes, then links: whether they have their names
    std::uint64_t sends_ = 0;
    std::vector<TimedSend> held_;  ///< while arrows may be drawn
    std::int64_t slice_ = 1;       ///< ticks
    std::vector<double> busy_;     ///< ticks of all links, by slice
    bool first_ = true;
};

}  // namespace tutti::io

#pragma once

#include "io/schedule_stream.hpp"
#include "synth/synthesize.hpp"

#include <memory>
#include <optional>
#include <string>

namespace tutti::app {

enum class ScheduleFormat { Json, Stream };

/// Where a varied instance is written: beside its schedule, because verifying the schedule requires it. For
/// "a.schedule.json", "a.json" and "a.tsch" that is "a.instance.json".
[[nodiscard]] std::string instance_beside(std::string_view schedule);

/// Where and in which format a schedule is written.
struct OutputOptions {
    std::string path{};                      ///< "-" is standard output; empty: named after `stem`
    std::string stem{};                      ///< gets ".tsch" or ".schedule.json", as the format wants
    std::optional<ScheduleFormat> format{};  ///< where not given: the path's suffix says it, or else the size
    bool expand = false;                     ///< write generator forms out
};

/// Writes the schedule of a synthesis in any of its three forms: held in memory, in generator form, or as a
/// stream that is written while it is verified. The file appears when write() returns.
class ScheduleOutput {
  public:
    /// The instance must outlive this.
    ScheduleOutput(const Instance& instance, OutputOptions options)
        : instance_(instance), options_(std::move(options)) {}

    /// The path for a schedule of ordinary size.
    [[nodiscard]] std::string path() const { return target(0).path; }
    /// For synth::Request: a source that forwards `sends` and also writes them. This must outlive the
    /// synthesis.
    [[nodiscard]] std::unique_ptr<SendSource> tap(SendSource& sends);
    /// Returns the path. Expanding a generator form can take minutes: LimitError if `stop` comes first, and
    /// no file appears.
    [[nodiscard]] std::string write(const synth::Result& result, const Stop& stop = {});

    /// Schedules of more sends are written as streams, unless the options say otherwise.
    static constexpr std::uint64_t kMostSendsAsText = 1'000'000;

  private:
    struct Target {
        std::string path;
        ScheduleFormat format;
    };
    [[nodiscard]] Target target(std::uint64_t sends) const;
    [[nodiscard]] io::StreamHeader header() const;

    const Instance& instance_;
    const OutputOptions options_;
    std::unique_ptr<io::StreamWriter> passing_;
};

}  // namespace tutti::app

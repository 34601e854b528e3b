#pragma once

#include "app/json.hpp"
#include "core/bound.hpp"
#include "core/collective_result.hpp"
#include "core/error.hpp"
#include "core/instance.hpp"
#include "core/stop.hpp"
#include "core/verdict.hpp"
#include "io/schedule_stream.hpp"
#include "synth/bounding.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

/// The result for one schedule file.
struct JudgedSchedule {
    std::string file{};
    std::string made_for{};  ///< the instance that the file names
    Verdict verdict{};
    std::optional<Bound> bound{};           ///< none where a receiver cannot be reached
    std::vector<SkippedBound> skipped{};    ///< bounds that were not computed, or not to their end
    std::vector<std::string> notes{};       ///< what is worth a word and breaks no rule
    std::optional<InputError> malformed{};  ///< why the file cannot be read; there is no verdict then
};

/// Judges schedules of one instance, with its lower bounds: the near-linear ones, and for a valid schedule
/// those that are needed to judge its gap (synth/bounding).
class ScheduleJudge {
  public:
    struct Options {
        std::size_t max_violations = 20;
        bool expand = false;  ///< generator forms are judged send by send
        /// The size of a call that the instance was varied to, if it was.
        std::optional<Bytes> asked_bytes{};
    };
    ScheduleJudge(Instance instance, Options options);
    ScheduleJudge(const ScheduleJudge&) = delete;
    ScheduleJudge& operator=(const ScheduleJudge&) = delete;

    [[nodiscard]] const Instance& instance() const { return instance_; }

    /// Throws LimitError when stopped, InternalError if a valid schedule is shorter than the bound.
    [[nodiscard]] JudgedSchedule judge(const std::string& file, const Stop& stop = {});

    /// When each collective finishes and its bandwidths; only if the schedule is valid.
    [[nodiscard]] std::vector<CollectiveResult> collectives(const JudgedSchedule& judged) const;
    [[nodiscard]] Bandwidths bandwidths(const JudgedSchedule& judged) const;

    /// `file`, `verdict`, `violations`, …; if valid also bandwidths and `collectives`, if malformed `error`
    /// and `place`.
    [[nodiscard]] io::Json json_of(const JudgedSchedule& judged) const;

  private:
    void bound(JudgedSchedule& judged, const Stop& stop);
    [[nodiscard]] Verdict verdict_of(const io::OpenSchedule& schedule, const Stop& stop) const;

    const Instance instance_;
    const Options options_;
    std::optional<synth::Bounding> bounding_;  ///< none where a receiver cannot be reached
    bool is_bounded_ = false;                  ///< the near-linear ones are there
};

}  // namespace tutti::app

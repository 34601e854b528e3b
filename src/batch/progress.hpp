#pragma once

#include "core/ticks.hpp"
#include "text/output.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::batch {

/// Where progress is shown, and how. The members are arguments so that a test can be the terminal.
struct ProgressView {
    enum class Kind { Silent, Lines, Bar };
    using Clock = std::chrono::steady_clock;

    Kind kind = Kind::Silent;
    const text::Output* out = nullptr;
    std::function<std::size_t()> columns = [] { return std::size_t{80}; };
    std::function<Clock::time_point()> now = [] { return Clock::now(); };
    std::chrono::milliseconds silent_for{0};  ///< nothing is shown of runs that are over sooner
    std::function<std::size_t()> rows = [] { return std::size_t{24}; };
};

/// Tells how far a run is. On a terminal: a bar, and below it a line for each task at work, drawn again in
/// place; elsewhere a plain line every few seconds, and one for each failure. One thread uses it.
class Progress {
  public:
    Progress(ProgressView view, std::size_t total);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    /// Wipes the bar, so that what follows starts on a clean line.
    ~Progress();

    /// For work that is done one after the other: something is being worked on, or nothing is, with an empty
    /// name; one more is done.
    void working_on(const std::string& what);
    void done(bool failed);

    /// For tasks side by side, each with a number: it begins, it has found something better, it is over, with
    /// an error unless that is empty.
    void begin(std::size_t task, const std::string& name);
    void found(std::size_t task, std::optional<Ticks> makespan, std::optional<Ticks> bound);
    void end(std::size_t task, const std::string& error);
    /// So many were done by an earlier run, some of which had failed.
    void kept(std::size_t count, std::size_t failed = 0);

    /// To be called now and then, so that the time goes on.
    void tick();

  private:
    using Time = ProgressView::Clock::time_point;
    struct Running {
        std::string name;
        Time begin;
        std::optional<Ticks> makespan{}, bound{};
    };

    [[nodiscard]] std::vector<std::string> facts() const;
    [[nodiscard]] std::string time_left() const;
    [[nodiscard]] std::string bar_line(std::size_t columns) const;
    [[nodiscard]] std::string task_line(const Running& running, std::size_t columns) const;
    void draw();
    void wipe();
    void say();

    static constexpr std::chrono::milliseconds kBetweenDrawings{100};
    static constexpr std::chrono::seconds kBetweenLines{5};

    ProgressView view_;
    std::size_t total_, done_ = 0, failed_ = 0, kept_ = 0;
    std::string what_;
    std::map<std::size_t, Running> running_;
    Time begin_, last_;
    std::size_t drawn_ = 0;  ///< lines on the screen
};

}  // namespace tutti::batch

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <ostream>
#include <string>

namespace tutti::batch {

/// Where progress is shown, and how. The members are arguments so that a test can be the terminal.
struct ProgressView {
    enum class Kind { Silent, Lines, Bar };
    using Clock = std::chrono::steady_clock;

    Kind kind = Kind::Silent;
    std::ostream* out = nullptr;
    std::function<std::size_t()> columns = [] { return std::size_t{80}; };
    std::function<Clock::time_point()> now = [] { return Clock::now(); };
    std::chrono::milliseconds silent_for{0};  ///< nothing is shown of runs that are over sooner
};

/// Tells how far a run is: on a terminal one line that is drawn again in place, elsewhere a plain line every
/// few seconds. One thread uses it.
class Progress {
  public:
    Progress(ProgressView view, std::size_t total);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    /// Wipes the bar, so that what follows starts on a clean line.
    ~Progress();

    /// Something is being worked on; or nothing is, with an empty name.
    void working_on(const std::string& what);
    /// One more is done.
    void done(bool failed);
    /// To be called now and then, so that the time goes on.
    void tick();

  private:
    [[nodiscard]] std::string line(std::size_t columns) const;
    void draw();
    void say();

    static constexpr std::chrono::milliseconds kBetweenDrawings{100};
    static constexpr std::chrono::seconds kBetweenLines{5};

    ProgressView view_;
    std::size_t total_, done_ = 0, failed_ = 0;
    std::string what_;
    ProgressView::Clock::time_point begin_, last_;
    bool drawn_ = false;
};

}  // namespace tutti::batch

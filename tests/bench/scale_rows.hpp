#pragma once

#include "io/json_text.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tutti::bench {

/// A figure that was measured or claimed elsewhere.
struct Recorded {
    std::string who;
    std::optional<double> makespan;  ///< in the unit of the row
    double cpu_seconds = 0;
    std::string source;
};

/// A row of scale.json.
struct ScaleRow {
    std::string name;
    std::vector<io::Json> instances;  ///< one; several that are to run one after the other
    std::optional<double> step_us;    ///< makespans are told in steps of so many microseconds
    std::optional<Recorded> recorded;
    std::vector<std::string> live;  ///< what to ask the peer's program
    std::optional<std::int64_t> goal;
    std::optional<double> seconds;  ///< more than the usual limit
    bool physical = false;          ///< ticks are picoseconds

    /// "512", "435.2 us": as the table tells it.
    [[nodiscard]] std::string text(double ticks) const;
    /// "steps", "us" or "ticks".
    [[nodiscard]] std::string unit() const;
};

/// The rows of a table, those that are chosen: by name, or without a name all but the slow ones.
[[nodiscard]] std::vector<ScaleRow> scale_rows(const io::Json& tables, const std::string& table,
                                               const std::string& only);

/// A folder for the files of a run, removed with them at the end.
class ScratchFolder {
  public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
    /// Writes the instance there and returns its path.
    [[nodiscard]] std::string write(const io::Json& instance, const std::string& name) const;

  private:
    std::filesystem::path folder_;
};

}  // namespace tutti::bench

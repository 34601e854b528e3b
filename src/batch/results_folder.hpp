#pragma once

#include "io/found_results.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::batch {

/// With all folders above it. Throws OutputError if it cannot be made.
void make_folder(const std::filesystem::path& folder);

/// The folder of a run's results, which one process at a time may write. What it appends is on the disk
/// after sync(), so that a run can go on from there whatever ended it.
class ResultsFolder {
  public:
    /// Makes the folder if need be and locks it. Throws InputError if that cannot be done, or if another run
    /// is writing into it.
    explicit ResultsFolder(const std::string& path);
    ResultsFolder(const ResultsFolder&) = delete;
    ResultsFolder& operator=(const ResultsFolder&) = delete;
    ~ResultsFolder();

    [[nodiscard]] std::string file(const std::string& name) const;

    /// What earlier runs left in it, as seen from here.
    [[nodiscard]] io::FoundResults earlier() const;
    /// Writes results.jsonl anew with these lines only; what it was before is kept as results.jsonl.damaged.
    void mend(const std::vector<io::ResultLine>& lines) const;
    /// Puts results.jsonl aside, if there is anything in it, and what single tasks have left; the paths where
    /// they then are. Throws InputError while single tasks are running.
    [[nodiscard]] std::vector<std::string> put_aside() const;
    /// Whether its tasks were listed, so that single ones may be running in other processes.
    [[nodiscard]] bool has_tasks() const;
    /// Removes unfinished files that killed processes have left. It does nothing while single tasks are
    /// running. Precondition: this process holds no task's lock.
    void sweep() const;

  private:
    std::string path_;
    int lock_ = -1;
};

}  // namespace tutti::batch

#pragma once

#include "batch/expand.hpp"
#include "batch/known_values.hpp"
#include "io/result_jsonl.hpp"

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::batch {

/// The .solu files of instances, each read once. They do not speak of tasks that change the
/// instance (chunks, bytes).
class SoluFiles {
  public:
    /// Throws InputError for one that somebody named and that cannot be read. Of those that only lie beside
    /// instances there are warnings.
    explicit SoluFiles(const std::vector<Job>& jobs);
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

    /// Compares the line with what is known. A contradiction becomes its error. Returns whether the line is a
    /// failure: infeasibility is none where the file says so too.
    [[nodiscard]] bool judge(const Job& job, io::ResultLine& line) const;

    using Results = std::vector<std::pair<const Job*, const io::ResultLine*>>;
    /// What the results know better than the files, a line each: "new best: ring/a 12 (was 14)". Instances
    /// that a file does not have are no news.
    [[nodiscard]] std::vector<std::string> news(const Results& results) const;
    /// Writes what the results know better into the files, and instances that they do not have. Returns why
    /// files could not be written, a sentence each.
    [[nodiscard]] std::vector<std::string> update(const Results& results) const;

  private:
    struct File {
        std::vector<io::SoluEntry> entries;
        KnownValues values;
        bool is_broken = false;
    };
    [[nodiscard]] std::map<std::string, std::vector<NamedResult>> by_file(const Results& results) const;

    [[nodiscard]] const std::string& path_of(const Job& job) const;

    std::unordered_map<std::string, std::string> paths_;  ///< by the folder of the instances
    std::map<std::string, File> files_;
    std::vector<std::string> warnings_;
};

}  // namespace tutti::batch

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::batch {

/// One instance to be solved.
struct Job {
    std::filesystem::path path;
    std::string family;  ///< the folder it came from: "ring" for instances/ring/a.json
    std::string name;    ///< of the file, without ".json"; unique within the family, by a number if need be

    [[nodiscard]] std::string label() const { return family.empty() ? name : family + "/" + name; }
    friend bool operator==(const Job&, const Job&) = default;
};

/// The instances that files and folders mean, by path. Folders are searched for *.json, without
/// *.schedule.json, hidden folders and folders called "schema"; files are taken as they are. Each file counts
/// once. Throws InputError for a path that does not exist, and when there is no instance at all.
[[nodiscard]] std::vector<Job> expand(const std::vector<std::string>& paths);

/// The files that a .test file lists, a line each: relative to its folder or to the folder above, with or
/// without ".json". Blank lines and lines that start with '#' are passed over. Throws InputError at the line
/// of a file that does not exist.
[[nodiscard]] std::vector<std::string> read_test_set(const std::string& path);

/// Those jobs whose files the set lists too.
[[nodiscard]] std::vector<Job> restricted(std::vector<Job> jobs, const std::vector<std::string>& set);

}  // namespace tutti::batch

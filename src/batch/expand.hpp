#pragma once

#include "core/stop.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::batch {

/// One instance to be solved.
struct Job {
    std::filesystem::path path;
    std::string family;  ///< the folder it came from: "ring" for instances/ring/a.json
    std::string name;    ///< of the file, without ".json"; unique within the family, by a number if need be
    std::filesystem::path solu{};  ///< the .solu file that named it; empty: the one of its folder

    [[nodiscard]] std::string label() const { return family.empty() ? name : family + "/" + name; }
    friend bool operator==(const Job&, const Job&) = default;
};

/// The instances that paths mean, by path:
/// - a folder is searched for *.json, without *.schedule.json, hidden folders, folders called "schema" and
///   those that hold the results of a batch. What is called so but is no file, and folders that cannot be
///   searched, are jobs too: they will fail, and are not lost without a word. Links to folders are not
///   followed.
/// - of a .test file those it lists, of a .solu file those it names (beside it, or in the folder of its
/// name);
/// - any other file is taken as it is;
/// - what does not exist but has * ? [ { is a pattern, as shells know them.
/// Each file counts once. Control characters and bytes that are no UTF-8 are written as \xNN in names. Throws
/// InputError for a path or pattern that means nothing, and when there is no instance at all. When `stop`
/// comes first, the jobs are only some of them.
[[nodiscard]] std::vector<Job> expand(const std::vector<std::string>& paths, const Stop& stop = {});

/// The same path without detours (a/../b), unless links make it another.
[[nodiscard]] std::filesystem::path tidied(const std::filesystem::path& path);

/// The files that a .test file lists, a line each: relative to its folder or to the folder above, with or
/// without ".json". Blank lines and lines that start with '#' are passed over. Throws InputError at the line
/// of a file that does not exist.
[[nodiscard]] std::vector<std::string> read_test_set(const std::string& path);

/// "a/{b,c}/*.json" as "a/b/*.json" and "a/c/*.json"; a pattern without braces alone.
[[nodiscard]] std::vector<std::string> alternatives_in(const std::string& pattern);

/// The files of the instances that a .solu file names, whether they are there or not.
[[nodiscard]] std::vector<std::string> files_named_by(const std::string& solu);

/// Those jobs whose files the set lists too.
[[nodiscard]] std::vector<Job> restricted(std::vector<Job> jobs, const std::vector<std::string>& set);

}  // namespace tutti::batch

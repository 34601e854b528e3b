#pragma once

#include "batch/task.hpp"
#include "io/json_view.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tutti::batch {

/// A run as data: which instances, what is varied, within which limits. docs/batch.md has the format.
struct RunFile {
    std::vector<std::string> instances{};  ///< as expand() takes them
    std::string set{};                     ///< a .test file that restricts them, or empty
    Matrix matrix{};
    std::optional<unsigned> jobs{};  ///< cores
    Limits limits{};
    std::optional<Shard> shard{};
    std::optional<std::uint64_t> tasks{};  ///< how many they are, once that is known

    friend bool operator==(const RunFile&, const RunFile&) = default;
};

/// Paths in the file are relative to its folder. Throws InputError with file and place.
[[nodiscard]] RunFile read_run_file(const std::string& path);

/// Reads back as the same run, also from another working directory. The key `from` says which one this is, so
/// that results can be found by whoever is elsewhere (io/found_results).
void write_run_file(const std::string& path, const RunFile& run);

/// What the second has otherwise than the first, a line each: "time_limit is 2, was 60".
[[nodiscard]] std::vector<std::string> differences(const RunFile& before, const RunFile& now);

/// An object of search options by name; the others are as usual. Throws InputError.
[[nodiscard]] SearchOptions read_search_options(const io::JsonView& view);

/// "3/8"; the part may be 0 … 8. None for anything else.
[[nodiscard]] std::optional<Shard> shard_in(std::string_view text);

/// More seconds than this are no limit that anybody means.
inline constexpr double kMostSeconds = 1e9;
/// More threads than this, of a task or of all, are a slip of the finger.
inline constexpr unsigned kMostThreads = 1024;

}  // namespace tutti::batch

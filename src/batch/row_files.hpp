#pragma once

#include "io/result_jsonl.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace tutti::batch {

/// Where a results folder has what concerns single tasks: their list, their locks, their rows.
[[nodiscard]] std::filesystem::path tasks_folder(const std::string& results);

/// The rows that tasks leave when each is run by a command of its own, each in a file named by the hash of
/// the task's key: tasks/3f/3f9a6c1d20e4b785.json. A file is there whole or not at all. Its paths are
/// relative to the results folder, so that it can be read from anywhere.
class RowFiles {
  public:
    explicit RowFiles(const std::string& results);

    /// The row with that key, its paths as seen from here; none where it is missing or cannot be read.
    [[nodiscard]] std::optional<io::ResultLine> find(const std::string& key) const;
    /// On the disk when this returns, in the place of an earlier one. Throws OutputError.
    void write(io::ResultLine line) const;
    void remove(const std::string& key) const;

    /// The hash by which its file is named.
    [[nodiscard]] static std::uint64_t hash_of(const std::string& key);
    /// Hands over every row that can be read and whose hash is wanted, in no order.
    void each(const std::function<bool(std::uint64_t hash)>& wanted,
              const std::function<void(io::ResultLine)>& take) const;

  private:
    [[nodiscard]] std::filesystem::path path_of(std::uint64_t hash) const;
    [[nodiscard]] std::optional<io::ResultLine> read(std::uint64_t hash) const;

    std::filesystem::path results_, whole_;  ///< as it was given; without links
};

}  // namespace tutti::batch

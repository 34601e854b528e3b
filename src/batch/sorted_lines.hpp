#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::batch {

/// A line of such a file, without its end: the hash in 16 digits, a blank, the text.
[[nodiscard]] std::string line_with_hash(std::uint64_t hash, std::string_view text);

/// A text file whose lines begin with a hash and are sorted by it. Lines are found by bisection, so that some
/// thirty blocks are read of a file of a million lines. The file that was opened is read to the end, also if
/// another one takes its place meanwhile. It is not mapped into memory: when a mapped file cannot be read (a
/// network is down), the process gets a signal instead of an error.
class SortedLines {
  public:
    /// Throws InputError where the file cannot be opened.
    explicit SortedLines(const std::string& path);
    SortedLines(const SortedLines&) = delete;
    SortedLines& operator=(const SortedLines&) = delete;
    ~SortedLines();

    /// The texts of all lines with that hash. Throws InputError where a line that is looked at has no hash.
    [[nodiscard]] std::vector<std::string> with_hash(std::uint64_t wanted) const;
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    [[nodiscard]] std::string bytes(std::uint64_t begin, std::size_t count) const;
    [[nodiscard]] std::uint64_t end_of_line(std::uint64_t at) const;
    [[nodiscard]] std::uint64_t first_line_from(std::uint64_t at) const;
    [[nodiscard]] std::uint64_t hash_at(std::uint64_t line) const;

    std::string path_;
    int file_ = -1;
    std::uint64_t size_ = 0;
};

}  // namespace tutti::batch

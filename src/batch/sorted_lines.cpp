#include "batch/sorted_lines.hpp"

#include "core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

namespace tutti::batch {
namespace {

constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kBlock = 4096;

}  // namespace

std::string line_with_hash(std::uint64_t hash, std::string_view text) {
    return fmt::format("{:0{}x} {}", hash, kHashDigits, text);
}

SortedLines::SortedLines(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (file_ < 0 || ::fstat(file_, &status) != 0) {
        const int error = errno;
        if (file_ >= 0) ::close(file_);
        throw InputError("cannot be opened: " + std::generic_category().message(error), {}, path);
    }
    size_ = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
}

SortedLines::~SortedLines() { ::close(file_); }

std::vector<std::string> SortedLines::with_hash(std::uint64_t wanted) const {
    // The first line that begins at `low` or later is not after the first one that is wanted; the first that
    // begins at `high` or later is not before it.
    std::uint64_t low = 0, high = size_;
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2, line = first_line_from(middle);
        if (line < size_ && hash_at(line) < wanted) {
            low = line + 1;
        } else {
            high = middle;
        }
    }
    std::vector<std::string> texts;
    for (std::uint64_t line = first_line_from(low); line < size_ && hash_at(line) == wanted;) {
        const std::uint64_t end = end_of_line(line), begin = std::min(line + kHashDigits + 1, end);
        texts.push_back(bytes(begin, static_cast<std::size_t>(end - begin)));
        line = end + 1;
    }
    return texts;
}

/// As many as there are.
std::string SortedLines::bytes(std::uint64_t begin, std::size_t count) const {
    std::string bytes(
        static_cast<std::size_t>(std::min<std::uint64_t>(count, size_ - std::min(begin, size_))), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got =
            ::pread(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(begin + done));
        if (got == 0) break;
        if (got < 0 && errno != EINTR)
            throw InputError("cannot be read: " + std::generic_category().message(errno), {}, path_);
        if (got > 0) done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

/// Where the line that has the byte `at` ends: the place of its newline, or the end of the file.
std::uint64_t SortedLines::end_of_line(std::uint64_t at) const {
    for (; at < size_; at += kBlock) {
        const std::string block = bytes(at, kBlock);
        if (const std::size_t end = block.find('\n'); end != block.npos) return at + end;
        if (block.size() < kBlock) break;
    }
    return size_;
}

/// Where the first line begins that does not begin before `at`.
std::uint64_t SortedLines::first_line_from(std::uint64_t at) const {
    return at == 0 ? 0 : std::min(end_of_line(at - 1) + 1, size_);
}

std::uint64_t SortedLines::hash_at(std::uint64_t line) const {
    const std::string digits = bytes(line, kHashDigits);
    std::uint64_t hash = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), hash, 16);
    if (digits.size() != kHashDigits || error != std::errc() || end != digits.data() + kHashDigits)
        throw InputError("expected a list of tasks, as tutti batch --list-tasks writes it", {}, path_);
    return hash;
}

}  // namespace tutti::batch

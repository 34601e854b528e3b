#include "io/source.hpp"

#include "core/expects.hpp"
#include "text/format.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

namespace tutti::io {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

struct Source::File {
    int descriptor = -1;
    bool ours = false;                  ///< opened here, so closed here
    std::optional<std::uint64_t> size;  ///< of a regular file

    File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (ours && descriptor >= 0) ::close(descriptor);
    }
};

Source::Source(std::string text, std::string name, std::unique_ptr<File> file)
    : name_(std::move(name)), file_(std::move(file)), buffer_(std::move(text)), filled_(buffer_.size()) {}

Source::Source(const std::string& path, const Stop& stop)
    : Source({}, path == "-" ? "standard input" : path, std::make_unique<File>()) {
    stop_ = stop;
    file_->ours = path != "-";
    file_->descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file_->descriptor < 0) fail("cannot be opened: " + reason(errno));
    struct stat status {};
    if (::fstat(file_->descriptor, &status) != 0) fail("cannot be read: " + reason(errno));
    if (S_ISDIR(status.st_mode)) fail("expected a file, found a directory");
    if (S_ISREG(status.st_mode)) file_->size = static_cast<std::uint64_t>(status.st_size);
    buffer_.resize(kBlock);
}

Source Source::of_text(std::string text, std::string name) {
    return {std::move(text), std::move(name), nullptr};
}

Source::Source(Source&&) noexcept = default;
Source& Source::operator=(Source&&) noexcept = default;
Source::~Source() = default;

void Source::fail(const std::string& message, const std::string& place) const {
    throw InputError(message, place, name_);
}

void Source::limit(std::uint64_t bytes) {
    limit_ = bytes;
    const std::uint64_t known = file_ ? file_->size.value_or(0) : filled_;
    if (known > limit_)
        fail(fmt::format("expected at most {}, found {}", text::size_text(limit_), text::size_text(known)));
}

void Source::wait_for_input() const {
    constexpr int kPollMilliseconds = 50;
    if (file_->size) return;  // a regular file never blocks
    while (true) {
        if (stop_.requested()) throw LimitError(fmt::format("interrupted while {} was read", name_));
        pollfd input{file_->descriptor, POLLIN, 0};
        const int ready = ::poll(&input, 1, kPollMilliseconds);
        // An error, too, ends the wait: read() then says which.
        if (ready > 0 || (ready < 0 && errno != EINTR)) return;
    }
}

bool Source::refill() {
    if (!file_) return false;
    filled_ -= next_;
    std::memmove(buffer_.data(), buffer_.data() + next_, filled_);
    next_ = 0;
    wait_for_input();
    ssize_t count = 0;
    do {
        count = ::read(file_->descriptor, buffer_.data() + filled_, buffer_.size() - filled_);
    } while (count < 0 && errno == EINTR);
    if (count < 0) fail("cannot be read: " + reason(errno), fmt::format("byte {}", offset_));
    filled_ += static_cast<std::size_t>(count);
    if (count == 0) {
        // A terminal can be read again after its end of file; do not.
        file_.reset();
        return false;
    }
    if (offset_ + filled_ > limit_)
        fail(fmt::format("expected at most {}, found more", text::size_text(limit_)));
    return true;
}

void Source::take(std::size_t count) {
    next_ += count;
    offset_ += count;
}

std::string_view Source::peek(std::size_t count) {
    expects(count <= kBlock);
    while (filled_ - next_ < count && refill()) {
    }
    return std::string_view(buffer_).substr(next_, std::min(count, filled_ - next_));
}

std::size_t Source::read(std::span<char> into) {
    std::size_t done = 0;
    while (done < into.size()) {
        if (next_ == filled_ && !refill()) break;
        const std::size_t count = std::min(into.size() - done, filled_ - next_);
        std::memcpy(into.data() + done, buffer_.data() + next_, count);
        take(count);
        done += count;
    }
    return done;
}

std::string_view Source::block() {
    if (next_ == filled_ && !refill()) return {};
    const auto bytes = std::string_view(buffer_).substr(next_, filled_ - next_);
    take(bytes.size());
    return bytes;
}

std::string read_text(Source& source, std::uint64_t limit) {
    source.limit(limit);
    std::string text;
    for (auto bytes = source.block(); !bytes.empty(); bytes = source.block()) text += bytes;
    return text;
}

}  // namespace tutti::io

#include "cli/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace tutti::cli {
namespace {

bool wants_colours(int descriptor) {
    const char* refused = std::getenv("NO_COLOR");
    const char* kind = std::getenv("TERM");
    const bool dumb = kind == nullptr || std::string_view(kind) == "dumb";
    return ::isatty(descriptor) == 1 && !dumb && (refused == nullptr || *refused == '\0');
}

bool reader_has_gone() {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

void open_standard_descriptors() {
    for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) == -1) (void)::open("/dev/null", O_RDWR);
    }
}

Streams process_streams() {
    return {std::cout, std::cerr, wants_colours(STDOUT_FILENO), wants_colours(STDERR_FILENO),
            ::isatty(STDERR_FILENO) == 1};
}

std::size_t terminal_columns() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

std::size_t terminal_rows() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return 24;
    return size.ws_row;
}

ExitCode flushed(const Streams& streams, ExitCode code) {
    streams.out.flush();
    if (streams.out.good() || reader_has_gone()) return code;
    streams.err.print("error: standard output: cannot be written\n");
    return ExitCode::BadInput;
}

}  // namespace tutti::cli

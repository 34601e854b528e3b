#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::batch {

/// A child process of ours: a copy of this one that does one piece of work and ends. It is made by fork()
/// without exec, so this process must have one thread only.
struct Child {
    pid_t pid = -1;
    int messages = -1;                  ///< where to read what it sends; not blocking
    int words = -1;                     ///< where to read its standard error; not blocking
    std::uint64_t inherited_bytes = 0;  ///< of the memory it has, what is only a copy of ours
};

/// Sends bytes to the parent, whole. May be used from several threads.
using Send = std::function<void(std::string_view bytes)>;

/// Starts one. It dies with this process, ignores Ctrl-C (this process decides what ends), reads nothing,
/// prints nothing, and is the first to be killed when the system runs out of memory. With `most_memory` the
/// system refuses it more data than about twice that, in case it grows faster than it is watched. Throws
/// std::system_error.
[[nodiscard]] Child start_child(std::optional<std::uint64_t> most_memory,
                                const std::function<void(const Send&)>& work);

/// How a child ended.
struct Ending {
    int exit_code = 0;
    int signal = 0;                       ///< 0: it was none
    std::uint64_t peak_memory_bytes = 0;  ///< without what it inherited
};

/// Waits for its end and closes its pipes.
[[nodiscard]] Ending reap(Child& child);

/// What it holds now, without what it inherited; 0 where the system does not tell.
[[nodiscard]] std::uint64_t resident_bytes(const Child& child);

/// What children would inherit now: how far this process has grown since it started.
[[nodiscard]] std::uint64_t inherited_bytes();

/// How long it has been ready to run while others had the cores: of its threads the one that waited longest.
/// 0 where the system does not tell.
[[nodiscard]] double seconds_waited_for_cores(pid_t pid);

/// "SIGSEGV (Segmentation fault)".
[[nodiscard]] std::string signal_text(int signal);

}  // namespace tutti::batch

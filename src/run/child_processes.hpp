#pragma once

#include <sys/types.h>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace tutti::run {

/// Copies of this process (fork) that each do some work and end. They end with this process, however it ends.
class ChildProcesses {
  public:
    /// `work` gets the number of the child. What it throws is for nobody: it should pass it on.
    ChildProcesses(std::uint32_t count, const std::function<void(std::uint32_t)>& work);
    /// Kills those that still run, and waits for them.
    ~ChildProcesses();
    ChildProcesses(const ChildProcesses&) = delete;
    ChildProcesses& operator=(const ChildProcesses&) = delete;

    /// Throws LostPeerError if one was killed, or if one failed: then with `reason`, if it left any.
    void check(std::string_view reason = {});

    /// Whether check() has not seen the end of all yet.
    [[nodiscard]] bool are_running() const;

  private:
    std::vector<pid_t> children_;  ///< 0: it has ended
};

}  // namespace tutti::run

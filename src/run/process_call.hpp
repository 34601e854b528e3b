#pragma once

#include "run/child_processes.hpp"
#include "run/executable.hpp"
#include "run/layout.hpp"
#include "run/local_call.hpp"
#include "run/team.hpp"
#include "run/test_data.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace tutti::run {

/// How a call in several processes is run.
struct ProcessOptions {
    std::uint32_t processes = 2;
    Engine engine = Engine::Pieces;
    std::size_t piece_bytes = 0;  ///< 0: what suits
    bool private_arrays = false;  ///< each process has its arrays for itself, and is one rank
    /// Called now and then while this process waits for the others; throws to end the call.
    std::function<void()> check = [] {};
};

/// All ranks of a plan in new processes of this machine, with test data. This process only tells them what to
/// do, and asleep waits for it. If one of them ends all do, and a LostPeerError says which it was.
class ProcessCall {
  public:
    ProcessCall(const Executable& executable, const Layout& layout, ElementType type, Operator op,
                const TestData& data, ProcessOptions options);
    ~ProcessCall();
    ProcessCall(const ProcessCall&) = delete;
    ProcessCall& operator=(const ProcessCall&) = delete;

    /// Each rank's own process fills its memories.
    void fill();
    void run() { (void)time(1); }
    /// Runs it so many times, at most kMostRounds; microseconds of each.
    [[nodiscard]] std::span<const double> time(std::uint32_t rounds);
    static constexpr std::uint32_t kMostRounds = 1000;
    /// Each process compares the outputs of its own ranks.
    [[nodiscard]] TestData::Check check();

  private:
    enum Task : std::uint32_t { kNothing, kFill, kRun, kCheck, kEnd };
    struct Desk;

    void serve(std::uint32_t process);
    void tell(Task task, std::uint32_t rounds);

    const Executable* executable_;
    Layout layout_;
    ElementType type_;
    Operator op_;
    const TestData* data_;
    ProcessOptions options_;
    SharedMemory memory_;  ///< of the team
    SharedMemory desk_memory_;
    Desk* desk_;
    std::optional<ChildProcesses> children_;
};

}  // namespace tutti::run

#pragma once

#include "run/meeting.hpp"
#include "run/shared_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace tutti::run {

/// What a process of a team does while it waits for others.
struct TeamOptions {
    /// Called now and then while waiting is long; throws to end it.
    std::function<void()> check = [] {};
    /// Called often from when waiting takes longer than a switch to another process; may be empty.
    std::function<void()> poll{};
};

/// Processes that work together on calls of plans, as one of them sees it. They share a memory with a part
/// for each process, in which it allocates what the others may read and write. A process that ends, or gives
/// up, ends the waiting of all others with a LostPeerError that says which it was.
class Team {
  public:
    /// A memory for so many processes. Its parts are as large as the machine's memory, and empty.
    [[nodiscard]] static SharedMemory memory_for(std::uint32_t processes);

    /// Says that this process is going to be that one. If it ends before it has joined, those that have
    /// joined know it; else they would wait for it.
    static void announce(const SharedMemory& memory, std::uint32_t process);

    /// Joins as process `process`. Each number is used once.
    Team(SharedMemory memory, std::uint32_t process, TeamOptions options);
    /// Leaves it: whoever waits for this process from now on gets a LostPeerError.
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    [[nodiscard]] std::uint32_t process() const { return process_; }
    [[nodiscard]] std::uint32_t processes() const { return processes_; }
    /// The process that a rank belongs to where `ranks` of them are spread over the team.
    [[nodiscard]] std::uint32_t process_of(std::size_t rank, std::size_t ranks) const {
        return static_cast<std::uint32_t>(rank * processes_ / ranks);
    }

    /// Waits for all; the last one to come does `last` before anybody goes on.
    template <class Last>
    void meet(const Last& last) {
        Patience patience = this->patience();
        head().meeting.meet(processes_, patience, last);
    }
    void meet() {
        meet([] {});
    }
    /// For other waiting than meet(): its check() sees lost processes.
    [[nodiscard]] Patience patience() const;
    /// Ends the calls of all: they throw a LostPeerError with this text.
    void give_up(const std::string& text);

    /// Of this process's part; aligned to a page. Throws LimitError.
    [[nodiscard]] std::byte* allocate(std::size_t bytes);
    void free(std::byte* memory);
    /// An address as a number that the others understand, and back; nothing: it is not in the shared memory.
    [[nodiscard]] std::optional<std::uint64_t> offset_of(const std::byte* address, std::size_t bytes) const;
    [[nodiscard]] std::byte* at(std::uint64_t offset) const { return memory_.data() + offset; }

    /// A small table of each process that the others read after the next meeting.
    static constexpr std::size_t kPostWords = 6;
    [[nodiscard]] std::span<std::uint64_t, kPostWords> post(std::uint32_t process) const {
        return member(process).post;
    }
    /// Of each process: how many pieces it has brought, and how many it has worked on, since the team began.
    [[nodiscard]] std::atomic<std::uint64_t>& brought(std::uint32_t process) const {
        return member(process).brought;
    }
    [[nodiscard]] std::atomic<std::uint64_t>& worked(std::uint32_t process) const {
        return member(process).worked;
    }
    /// What the last one to come wants the others to know.
    [[nodiscard]] std::uint64_t& notice() const { return head().notice; }
    [[nodiscard]] std::span<char> notice_text() const { return head().notice_text; }
    /// Memory at the same place for all, of kStagingBytes.
    static constexpr std::size_t kStagingBytes = std::size_t{256} << 20U;
    [[nodiscard]] std::byte* staging() const;
    /// Calls that used it, so far.
    std::uint64_t staged_calls = 0;

  private:
    enum State : std::uint32_t { kAbsent, kHere, kLeft };
    struct Head {
        std::uint64_t processes, part_bytes, first_part;
        MeetingPoint meeting;
        std::uint64_t notice;
        char notice_text[512];
        std::atomic<std::uint32_t> given_up;
        char reason[512];
    };
    struct alignas(64) Member {
        std::atomic<std::uint32_t> state;
        std::atomic<std::int32_t> process_id;  ///< 0: nobody has been announced
        std::uint64_t post[kPostWords];
        alignas(64) std::atomic<std::uint64_t> brought;
        alignas(64) std::atomic<std::uint64_t> worked;
    };

    [[nodiscard]] Head& head() const { return *reinterpret_cast<Head*>(memory_.data()); }
    [[nodiscard]] Member& member(std::uint32_t process) const;
    void check_others() const;

    SharedMemory memory_;
    std::uint32_t process_, processes_;
    bool spare_cores_ = false;
    TeamOptions options_;
    std::function<void()> check_;
    std::map<std::size_t, std::size_t> free_, used_;  ///< of this process's part: offset, bytes
};

}  // namespace tutti::run

#include "run/team.hpp"

#include "core/error.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace tutti::run {
namespace {

constexpr std::size_t kPageBytes = 4096, kLargePage = std::size_t{2} << 20U;
constexpr std::size_t kMembersAt = 8192, kMemberBytes = 192;

[[nodiscard]] std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/// Before the parts of the processes: head, members, and the memory of all.
[[nodiscard]] std::size_t staging_at(std::uint32_t processes) {
    return rounded_up(kMembersAt + processes * kMemberBytes, kLargePage);
}

void copy_text(const std::string& text, std::span<char> to) {
    const std::size_t length = std::min(text.size(), to.size() - 1);
    std::memcpy(to.data(), text.data(), length);
    to[length] = '\0';
}

}  // namespace

SharedMemory Team::memory_for(std::uint32_t processes) {
    const auto machine = static_cast<std::size_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L)) *
                         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t first_part = staging_at(processes) + kStagingBytes;
    // Addresses may be limited (ulimit -v): then smaller parts will have to do.
    for (std::size_t part = rounded_up(machine, kLargePage);; part = rounded_up(part / 2, kLargePage)) {
        try {
            SharedMemory memory = SharedMemory::create(first_part + processes * part);
            Head& head = *reinterpret_cast<Head*>(memory.data());
            head.processes = processes;
            head.part_bytes = part;
            head.first_part = first_part;
            return memory;
        } catch (const LimitError&) {
            if (part <= (std::size_t{64} << 20U)) throw;
        }
    }
}

void Team::announce(const SharedMemory& memory, std::uint32_t process) {
    memory.take_seat(process);
    Member& member = *reinterpret_cast<Member*>(memory.data() + kMembersAt + process * sizeof(Member));
    member.process_id.store(static_cast<std::int32_t>(getpid()), std::memory_order_release);
}

Team::Team(SharedMemory memory, std::uint32_t process, TeamOptions options)
    : memory_(std::move(memory)), process_(process), options_(std::move(options)) {
    static_assert(sizeof(Head) <= kMembersAt && sizeof(Member) == kMemberBytes);
    processes_ = static_cast<std::uint32_t>(head().processes);
    spare_cores_ = processes_ <= std::thread::hardware_concurrency();  // asked once: it takes microseconds
    check_ = [this] { check_others(); };
    free_.emplace(head().first_part + process * head().part_bytes, head().part_bytes);
    announce(memory_, process);
    member(process).state.store(kHere, std::memory_order_release);
}

Team::~Team() {
    // A child that was forked later is not the member.
    if (memory_.data() != nullptr && member(process_).process_id.load() == getpid())
        member(process_).state.store(kLeft, std::memory_order_release);
}

Team::Member& Team::member(std::uint32_t process) const {
    return *reinterpret_cast<Member*>(memory_.data() + kMembersAt + process * sizeof(Member));
}

std::byte* Team::staging() const { return memory_.data() + staging_at(processes_); }

Patience Team::patience() const {
    Patience patience(check_, spare_cores_);
    if (options_.poll) patience.poll_with(options_.poll);
    return patience;
}

void Team::give_up(const std::string& text) {
    std::uint32_t nobody = 0;
    if (!head().given_up.compare_exchange_strong(nobody, 1)) return;
    copy_text(text, head().reason);
    head().given_up.store(2, std::memory_order_release);
}

void Team::check_others() const {
    options_.check();
    if (head().given_up.load(std::memory_order_acquire) == 2) throw LostPeerError(head().reason);
    // One that left may have done so because another ended: that one is named.
    std::string left;
    for (std::uint32_t process = 0; process < processes_; ++process) {
        if (process == process_) continue;
        const Member& other = member(process);
        const std::uint32_t state = other.state.load(std::memory_order_acquire);
        const auto name = [&] {
            return fmt::format("process {} of {} (pid {})", process, processes_, other.process_id.load());
        };
        if (state == kLeft && left.empty()) left = name() + " has left, and others wait for it";
        // One that has not even been announced may still come.
        const std::int32_t id = other.process_id.load(std::memory_order_acquire);
        if (state != kLeft && id != 0 && id != getpid() && !memory_.holder_of(process))
            throw LostPeerError(name() + " has ended, and others wait for it");
    }
    if (!left.empty()) throw LostPeerError(left);
}

std::byte* Team::allocate(std::size_t bytes) {
    const std::size_t unit = bytes >= kLargePage ? kLargePage : kPageBytes;
    const std::size_t wanted = rounded_up(std::max<std::size_t>(bytes, 1), unit);
    for (const auto& [first, size] : free_) {
        const std::size_t start = rounded_up(first, unit), end = first + size;
        if (start + wanted > end) continue;
        const std::size_t begin = first;
        free_.erase(begin);
        if (start > begin) free_.emplace(begin, start - begin);
        if (start + wanted < end) free_.emplace(start + wanted, end - start - wanted);
        used_.emplace(start, wanted);
        return memory_.data() + start;
    }
    throw LimitError(fmt::format("no {} bytes of shared memory are left", bytes));
}

void Team::free(std::byte* memory) {
    const auto found = used_.find(static_cast<std::size_t>(memory - memory_.data()));
    if (found == used_.end()) return;
    auto [first, size] = *found;
    used_.erase(found);
    if (size >= kLargePage) memory_.forget(memory, size);
    const auto after = free_.lower_bound(first);
    if (after != free_.end() && after->first == first + size) {
        size += after->second;
        free_.erase(after);
    }
    const auto next = free_.lower_bound(first);
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == first) {
            before->second += size;
            return;
        }
    }
    free_.emplace(first, size);
}

std::optional<std::uint64_t> Team::offset_of(const std::byte* address, std::size_t bytes) const {
    const auto first = reinterpret_cast<std::uintptr_t>(memory_.data());
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at < first || at + bytes > first + memory_.size()) return std::nullopt;
    return at - first;
}

}  // namespace tutti::run

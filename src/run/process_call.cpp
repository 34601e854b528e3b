#include "run/process_call.hpp"

#include "run/private_call.hpp"
#include "run/team_call.hpp"

#include <chrono>
#include <cstring>
#include <exception>
#include <vector>

namespace tutti::run {

/// What this process and the others tell each other.
struct ProcessCall::Desk {
    /// What one process found.
    struct alignas(64) Findings {
        std::uint64_t compared, wrong;
        bool any;
        std::uint32_t rank;
        std::int64_t element;
        char expected[64], found[64];
    };
    static constexpr std::size_t kMostProcesses = 1024;

    Bell told, done;  ///< done rings once for each process
    std::uint32_t task, rounds;
    std::atomic<std::uint32_t> failed;
    char reason[512];
    double microseconds[kMostRounds];
    Findings findings[kMostProcesses];
};

namespace {

void copy_cut(const std::string& text, std::span<char> to) { to[text.copy(to.data(), to.size() - 1)] = '\0'; }

/// The memories of one process's ranks, and the call that it makes with them.
class OwnPart {
  public:
    OwnPart(Team& team, const Executable& executable, const Layout& layout, ElementType type, Operator op,
            const TestData& data, const ProcessOptions& options)
        : team_(team), executable_(executable), data_(data), memories_(executable.memories.size()) {
        const auto ranks = static_cast<std::size_t>(executable.ranks());
        for (std::uint32_t memory = 0; memory < memories_.size(); ++memory) {
            const ExecutableMemory& here = executable.memories[memory];
            if (team.process_of(here.gpu.index(), ranks) != team.process()) continue;
            const auto bytes = static_cast<std::size_t>(layout.elements(memory)) * size_of(type);
            if (here.buffer == plan::Buffer::Scratch || bytes == 0) continue;
            if (options.private_arrays) {
                memories_[memory] = owned_.emplace_back(bytes).data();
            } else {
                memories_[memory] = team.allocate(bytes);
            }
        }
        if (!options.private_arrays) {
            shared_.emplace(team, executable, layout, type, op, options.engine, options.piece_bytes,
                            memories_);
            return;
        }
        private_.emplace(team, executable, layout, type, op);
        const Rank rank(team.process());
        for (std::uint32_t memory = 0; memory < memories_.size(); ++memory) {
            const ExecutableMemory& here = executable.memories[memory];
            if (here.gpu != rank || !here.origin || memories_[memory] == nullptr) continue;
            input_ = memories_[memory] +
                     static_cast<std::size_t>(layout.first(memory, here.known_first)) * size_of(type);
        }
        const plan::Range& output = executable.outputs[rank.index()];
        if (memories_[output.memory] != nullptr)
            output_ = memories_[output.memory] +
                      static_cast<std::size_t>(layout.first(output.memory, output.first)) * size_of(type);
    }

    void fill() {
        for (std::uint32_t memory = 0; memory < memories_.size(); ++memory) {
            if (memories_[memory] != nullptr) data_.fill(memory, memories_[memory]);
        }
        team_.meet();
    }
    void run() {
        if (shared_) return shared_->run();
        (void)private_->run({}, input_, output_);
    }
    [[nodiscard]] TestData::Check check() const {
        TestData::Check all;
        const std::vector<const std::byte*> memories(memories_.begin(), memories_.end());
        const auto ranks = static_cast<std::size_t>(executable_.ranks());
        for (const Rank rank : plan::ranks_below(executable_.ranks())) {
            if (team_.process_of(rank.index(), ranks) != team_.process()) continue;
            const TestData::Check check = data_.check(memories, rank);
            all.compared += check.compared;
            all.wrong += check.wrong;
            if (!all.first) all.first = check.first;
        }
        return all;
    }

  private:
    Team& team_;
    const Executable& executable_;
    const TestData& data_;
    std::vector<std::vector<std::byte, HugePages<std::byte>>> owned_;
    std::vector<std::byte*> memories_;
    std::optional<TeamCall> shared_;
    std::optional<PrivateCall> private_;
    std::byte *input_ = nullptr, *output_ = nullptr;
};

}  // namespace

ProcessCall::ProcessCall(const Executable& executable, const Layout& layout, ElementType type, Operator op,
                         const TestData& data, ProcessOptions options)
    : executable_(&executable),
      layout_(layout),
      type_(type),
      op_(op),
      data_(&data),
      options_(std::move(options)),
      memory_(Team::memory_for(options_.processes)),
      desk_memory_(SharedMemory::create(sizeof(Desk))),
      desk_(reinterpret_cast<Desk*>(desk_memory_.data())) {
    children_.emplace(options_.processes, [this](std::uint32_t process) { serve(process); });
    tell(kNothing, 0);
}

ProcessCall::~ProcessCall() = default;

void ProcessCall::serve(std::uint32_t process) {
    using Clock = std::chrono::steady_clock;
    try {
        Team team(std::move(memory_), process, {});
        OwnPart part(team, *executable_, layout_, type_, op_, *data_, options_);
        const std::function<void()> nothing = [] {};
        for (std::uint32_t heard = 0;; ++heard) {
            Patience patience(nothing, false);
            while (desk_->told.count.load(std::memory_order_acquire) == heard)
                patience.wait(desk_->told, heard);
            switch (desk_->task) {
                case kFill:
                    part.fill();
                    break;
                case kRun:
                    team.meet();
                    for (std::uint32_t round = 0; round < desk_->rounds; ++round) {
                        const auto start = Clock::now();
                        part.run();
                        const std::chrono::duration<double, std::micro> time = Clock::now() - start;
                        if (process == 0) desk_->microseconds[round] = time.count();
                    }
                    break;
                case kCheck: {
                    const TestData::Check check = part.check();
                    Desk::Findings& findings = desk_->findings[process];
                    findings.compared = check.compared;
                    findings.wrong = check.wrong;
                    findings.any = check.first.has_value();
                    if (!check.first) break;
                    findings.rank = check.first->rank.value();
                    findings.element = check.first->element;
                    copy_cut(check.first->expected, findings.expected);
                    copy_cut(check.first->found, findings.found);
                    break;
                }
                default:
                    break;
            }
            desk_->done.ring();
        }
    } catch (const std::exception& error) {
        if (desk_->failed.exchange(1) == 0) {
            copy_cut(error.what(), desk_->reason);
            desk_->failed.store(2, std::memory_order_release);
        }
        throw;
    }
}

void ProcessCall::tell(Task task, std::uint32_t rounds) {
    desk_->task = task;
    desk_->rounds = rounds;
    const std::uint32_t wanted = desk_->done.count.load(std::memory_order_acquire) + options_.processes;
    desk_->told.ring();
    const std::function<void()> check = [&] {
        options_.check();
        const bool said = desk_->failed.load(std::memory_order_acquire) == 2;
        children_->check(said ? std::string_view(desk_->reason) : std::string_view());
    };
    Patience patience(check, false);
    while (true) {
        const std::uint32_t done = desk_->done.count.load(std::memory_order_acquire);
        if (done == wanted) return;
        patience.wait(desk_->done, done);
    }
}

void ProcessCall::fill() { tell(kFill, 0); }

std::span<const double> ProcessCall::time(std::uint32_t rounds) {
    tell(kRun, rounds);
    return {desk_->microseconds, rounds};
}

TestData::Check ProcessCall::check() {
    tell(kCheck, 0);
    TestData::Check all;
    for (std::uint32_t process = 0; process < options_.processes; ++process) {
        const Desk::Findings& findings = desk_->findings[process];
        all.compared += findings.compared;
        all.wrong += findings.wrong;
        if (findings.any && !all.first) {
            all.first = TestData::Difference{Rank(findings.rank), findings.element, findings.expected,
                                             findings.found};
        }
    }
    return all;
}

}  // namespace tutti::run

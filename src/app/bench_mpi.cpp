#include "app/bench_mpi.hpp"

#include "app/bench_rounds.hpp"
#include "app/loaded_plan.hpp"
#include "app/memory.hpp"
#include "app/mpi_module.hpp"
#include "core/error.hpp"
#include "core/huge_pages.hpp"
#include "run/private_call.hpp"
#include "run/rank_arrays.hpp"
#include "run/team_call.hpp"
#include "run/team_join.hpp"
#include "run/test_data.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace tutti::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// A team of all processes of MPI.
[[nodiscard]] run::SharedMemory memory_for_all(run::MpiLibrary& mpi) {
    std::uint32_t host = static_cast<std::uint32_t>(getpid());
    mpi.broadcast(&host, sizeof host);
    return run::memory_of_team({fmt::format("bench-{}", host), mpi.process(), mpi.processes()}, [] {});
}

/// This rank's memories in one kind of place, and the inputs in them that it writes before each call.
struct OwnMemories {
    std::vector<std::byte*> memories{};
    std::byte *input = nullptr, *output = nullptr;
    std::size_t input_bytes = 0;

    template <class Allocate>
    OwnMemories(const run::Executable& executable, const run::Layout& layout, Rank rank, std::size_t size,
                const Allocate& allocate)
        : memories(executable.memories.size()) {
        for (std::uint32_t memory = 0; memory < memories.size(); ++memory) {
            const run::ExecutableMemory& here = executable.memories[memory];
            const auto bytes = static_cast<std::size_t>(layout.elements(memory)) * size;
            if (here.gpu == rank && here.buffer != plan::Buffer::Scratch && bytes > 0)
                memories[memory] = allocate(bytes);
        }
        const run::RankArrays arrays = run::arrays_of(executable, layout, rank);
        if (memories[arrays.input.memory] != nullptr)
            input = memories[arrays.input.memory] + arrays.input.first * size;
        if (memories[arrays.output.memory] != nullptr)
            output = memories[arrays.output.memory] + arrays.output.first * size;
        input_bytes = arrays.input.elements * size;
    }
    void fill(const run::TestData& data) const {
        for (std::uint32_t memory = 0; memory < memories.size(); ++memory) {
            if (memories[memory] != nullptr) data.fill(memory, memories[memory]);
        }
    }
    /// Small numbers in every type.
    void rewrite() const { std::memset(input, 0x3c, input_bytes); }
};

class MpiBench {
  public:
    MpiBench(const BenchOptions& options, const Watch& watch,
             const std::function<void(const BenchRow&)>& row_made)
        : options_(options), watch_(watch), row_made_(row_made), mpi_(open_mpi()) {
        result_.is_first = mpi_->process() == 0;
        result_.yardstick = mpi_->version();
        if (!mpi_->on_one_machine()) throw InputError("expected all processes on one machine");
        team_.emplace(memory_for_all(*mpi_), mpi_->process(), run::TeamOptions{});
        team_->meet();
    }

    [[nodiscard]] BenchResult run() && {
        for (const std::string& file : options_.files) {
            const auto plan = load_plan(file);
            if (static_cast<std::uint32_t>(plan->ranks()) != mpi_->processes()) {
                throw InputError(
                    fmt::format("the plan is for {} ranks, but there are {} processes; start it with "
                                "mpirun -n {} tutti bench …",
                                plan->ranks(), mpi_->processes(), plan->ranks()),
                    {}, file);
            }
            for (const std::int64_t bytes : options_.sizes) run(*plan, bytes);
        }
        return std::move(result_);
    }

  private:
    void run(const LoadedPlan& plan, std::int64_t bytes) {
        const run::Executable& executable = plan.executables.front();
        const std::size_t size = run::size_of(options_.type);
        const std::int64_t count = count_for(executable, bytes, size);
        // The same answer for all. There are shared arrays and each process's own.
        std::uint64_t free = free_memory_bytes().value_or(std::numeric_limits<std::uint64_t>::max());
        mpi_->broadcast(&free, sizeof free);
        expect_room(plan.judged.file, executable, count, options_.type, {free, 2});
        const run::Layout layout(executable, count);
        const Rank rank(mpi_->process());
        std::vector<std::vector<std::byte, HugePages<std::byte>>> owned;
        const OwnMemories shared(executable, layout, rank, size,
                                 [&](std::size_t wanted) { return team_->allocate(wanted); });
        const OwnMemories own(executable, layout, rank, size,
                              [&](std::size_t wanted) { return owned.emplace_back(wanted).data(); });
        {
            run::TeamCall pieces(*team_, executable, layout, options_.type, options_.op, run::Engine::Pieces,
                                 0, shared.memories);
            run::TeamCall streams(*team_, executable, layout, options_.type, options_.op,
                                  run::Engine::Streams, 0, shared.memories);
            run::PrivateCall copied(*team_, executable, layout, options_.type, options_.op);

            BenchRow row;
            row.file = plan.judged.file;
            row.collective = plan.judged.verdict.collective;
            row.ranks = plan.ranks();
            row.count = layout.count();
            row.bytes = static_cast<std::int64_t>(
                            layout.elements(run::arrays_of(executable, layout, rank).output.memory)) *
                        static_cast<std::int64_t>(size);
            row.steps = executable.steps.size();
            const run::TestData data(executable, layout, options_.type, options_.op, 1);
            const auto run_private = [&] { (void)copied.run({}, own.input, own.output); };
            check(
                shared, data, [&] { pieces.run(); }, row);
            check(
                shared, data, [&] { streams.run(); }, row);
            check(own, data, run_private, row);
            const std::uint32_t root = executable.postcondition.root.value();
            const auto run_mpi = [&] {
                // In place MPI has its own word for where the input is.
                const std::byte* const input = executable.in_place ? own.output : own.input;
                if (!mpi_->call(plan.goal(), input, own.output, static_cast<std::size_t>(layout.count()),
                                options_.type, options_.op, root))
                    throw InputError(fmt::format("MPI has no collective of {} with {}",
                                                 run::name_of(options_.type), run::name_of(options_.op)),
                                     {}, row.file);
            };
            const auto timed = [&](const OwnMemories& memories, const std::function<void()>& call) {
                return [this, &memories, call] { return time_of(memories, call); };
            };
            const std::vector<Contender> contenders{{"MPI", timed(own, run_mpi)},
                                                    {"pieces", timed(shared, [&] { pieces.run(); })},
                                                    {"streams", timed(shared, [&] { streams.run(); })},
                                                    {"private", timed(own, run_private)}};
            (void)contenders[0].call();
            const std::uint32_t calls = calls_in_round(contenders[0].call());
            run_rounds(
                contenders, options_.rounds, calls, false, [&] { check_interrupt(); }, row);
            result_.rows.push_back(std::move(row));
            if (result_.is_first) row_made_(result_.rows.back());
        }
        for (std::byte* const memory : shared.memories) {
            if (memory != nullptr) team_->free(memory);
        }
    }

    /// The same number in all processes: the longest that one took.
    [[nodiscard]] double time_of(const OwnMemories& memories, const std::function<void()>& call) {
        memories.rewrite();
        team_->meet();
        const auto start = SteadyClock::now();
        call();
        const std::chrono::nanoseconds took = SteadyClock::now() - start;
        team_->post(team_->process())[5] = static_cast<std::uint64_t>(took.count());
        team_->meet();
        std::uint64_t longest = 0;
        for (std::uint32_t process = 0; process < team_->processes(); ++process)
            longest = std::max(longest, team_->post(process)[5]);
        team_->meet();
        return static_cast<double>(longest) / 1000;
    }

    void check(const OwnMemories& memories, const run::TestData& data, const std::function<void()>& call,
               BenchRow& row) {
        memories.fill(data);
        team_->meet();
        call();
        const std::vector<const std::byte*> found(memories.memories.begin(), memories.memories.end());
        const auto checked = data.check(found, Rank(team_->process()));
        row.compared += mpi_->sum(checked.compared);
        row.wrong += mpi_->sum(checked.wrong);
    }

    void check_interrupt() const {
        if (watch_.was_interrupted()) throw LimitError("interrupted");
    }

    const BenchOptions& options_;
    const Watch& watch_;
    const std::function<void(const BenchRow&)>& row_made_;
    std::unique_ptr<run::MpiLibrary> mpi_;
    std::optional<run::Team> team_;
    BenchResult result_;
};

}  // namespace

BenchResult bench_against_mpi(const BenchOptions& options, const Watch& watch,
                              const std::function<void(const BenchRow&)>& row) {
    return MpiBench(options, watch, row).run();
}

}  // namespace tutti::app

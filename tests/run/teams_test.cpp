// Plans run by several processes: the same bits as in one, and the end of one process ends all.

#include "core/error.hpp"
#include "core/huge_pages.hpp"
#include "lang/library.hpp"
#include "run/private_call.hpp"
#include "run/process_call.hpp"
#include "run/team_call.hpp"
#include "run/team_join.hpp"
#include "tests/support/runnable.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tutti;
using run::ElementType;
using run::Engine;
using run::Operator;

run::Executable library_plan(std::string_view algorithm, CollectiveKind kind, std::uint32_t ranks,
                             bool in_place) {
    lang::AlgorithmRequest request;
    request.kind = kind;
    request.ranks = ranks;
    request.in_place = in_place;
    const auto trace = lang::program_of(lang::algorithm_named(algorithm), request);
    return run::executable_of(test::runnable(trace).programs.at(0));
}

/// Runs `work` in so many threads that are a team as processes are: each maps the memory for itself.
void as_team(
    std::uint32_t processes, const std::function<void(run::Team&)>& work,
    const std::function<void()>& check = [] {}) {
    const run::SharedMemory memory = run::Team::memory_for(processes);
    std::vector<std::thread> threads;
    for (std::uint32_t process = 0; process < processes; ++process) {
        threads.emplace_back([&, process] {
            run::Team team(run::SharedMemory::adopt(dup(memory.file())), process, {check, {}});
            work(team);
            team.meet();
        });
    }
    for (std::thread& thread : threads) thread.join();
}

std::vector<std::int32_t> children() {
    std::ifstream file("/proc/self/task/" + std::to_string(gettid()) + "/children");
    std::vector<std::int32_t> all;
    for (std::int32_t child = 0; file >> child;) all.push_back(child);
    return all;
}

}  // namespace

TEST_CASE("a team's calls give what the collective demands, with shared and with private arrays") {
    struct Case {
        std::string_view algorithm;
        CollectiveKind kind;
        std::uint32_t ranks;
        bool in_place;
    };
    const std::vector<Case> cases{{"ring", CollectiveKind::AllReduce, 3, true},
                                  {"all-pairs", CollectiveKind::AllReduce, 4, false},
                                  {"ring", CollectiveKind::AllGather, 4, true},
                                  {"ring", CollectiveKind::ReduceScatter, 3, true},
                                  {"binomial-tree", CollectiveKind::Broadcast, 3, true},
                                  {"direct-all-to-all", CollectiveKind::AllToAll, 3, false}};
    std::size_t number = 0;
    for (const Case& plan : cases) {
        const run::Executable executable = library_plan(plan.algorithm, plan.kind, plan.ranks, plan.in_place);
        for (const std::int64_t count : {1, 17, 50'000}) {
            for (const int how : {0, 1, 2, 3}) {
                const auto type = static_cast<ElementType>(number % run::kElementTypes);
                const auto op = static_cast<Operator>(number++ % run::kOperators);
                CAPTURE(plan.algorithm);
                CAPTURE(plan.ranks);
                CAPTURE(count);
                CAPTURE(how);
                CAPTURE(run::name_of(type));
                CAPTURE(run::name_of(op));
                const run::Layout layout(executable, count);
                const run::TestData data(executable, layout, type, op, number);
                // How 3: fewer processes than ranks.
                const std::uint32_t processes = how == 3 ? 2 : plan.ranks;
                std::atomic<std::uint64_t> wrong{0}, compared{0};
                as_team(processes, [&](run::Team& team) {
                    std::vector<std::byte*> memories(executable.memories.size());
                    for (std::uint32_t memory = 0; memory < memories.size(); ++memory) {
                        const auto& here = executable.memories[memory];
                        if (team.process_of(here.gpu.index(), plan.ranks) != team.process()) continue;
                        memories[memory] = team.allocate(static_cast<std::size_t>(layout.elements(memory)) *
                                                         run::size_of(type));
                        data.fill(memory, memories[memory]);
                    }
                    if (how == 2) {
                        run::PrivateCall call(team, executable, layout, type, op);
                        const Rank rank(team.process());
                        const auto at = [&](std::uint32_t memory, std::int64_t place) {
                            return memories[memory] +
                                   static_cast<std::size_t>(layout.first(memory, place)) * run::size_of(type);
                        };
                        std::byte* input = nullptr;
                        for (std::uint32_t memory = 0; memory < memories.size(); ++memory) {
                            const auto& here = executable.memories[memory];
                            if (here.gpu == rank && here.origin) input = at(memory, here.known_first);
                        }
                        const plan::Range& output = executable.outputs[rank.index()];
                        std::byte* const to = at(output.memory, output.first);
                        CHECK_FALSE(call.run({7 + team.process(), true}, input, to));
                        CHECK_FALSE(call.run({7, team.process() != 1}, input, to));
                        CHECK(call.run({7, true}, input, to));
                    } else {
                        run::TeamCall call(team, executable, layout, type, op,
                                           how == 1 ? Engine::Streams : Engine::Pieces, how == 1 ? 64 : 0,
                                           memories);
                        call.run();
                    }
                    const std::vector<const std::byte*> found(memories.begin(), memories.end());
                    for (const Rank rank : plan::ranks_below(executable.ranks())) {
                        if (team.process_of(rank.index(), plan.ranks) != team.process()) continue;
                        const auto checked = data.check(found, rank);
                        wrong += checked.wrong;
                        compared += checked.compared;
                    }
                    team.meet();
                });
                CHECK(wrong == 0);
                CHECK(compared > 0);
            }
        }
    }
}

TEST_CASE("arrays of one's own may be in place or not, whatever the plan is made for") {
    const run::Executable executable = library_plan("ring", CollectiveKind::AllGather, 3, true);
    const std::int64_t count = 20'011;
    const run::Layout layout(executable, count);
    for (const bool in_place : {true, false}) {
        as_team(3, [&](run::Team& team) {
            run::PrivateCall call(team, executable, layout, ElementType::I32, Operator::Sum);
            for (int round = 0; round < 3; ++round) {
                std::vector<std::int32_t> input(count), output(3 * count, -1);
                auto* const own = in_place ? output.data() + team.process() * count : input.data();
                for (std::int64_t at = 0; at < count; ++at)
                    own[at] = static_cast<std::int32_t>(at * 10 + team.process() + round);
                REQUIRE(call.run({}, reinterpret_cast<std::byte*>(own),
                                 reinterpret_cast<std::byte*>(output.data())));
                std::int64_t wrong = 0;
                for (std::int64_t at = 0; at < 3 * count; ++at)
                    wrong += output[static_cast<std::size_t>(at)] != at % count * 10 + at / count + round;
                CHECK(wrong == 0);
            }
        });
    }
}

TEST_CASE("new processes run a call with all elements right") {
    const run::Executable executable = library_plan("ring", CollectiveKind::AllReduce, 4, true);
    const run::Layout layout(executable, 30'001);
    const run::TestData data(executable, layout, ElementType::F32, Operator::Sum, 3);
    for (const bool private_arrays : {false, true}) {
        for (const Engine engine : {Engine::Pieces, Engine::Streams}) {
            if (private_arrays && engine == Engine::Streams) continue;
            for (const std::uint32_t processes : {2U, 4U}) {
                if (private_arrays && processes != 4) continue;
                run::ProcessCall call(
                    executable, layout, ElementType::F32, Operator::Sum, data,
                    {.processes = processes, .engine = engine, .private_arrays = private_arrays});
                call.fill();
                CHECK(call.check().wrong > 0);
                call.run();
                const auto check = call.check();
                CHECK(check.compared == 4 * 30'001);
                CHECK(check.wrong == 0);
                CHECK(call.time(3).size() == 3);
            }
        }
    }
    CHECK(children().empty());
}

TEST_CASE("when a process is killed all others end, and it is named") {
    const run::Executable executable = library_plan("ring", CollectiveKind::AllReduce, 4, true);
    const run::Layout layout(executable, 300'000);
    const run::TestData data(executable, layout, ElementType::F32, Operator::Sum, 3);
    for (const bool private_arrays : {false, true}) {
        for (const Engine engine : {Engine::Pieces, Engine::Streams}) {
            if (private_arrays && engine == Engine::Streams) continue;
            run::ProcessCall call(executable, layout, ElementType::F32, Operator::Sum, data,
                                  {.processes = 4, .engine = engine, .private_arrays = private_arrays});
            call.fill();
            const std::int32_t victim = children().at(2);
            std::thread killer([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                (void)kill(victim, SIGKILL);
            });
            try {
                while (true) (void)call.time(run::ProcessCall::kMostRounds);
            } catch (const run::LostPeerError& error) {
                CHECK(std::string(error.what()) ==
                      "process 2 of 4 (pid " + std::to_string(victim) + ") was killed by signal 9");
            }
            killer.join();
        }
    }
    CHECK(children().empty());
}

TEST_CASE("a process that waits notices by itself that another has left or given up") {
    std::atomic<int> told{0};
    const run::SharedMemory memory = run::Team::memory_for(3);
    const auto join = [&](std::uint32_t process) {
        return std::make_unique<run::Team>(run::SharedMemory::adopt(dup(memory.file())), process,
                                           run::TeamOptions{});
    };
    auto first = join(0), second = join(1);
    { const auto third = join(2); }
    try {
        first->meet();
    } catch (const run::LostPeerError& error) {
        CHECK(std::string(error.what()).find("process 2 of 3 (pid ") == 0);
        ++told;
    }
    second->give_up("that is enough");
    try {
        first->meet();
    } catch (const run::LostPeerError& error) {
        CHECK(std::string(error.what()) == "that is enough");
        ++told;
    }
    CHECK(told == 2);
}

TEST_CASE("processes find each other by the name of their job") {
    const std::string job = "tutti-test-" + std::to_string(getpid());
    const auto join = [&](std::uint32_t process, std::uint32_t processes, int milliseconds = 20'000) {
        return run::memory_of_team({job, process, processes, std::chrono::milliseconds(milliseconds)}, [] {});
    };
    std::atomic<std::uint32_t> sum{0};
    std::vector<std::thread> threads;
    for (std::uint32_t process = 0; process < 3; ++process) {
        threads.emplace_back([&, process] {
            run::Team team(join(process, 3), process, {});
            team.post(process)[0] = process + 1;
            team.meet();
            for (std::uint32_t other = 0; other < 3; ++other)
                sum += static_cast<std::uint32_t>(team.post(other)[0]);
            team.meet();
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(sum == 18);

    CHECK_THROWS_AS((void)join(3, 3), InputError);
    CHECK_THROWS_WITH_AS((void)join(1, 2, 50), doctest::Contains("process 0 did not come within 0.05 s"),
                         LimitError);
    CHECK_THROWS_WITH_AS((void)join(0, 3, 50), doctest::Contains("of 3 processes 1, 2 did not come"),
                         LimitError);
    std::thread other([&] { CHECK_THROWS_AS((void)join(1, 4), InputError); });
    CHECK_THROWS_WITH_AS((void)join(0, 2),
                         doctest::Contains("one process says that they are 2, another that they are 4"),
                         InputError);
    other.join();
}

TEST_CASE("those that have come end when not all come") {
    const std::string job = "tutti-test-alone-" + std::to_string(getpid());
    const auto memory = [&](std::uint32_t process, int milliseconds) {
        return run::memory_of_team({job, process, 3, std::chrono::milliseconds(milliseconds)}, [] {});
    };
    constexpr int kNoticed = 7;
    const pid_t child = fork();
    if (child == 0) {
        try {
            run::Team team(memory(1, 20'000), 1, {});
            team.meet();
        } catch (const run::LostPeerError&) {
            _exit(kNoticed);
        } catch (...) {
            _exit(1);
        }
        _exit(0);
    }
    // Process 2 never comes. Process 0 waits for it, and then is no longer there for process 1.
    CHECK_THROWS_WITH_AS((void)memory(0, 1000), doctest::Contains("of 3 processes 2 did not come"),
                         LimitError);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == kNoticed);
}

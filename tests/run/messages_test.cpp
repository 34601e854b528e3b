// Plans run by processes that share nothing: threads here, whose messages a queue passes on.

#include "lang/library.hpp"
#include "run/message_call.hpp"
#include "run/test_data.hpp"
#include "tests/support/mail.hpp"
#include "tests/support/runnable.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace tutti;
using run::ElementType;
using run::Operator;

/// Wrong elements of a call by so many processes, and elements that were compared.
std::pair<std::uint64_t, std::uint64_t> wrong_of(const run::Executable& executable, std::uint32_t processes,
                                                 std::int64_t count, ElementType type, Operator op) {
    const auto ranks = static_cast<std::uint32_t>(executable.ranks());
    const run::Layout layout(executable, count);
    const run::TestData data(executable, layout, type, op, 5);
    const auto process_of = [&](Rank rank) { return rank.value() * processes / ranks; };
    test::Mail mail(processes);
    std::atomic<std::uint64_t> wrong{0}, compared{0};
    std::vector<std::thread> threads;
    for (std::uint32_t process = 0; process < processes; ++process) {
        threads.emplace_back([&, process] {
            test::Mail::Box box(mail, process, processes);
            const run::MessagePlan plan = run::message_plan(executable, process, process_of);
            const run::Layout own(plan.local, count);
            std::vector<std::vector<std::byte>> owned;
            std::vector<std::byte*> memories(executable.memories.size());
            for (std::uint32_t memory = 0; memory < memories.size(); ++memory) {
                if (process_of(executable.memories[memory].gpu) != process) continue;
                owned.emplace_back(static_cast<std::size_t>(layout.elements(memory)) * run::size_of(type));
                memories[memory] = owned.back().data();
                data.fill(memory, memories[memory]);
            }
            run::MessageCall call(box, plan, own, type, op, 256, memories, [] {});
            call.run();
            const std::vector<const std::byte*> found(memories.begin(), memories.end());
            for (const Rank rank : plan::ranks_below(executable.ranks())) {
                if (process_of(rank) != process) continue;
                const auto check = data.check(found, rank);
                wrong += check.wrong;
                compared += check.compared;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(mail.is_empty());
    return {wrong, compared};
}

}  // namespace

TEST_CASE("plans of the library run right by messages, with one or more ranks in a process") {
    std::size_t calls = 0;
    std::set<CollectiveKind> kinds;
    for (const lang::Algorithm& algorithm : lang::algorithms()) {
        for (const CollectiveKind kind : algorithm.kinds) {
            for (const std::uint32_t ranks : {3U, 4U}) {
                lang::AlgorithmRequest request;
                request.kind = kind;
                request.ranks = ranks;
                if (has_root(kind)) request.root = 1;
                if (!lang::why_not(algorithm, request).empty()) continue;
                const test::Runnable runnable = test::runnable(lang::program_of(algorithm, request));
                for (const verify::JudgedProgram& program : runnable.programs) {
                    const run::Executable executable = run::executable_of(program);
                    const auto type = static_cast<ElementType>(calls % run::kElementTypes);
                    const auto op = static_cast<Operator>(calls % run::kOperators);
                    const std::uint32_t processes = calls % 3 == 0 ? 2 : ranks;
                    CAPTURE(algorithm.name);
                    CAPTURE(name_of(kind));
                    CAPTURE(ranks);
                    CAPTURE(processes);
                    CAPTURE(program.in_place);
                    const std::int64_t count = calls % 4 == 0 ? 1 : 1301;
                    const auto [wrong, compared] = wrong_of(executable, processes, count, type, op);
                    CHECK(wrong == 0);
                    CHECK(compared > 0);
                    kinds.insert(kind);
                    ++calls;
                }
            }
        }
    }
    CHECK(calls > 40);
    CHECK(kinds.size() >= 7);
}

TEST_CASE("in one process nothing is sent") {
    lang::AlgorithmRequest request;
    request.ranks = 4;
    const auto trace = lang::program_of(lang::algorithm_named("ring"), request);
    const run::Executable executable = run::executable_of(test::runnable(trace).programs.at(0));
    const auto plan = run::message_plan(executable, 0, [](Rank) { return 0U; });
    CHECK(plan.messages == 0);
    CHECK(wrong_of(executable, 1, 100, ElementType::I64, Operator::Sum).first == 0);
}

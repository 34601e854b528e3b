// Tensor programs in several processes: with shared memory, and with messages, which threads pass on here.
// What the ranks end with has the bits that threads of one process end with.

#include "run/program_run.hpp"

#include "io/tensor_json.hpp"
#include "io/tensor_schedule_json.hpp"
#include "rewrite/schedule.hpp"
#include "run/meeting.hpp"
#include "run/rank_parts.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/mail.hpp"
#include "tests/support/random_tensor_program.hpp"
#include "tests/support/tensor_set.hpp"
#include "verify/tensor/field_numbers.hpp"
#include "verify/tensor/rank_machine.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace tutti;
using run::Precision;
using tensor::Program;

namespace {

Program resized(const Program& program, std::int64_t ranks, std::int64_t size) {
    std::map<std::string, std::int64_t> sizes;
    for (const auto& [name, old] : program.sizes()) sizes[name] = size++;
    return tensor::at_sizes(program, std::vector<std::int64_t>(program.mesh().axes().size(), ranks), sizes);
}

/// Gets a program, inputs in the field, how it is run on threads, and what the ranks then have.
using UseOfForm = std::function<void(const Program&, const std::vector<run::RankTensors>&,
                                     const run::ProgramRunOptions&, const std::vector<run::RankTensors>&)>;

void use_form(const Program& original, const Program& form, const UseOfForm& use) {
    const verify::Arrays drawn = verify::drawn_inputs(original, verify::FieldNumbers(7));
    const auto inputs = run::rank_inputs(form, drawn, Precision::Field);
    const run::ProgramRunOptions options{.arithmetic = run::Arithmetic(Precision::Field, 7), .calls = 2};
    use(form, inputs, options, run::run_program(form, inputs, options).outputs);
}

/// Every legal schedule of the set on so many ranks of each axis.
std::size_t for_schedules(std::int64_t ranks, const UseOfForm& use) {
    std::size_t runs = 0;
    for (const io::Json& line : test::tensor_lines("legal.jsonl")) {
        const std::string name = line.at("program").get<std::string>();
        std::vector<tensor::Step> steps;
        for (const io::Json& step : line.at("steps")) steps.push_back(io::parse_tensor_step(step));
        INFO(name, ", ", line.at("name").get<std::string>(), ", ", ranks, " ranks");
        for (const std::int64_t size : {std::int64_t{5}, 6 * ranks}) {
            try {
                const Program original = resized(test::tensor_program(name), ranks, size);
                use_form(original, rewrite::replay(original, steps), use);
                ++runs;
                break;
            } catch (const tensor::Refusal&) {  // sizes that must divide
            }
        }
    }
    return runs;
}

bool same(const std::vector<run::RankTensors>& a, const std::vector<run::RankTensors>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t rank = 0; rank < a.size(); ++rank) {
        if (a[rank].size() != b[rank].size()) return false;
        for (const auto& [name, one] : a[rank]) {
            const auto other = b[rank].find(name);
            if (other == b[rank].end() || one.shape != other->second.shape) return false;
            const auto bytes = static_cast<std::size_t>(one.elements()) * run::bytes_of(one.storage());
            if (bytes > 0 && std::memcmp(one.first(), other->second.first(), bytes) != 0) return false;
        }
    }
    return true;
}

/// In how many processes so many ranks are tried: under ThreadSanitizer no process has two threads.
std::vector<std::uint32_t> process_counts(std::size_t ranks) {
    if (test::with_thread_sanitizer()) return {static_cast<std::uint32_t>(ranks)};
    return {2, 3};
}

/// Threads that stand in for so many processes pass messages.
void check_by_messages(std::uint32_t processes, const Program& program,
                       const std::vector<run::RankTensors>& inputs, const run::ProgramRunOptions& options,
                       const std::vector<run::RankTensors>& expected) {
    test::Mail mail(processes);
    std::vector<std::vector<run::RankTensors>> outputs(processes);
    std::vector<std::thread> threads;
    for (std::uint32_t process = 0; process < processes; ++process) {
        threads.emplace_back([&, process] {
            test::Mail::Box box(mail, process, processes);
            run::ProgramRunOptions own = options;
            own.mpi = &box;
            outputs[process] = run::run_program(program, inputs, own).outputs;
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<run::RankTensors>& found : outputs) CHECK(same(found, expected));
    CHECK(mail.is_empty());
}

/// The processes that this one has started.
std::vector<pid_t> children() {
    std::vector<pid_t> found;
    for (const std::filesystem::path& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(task / "children");
        for (pid_t child = 0; file >> child;) found.push_back(child);
    }
    return found;
}

}  // namespace

TEST_CASE("in processes that share memory every schedule has the bits that it has on threads") {
    const std::size_t runs =
        for_schedules(3, [](const Program& program, const std::vector<run::RankTensors>& inputs,
                            run::ProgramRunOptions options, const std::vector<run::RankTensors>& expected) {
            for (const std::uint32_t processes : process_counts(inputs.size())) {
                options.processes = processes;
                const run::ProgramRun run = run::run_program(program, inputs, options);
                CHECK(same(run.outputs, expected));
                CHECK(run.times.size() == 2);
                CHECK(run.seconds > 0);
                CHECK(!run.kernels.empty());
            }
        });
    CHECK(runs > 50);
}

TEST_CASE("by messages every schedule has the bits that it has on threads, and all processes know all") {
    for (const std::uint32_t processes : {2U, 3U}) {
        const std::size_t runs = for_schedules(
            processes == 2 ? 2 : 3,
            [&](const Program& program, const std::vector<run::RankTensors>& inputs,
                const run::ProgramRunOptions& options, const std::vector<run::RankTensors>& expected) {
                check_by_messages(processes, program, inputs, options, expected);
            });
        CHECK(runs > 50);
    }
}

TEST_CASE("random programs with random schedules have the same bits by messages and in pieces on links") {
    test::for_seeds(test::cases(40), [](Rng& rng, std::uint64_t) {
        const Program original = test::random_tensor_program(rng);
        const Program form = test::random_form(original, rng).program;
        INFO(io::json_line(io::write_tensor_program(form)));
        use_form(original, form,
                 [&](const Program& program, const std::vector<run::RankTensors>& inputs,
                     run::ProgramRunOptions options, const std::vector<run::RankTensors>& expected) {
                     check_by_messages(2, program, inputs, options, expected);
                     const Topology star(
                         test::star(static_cast<std::uint32_t>(program.mesh().ranks()), {}, 1, 1).parts());
                     const run::ProgramNetwork network{
                         .topology = &star,
                         .schedule_of = [](const auto&, std::int64_t) { return run::NetworkCall(); },
                         .pieces_of = [](const tensor::Kernel&) { return std::int64_t{3}; }};
                     options.network = &network;
                     CHECK(same(run::run_program(program, inputs, options).outputs, expected));
                 });
    });
}

TEST_CASE("where a process is killed the call of the others ends, and it is said which it was") {
    const Program program = resized(test::tensor_program("adam"), 3, 5000);
    const verify::Arrays drawn = verify::drawn_inputs(program, verify::FieldNumbers(1));
    const auto inputs = run::rank_inputs(program, drawn, Precision::Field);
    const std::vector<pid_t> before = children();
    std::string lost;
    std::thread call([&] {
        try {
            (void)run::run_program(
                program, inputs,
                {.arithmetic = run::Arithmetic(Precision::Field, 1), .calls = 1'000'000, .processes = 3});
        } catch (const run::LostPeerError& error) {
            lost = error.what();
        }
    });
    std::vector<pid_t> found;
    while (found.size() < before.size() + 3) found = children();
    for (const pid_t child : found) {
        if (std::ranges::find(before, child) != before.end()) continue;
        (void)kill(child, SIGKILL);
        break;
    }
    call.join();
    CHECK(lost.find("was killed by signal 9") != std::string::npos);
    CHECK(children() == before);
}

#include "models/remote/remote_backend.hpp"

#include "models/remote/helper.hpp"
#include "tests/io/scratch.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/programs.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace tutti;
using namespace tutti::models;
using namespace tutti::models::remote;
using namespace std::chrono_literals;

namespace {

/// Takes no part in any solve.
class NoSolver final : public Backend {
  public:
    [[nodiscard]] SolverLibrary library() const override { return {"1", "here"}; }
    [[nodiscard]] Abilities abilities() const override { return {}; }
    using Backend::solve;
    [[nodiscard]] Answer solve(const Program&, const SolveLimits&) const override {
        return {.words = "solved in this process"};
    }
};

/// A helper program that does what the lines of shell say. Its socket is descriptor 3.
std::string helper_that(const test::Scratch& scratch, const std::string& lines) {
    const std::string file = scratch.path("helper");
    {
        std::ofstream out(file);
        out << "#!/bin/sh\n" << lines << '\n';
    }
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
}

Answer answer_of(const std::string& helper, const SolveLimits& limits = {}) {
    return RemoteBackend("cpsat", helper, std::make_shared<NoSolver>()).solve(toy(), limits);
}

/// Sums of half the total: hopeless for every solver.
Program hard_program() {
    Program program;
    Rng rng(7);
    std::vector<Var> vars;
    for (int i = 0; i < 60; ++i) vars.push_back(program.boolean("b" + std::to_string(i)).var);
    for (int row = 0; row < 7; ++row) {
        std::vector<Term> terms;
        std::int64_t sum = 0;
        for (const Var var : vars) {
            terms.push_back({var, static_cast<std::int64_t>(rng.below(100))});
            sum += terms.back().coefficient;
        }
        program.row(terms, sum / 2, sum / 2);
    }
    return program;
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

/// Alive or not yet asked how they ended.
bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) >= 0; }

std::string first_backend() {
    for (const BackendEntry& entry : backends()) {
        if (entry.open()) return std::string(entry.name);
    }
    return {};
}

/// The only child of a process; 0 if it has none.
pid_t child_of(pid_t parent) {
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", parent));
    pid_t child = 0;
    children >> child;
    return child;
}

/// Ended, though perhaps nobody has asked how.
bool is_gone(pid_t pid) {
    std::ifstream stat(fmt::format("/proc/{}/stat", pid));
    std::string number, name, state;
    return !(stat >> number >> name >> state) || state == "Z" || state == "X";
}

}  // namespace

TEST_CASE("a helper process solves what its caller would, with every backend") {
    const std::string helper = helper_file();
    REQUIRE_FALSE(helper.empty());
    for (const BackendEntry& entry : backends()) {
        OpenedBackend opened = entry.open();
        if (!opened) continue;
        CAPTURE(entry.name);
        const std::shared_ptr<const Backend> here = std::move(opened.backend);
        const RemoteBackend there(std::string(entry.name), helper, here);
        CHECK(there.library().version == here->library().version);
        const Answer toy_answer = there.solve(toy(), {});
        CAPTURE(toy_answer.words);
        CHECK(toy_answer.ended == Ended::Optimal);
        CHECK(toy_answer.objective == kToyOptimum);
        test::for_seeds(test::cases(5), [&](Rng& rng, std::uint64_t) {
            const Program program = test::random_program(rng);
            const Answer one = here->solve(program, {}), other = there.solve(program, {});
            CHECK(other.ended == one.ended);
            CHECK(other.objective == one.objective);
            CHECK((!other.has_solution() || test::solves(program, other.values)));
        });
        if (!here->abilities().linear_programs) continue;
        LinearProgram linear;  // x + y >= 3, x >= 1: least 2x + y
        const std::uint32_t x = linear.add_column(2), y = linear.add_column(1);
        linear.add(x, 1);
        linear.add(y, 1);
        linear.end_row(3);
        linear.add(x, 1);
        linear.end_row(1);
        const LinearAnswer answer = there.solve(linear, {});
        CHECK(answer.ended == Ended::Optimal);
        CHECK(answer.objective == doctest::Approx(4));
        CHECK(answer.dual.size() == 2);
    }
    CHECK_FALSE(has_children());
}

TEST_CASE("a helper that crashes, exits, sends garbage or is missing gives a failed answer with a message") {
    const test::Scratch scratch;
    const auto words = [&](const std::string& lines) {
        const Answer answer = answer_of(helper_that(scratch, lines));
        CHECK(answer.ended == Ended::Failed);
        CHECK(answer.values.empty());
        return answer.words;
    };
    CHECK(words("kill -SEGV $$") == "its helper process gave no answer: it died of SIGSEGV");
    CHECK(words("exit 3") == "its helper process gave no answer: it ended with exit code 3");
    CHECK(words("cat <&3 >/dev/null & sleep 0.1; echo tutti-but-not-really >&3; exit 0").find("no answer") !=
          std::string::npos);
    CHECK(answer_of(scratch.path("nowhere")).ended == Ended::Failed);
    CHECK(answer_of(scratch.path("nowhere")).words.find("cannot be started") != std::string::npos);
    CHECK_FALSE(has_children());
}

TEST_CASE("a helper that does not support the solver reports that") {
    const std::string helper = helper_file();
    REQUIRE_FALSE(helper.empty());
    const Answer answer = RemoteBackend("cplex", helper, std::make_shared<NoSolver>()).solve(toy(), {});
    CHECK(answer.ended == Ended::Failed);
    CHECK(answer.words == "the helper process knows no solver 'cplex'");
}

TEST_CASE("a helper that ignores the stop is killed, whether it reads its socket or not") {
    const test::Scratch scratch;
    for (const char* const lines : {"exec sleep 1000", "cat <&3 >/dev/null; exec sleep 1000"}) {
        const std::string helper = helper_that(scratch, lines);
        const Answer by_time = answer_of(helper, {.stop = Stop(0.1s)});
        CHECK(by_time.ended == Ended::Stopped);
        std::atomic<bool> flag{false};
        std::jthread user([&] {
            std::this_thread::sleep_for(100ms);
            flag = true;
        });
        const Answer by_flag = answer_of(helper, {.stop = Stop({}, &flag)});
        CHECK(by_flag.ended == Ended::Stopped);
    }
    CHECK_FALSE(has_children());
}

TEST_CASE("at the end of a slice the solver is asked to stop, and its answer is still waited for") {
    const std::string name = first_backend(), helper = helper_file();
    if (name.empty()) return;
    // Many assignments and no end of better ones: at the stop there is a solution.
    Program program;
    Rng rng(1);
    std::vector<Term> cost;
    std::vector<std::vector<Term>> rows(40);
    for (std::size_t i = 0; i < 300; ++i) {
        const Var var = program.boolean("b" + std::to_string(i)).var;
        cost.push_back({var, -1 - static_cast<std::int64_t>(rng.below(1000))});
        for (auto& row : rows) row.push_back({var, 1 + static_cast<std::int64_t>(rng.below(1000))});
    }
    for (const auto& row : rows) program.row(row, kMinusInfinity, 40'000);
    program.minimise(cost);
    std::atomic<bool> flag{false};
    std::jthread user([&] {
        std::this_thread::sleep_for(1500ms);
        flag = true;
    });
    SolveLimits limits;
    limits.stop = Stop({}, &flag);  // which the helper only hears of by its socket
    limits.must_end = Stop();
    const Answer answer = RemoteBackend(name, helper, std::make_shared<NoSolver>()).solve(program, limits);
    CAPTURE(answer.words);
    REQUIRE(answer.ended == Ended::Feasible);
    CHECK(test::solves(program, answer.values));
}

TEST_CASE("a helper that takes more memory than the limit is ended, and others count too") {
    const std::string name = first_backend(), helper = helper_file();
    if (name.empty()) return;
    SolveLimits limits;
    limits.memory_bytes = resident_bytes_of(::getpid()) + (std::size_t{1} << 40);
    const auto memory = std::make_shared<HelperMemory>(0);
    const RemoteBackend backend(name, helper, std::make_shared<NoSolver>(), memory);
    CHECK(backend.solve(toy(), limits).ended == Ended::Optimal);
    CHECK(*memory == 0);
    *memory = std::size_t{1} << 41;  // another helper of the search
    const Answer answer = backend.solve(toy(), limits);
    CHECK(answer.ended == Ended::Failed);
    CHECK(answer.words == "its helper process took more memory than the limit");
    CHECK(*memory == std::size_t{1} << 41);
}

TEST_CASE(
    "what a helper leaves behind is nothing: no process, no descriptor, no signal, and it inherits none") {
    const test::Scratch scratch;
    const std::string report = scratch.path("descriptors");
    std::array<int, 2> open_in_the_caller{};  // and not closed on exec
    REQUIRE(::pipe(open_in_the_caller.data()) == 0);
    const std::size_t before = open_descriptors();
    struct sigaction pipe_before {};
    REQUIRE(::sigaction(SIGPIPE, nullptr, &pipe_before) == 0);
    for (int i = 0; i < 5; ++i) {
        (void)answer_of(helper_that(scratch, "ls /proc/$$/fd > " + report + "; exit 1"));
        (void)answer_of(helper_that(scratch, "exec sleep 1000"), {.stop = Stop(0.02s)});
        (void)answer_of(scratch.path("nowhere"));
    }
    CHECK(open_descriptors() == before);
    CHECK_FALSE(has_children());
    struct sigaction pipe_after {};
    REQUIRE(::sigaction(SIGPIPE, nullptr, &pipe_after) == 0);
    CHECK((pipe_after.sa_handler == pipe_before.sa_handler));
    for (const int end : open_in_the_caller) ::close(end);
    std::ifstream in(report);
    std::size_t beyond_the_socket = 0;
    for (int number = 0; in >> number;) {
        // A shell keeps its script open at 10 or above.
        if (number > kHelperSocket && number < 10) ++beyond_the_socket;
    }
    CHECK(beyond_the_socket == 0);
}

TEST_CASE("a helper does not outlive a caller that is killed") {
    const std::string name = first_backend(), helper = helper_file();
    if (name.empty()) return;
    const pid_t caller = ::fork();
    REQUIRE(caller >= 0);
    if (caller == 0) {
        (void)RemoteBackend(name, helper, std::make_shared<NoSolver>()).solve(hard_program(), {});
        ::_exit(0);
    }
    pid_t child = 0;
    while ((child = child_of(caller)) == 0) std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_for(300ms);  // mostly it is at work then; nothing depends on it
    CHECK_FALSE(is_gone(child));
    CHECK(::kill(caller, SIGKILL) == 0);
    CHECK(::waitpid(caller, nullptr, 0) == caller);
    for (int i = 0; i < 6000 && !is_gone(child); ++i) std::this_thread::sleep_for(10ms);
    CHECK(is_gone(child));
}

TEST_CASE("only large programs are sent to a helper") {
    if (!find_backend("cpsat")->open()) return;
    const test::Scratch scratch;
    const std::string asked = scratch.path("asked");
    REQUIRE(::setenv("TUTTI_SOLVER", helper_that(scratch, "echo x >> " + asked + "; exit 4").c_str(), 1) ==
            0);
    const OpenedBackend opened = open_stoppable("cpsat");
    CHECK(::unsetenv("TUTTI_SOLVER") == 0);
    REQUIRE(opened);
    CHECK(opened.backend->solve(toy(), {}).objective == kToyOptimum);
    CHECK_FALSE(std::filesystem::exists(asked));
    Program large;
    for (std::size_t i = 0; i <= kMostSolvedHere; ++i) large.fix(large.boolean("b"));
    CHECK(opened.backend->solve(large, {}).words ==
          "its helper process gave no answer: it ended with exit code 4");
    CHECK(std::filesystem::exists(asked));
}

TEST_CASE("without a helper program everything is solved in this process") {
    if (!find_backend("cpsat")->open()) return;
    REQUIRE(::setenv("TUTTI_SOLVER", "", 1) == 0);
    const OpenedBackend opened = open_stoppable("cpsat");
    CHECK(::unsetenv("TUTTI_SOLVER") == 0);
    REQUIRE(opened);
    Program large;
    for (std::size_t i = 0; i <= kMostSolvedHere; ++i) large.fix(large.boolean("b"));
    CHECK(opened.backend->solve(large, {}).ended == Ended::Optimal);
}

#define TUTTI_EXPECTS 1  // whatever the build; no header of a room that was compiled without may come in here
#include "core/expects.hpp"

#include "verify/lanes.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace {

struct Death {
    int signal = 0;  ///< 0: it came to its end
    std::string words;
};

/// What becomes of a child process that does this, and what it says on stderr.
template <class Act>
Death death_of(Act&& act) {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        (void)::dup2(pipe[1], STDERR_FILENO);
        (void)::signal(SIGABRT, SIG_DFL);  // doctest's own handler would report a failed case
        act();
        ::_exit(0);
    }
    (void)::close(pipe[1]);
    Death death;
    std::array<char, 256> block{};
    for (ssize_t got = 0; (got = ::read(pipe[0], block.data(), block.size())) > 0;)
        death.words.append(block.data(), static_cast<std::size_t>(got));
    (void)::close(pipe[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) death.signal = WTERMSIG(status);
    return death;
}

int half_of(int even) {
    expects(even % 2 == 0);
    return even / 2;
}

constexpr int checked_at_compile_time(int positive) {
    expects(positive > 0);
    return positive;
}
static_assert(checked_at_compile_time(3) == 3);

struct Flight {
    tutti::Ticks start;
};

}  // namespace

TEST_CASE("a broken precondition aborts and names the condition, the place and the function") {
    const Death death = death_of([] { (void)half_of(3); });
    CHECK(death.signal == SIGABRT);
    CHECK(death.words.find("even % 2 == 0") != std::string::npos);
    CHECK(death.words.find("expects_test.cpp:") != std::string::npos);
    CHECK(death.words.find("half_of(int)") != std::string::npos);
}

TEST_CASE("a precondition that holds prints nothing") {
    const Death death = death_of([] { (void)half_of(4); });
    CHECK(death.signal == 0);
    CHECK(death.words.empty());
}

TEST_CASE("a lane of sends in flight refuses one that starts before the last") {
    const auto push_two = [](int first, int second) {
        const std::vector<tutti::Ticks> transits{tutti::Ticks(1)};
        tutti::verify::Lanes<Flight> lanes(transits);
        lanes.push(0, {tutti::Ticks(first)});
        lanes.push(0, {tutti::Ticks(second)});
    };
    CHECK(death_of([&] { push_two(6, 7); }).signal == 0);
    CHECK(death_of([&] { push_two(7, 6); }).signal == SIGABRT);
}

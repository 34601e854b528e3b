#include "batch/executor.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <set>
#include <thread>

using namespace tutti;
using namespace tutti::batch;
using namespace std::chrono_literals;

namespace {

Task task_named(const std::string& name, unsigned threads = 1) {
    Task task;
    task.job = {"nowhere/" + name + ".json", "x", name, {}};
    task.key = task.job.label();
    task.variant.threads = threads;
    return task;
}

Executor executor_that(const std::function<io::ResultLine(const Task&, const TaskListener&)>& work,
                       Limits limits = {}, unsigned cores = 1) {
    return Executor({"nowhere", limits, cores,
                     [work](const Task& task, const std::string&, const Limits&, const TaskListener& hears) {
                         return work(task, hears);
                     }});
}

io::ResultLine fine(const Task& task) {
    io::ResultLine line;
    line.instance = task.job.name;
    line.key = task.key;
    return line;
}

/// All events until as many tasks as that have ended.
std::vector<TaskEvent> events_of(Executor& executor, std::size_t ends = 1) {
    std::vector<TaskEvent> all;
    while (ends > 0) {
        for (TaskEvent& event : executor.wait(1000ms)) {
            ends -= event.kind == TaskEvent::Kind::Ended ? 1U : 0U;
            all.push_back(std::move(event));
        }
    }
    return all;
}

io::ResultLine line_of(Executor& executor) {
    executor.begin(7, task_named("a"));
    const auto all = events_of(executor);
    REQUIRE(all.back().line);
    CHECK(all.back().task == 7);
    return *all.back().line;
}

[[noreturn]] void sleep_for_ever() {
    for (;;) std::this_thread::sleep_for(1h);
}

}  // namespace

TEST_CASE("a child reports its findings, then its result line with its own peak memory") {
    auto executor = executor_that([](const Task& task, const TaskListener& hears) {
        hears.found(std::nullopt, Ticks(3));
        hears.found(Ticks(5), Ticks(3));
        return fine(task);
    });
    executor.begin(4, task_named("a"));
    const auto all = events_of(executor);
    REQUIRE(all.size() == 3);
    CHECK(all[0].kind == TaskEvent::Kind::Found);
    CHECK_FALSE(all[0].makespan);
    CHECK(all[1].makespan == Ticks(5));
    CHECK(all[1].lower_bound == Ticks(3));
    CHECK(all[1].task == 4);
    CHECK(all[2].line->instance == "a");
    CHECK(all[2].line->peak_memory_bytes.value_or(0) > 1'000'000);
}

TEST_CASE("a child that crashes is a line with the signal and the child's last output") {
    auto executor = executor_that([](const Task&, const TaskListener&) -> io::ResultLine {
        std::cerr << "one\ntwo\nthree\nfour\n" << std::flush;
        (void)std::signal(SIGSEGV, SIG_DFL);  // a sanitizer may catch it
        (void)std::raise(SIGSEGV);
        std::abort();
    });
    const io::ResultLine line = line_of(executor);
    CHECK(line.failure == io::Failure::Crash);
    CHECK(line.error ==
          "its process died of SIGSEGV (Segmentation fault); its last words: two / three / four");
    CHECK(line.key == "x/a");
    CHECK(line.status == Status::Unknown);
}

TEST_CASE("a child killed from outside is distinguished from one that the executor killed") {
    auto executor = executor_that([](const Task&, const TaskListener&) -> io::ResultLine {
        (void)::kill(::getpid(), SIGKILL);
        sleep_for_ever();
    });
    const io::ResultLine line = line_of(executor);
    CHECK(line.failure == io::Failure::Lost);
    CHECK(line.error.find("when memory runs out") != std::string::npos);
}

TEST_CASE("a child that leaves without a result is a crash") {
    auto executor = executor_that([](const Task&, const TaskListener&) -> io::ResultLine { ::_exit(3); });
    const io::ResultLine line = line_of(executor);
    CHECK(line.failure == io::Failure::Crash);
    CHECK(line.error == "its process left without a result (exit code 3)");
}

TEST_CASE("a child that does not stop in time is killed, and its best result so far is reported") {
    auto executor = executor_that(
        [](const Task&, const TaskListener& hears) -> io::ResultLine {
            hears.found(Ticks(42), Ticks(40));
            sleep_for_ever();
        },
        {.time = 0.001});
    const io::ResultLine line = line_of(executor);
    CHECK(line.failure == io::Failure::Time);
    CHECK(line.error.find("time limit of 0.001 s") != std::string::npos);
    CHECK(line.error.find("a schedule of makespan 42 and the bound 40") != std::string::npos);
    CHECK_FALSE(line.makespan);
    CHECK(grace_after(2).count() == doctest::Approx(2));
    CHECK(grace_after(100).count() == doctest::Approx(25));
}

TEST_CASE("a child that takes more memory than it may is killed") {
    auto executor = executor_that(
        [](const Task&, const TaskListener&) -> io::ResultLine {
            std::vector<char> much(std::size_t{600} << 20);
            for (std::size_t i = 0; i < much.size(); i += 4096) much[i] = 1;
            sleep_for_ever();
        },
        {.memory = std::uint64_t{500} << 20});
    const io::ResultLine line = line_of(executor);
    CHECK(line.failure == io::Failure::Memory);
    CHECK(line.error.find("500 MiB") != std::string::npos);
}

TEST_CASE("memory inherited from the parent is not counted as a child's") {
    std::vector<char> ours(std::size_t{300} << 20, 1);
    auto executor = executor_that(
        [](const Task& task, const TaskListener&) {
            std::this_thread::sleep_for(200ms);
            return fine(task);
        },
        {.memory = std::uint64_t{200} << 20});
    const io::ResultLine line = line_of(executor);
    CHECK(line.error == "");
    CHECK(line.peak_memory_bytes.value_or(0) < std::uint64_t{200} << 20);
    CHECK(ours.back() == 1);
}

TEST_CASE("what the system cannot start now is started when others have ended") {
    auto executor = executor_that([](const Task& task, const TaskListener&) { return fine(task); }, {}, 50);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int next = ::dup(STDERR_FILENO);
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(next) + 10;  // room for two children or so
    ::close(next);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    std::size_t begun = 0, ended = 0;
    while (ended < 20) {
        while (begun < 20 && executor.has_room(1)) executor.begin(begun++, task_named("a"));
        for (const TaskEvent& event : executor.wait(1000ms)) {
            ++ended;
            CHECK(event.line->error == "");
        }
    }
    CHECK(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("a killed child's line has the digest of the file that it was at") {
    auto executor = executor_that([](const Task&, const TaskListener& hears) -> io::ResultLine {
        hears.digested("0123456789abcdef");
        std::abort();
    });
    CHECK(line_of(executor).digest == "0123456789abcdef");
}

TEST_CASE("a child ignores SIGINT and SIGTERM, reads nothing and prints nothing") {
    auto executor = executor_that([](const Task& task, const TaskListener&) {
        (void)std::raise(SIGINT);
        (void)std::raise(SIGTERM);
        std::cout << "chatter" << std::endl;
        io::ResultLine line = fine(task);
        line.verified = std::cin.get() == std::char_traits<char>::eof();
        return line;
    });
    CHECK(line_of(executor).verified);
}

TEST_CASE("tasks use as many threads as there are cores, and a task that wants more runs alone") {
    auto executor = executor_that([](const Task& task, const TaskListener&) { return fine(task); }, {}, 4);
    CHECK(executor.has_room(9));
    executor.begin(0, task_named("a", 2));
    CHECK(executor.has_room(2));
    CHECK_FALSE(executor.has_room(3));
    executor.begin(1, task_named("b", 2));
    CHECK_FALSE(executor.has_room(1));
    (void)events_of(executor, 2);
    CHECK(executor.has_room(9));
    executor.begin(2, task_named("c", 9));
    CHECK_FALSE(executor.has_room(1));
    (void)events_of(executor);
}

TEST_CASE("children side by side do not mix their answers") {
    auto executor = executor_that(
        [](const Task& task, const TaskListener& hears) {
            for (int i = 0; i < 50; ++i) hears.found(Ticks(std::stol(task.job.name)), std::nullopt);
            return fine(task);
        },
        {}, 8);
    for (std::size_t i = 0; i < 8; ++i) executor.begin(i, task_named(std::to_string(i)));
    std::size_t found = 0;
    for (const TaskEvent& event : events_of(executor, 8)) {
        if (event.kind == TaskEvent::Kind::Ended) {
            CHECK(event.line->instance == std::to_string(event.task));
        } else {
            CHECK(event.makespan == Ticks(static_cast<std::int64_t>(event.task)));
            ++found;
        }
    }
    CHECK(found == 400);
}

TEST_CASE("stopping the executor ends all children") {
    auto executor =
        executor_that([](const Task&, const TaskListener&) -> io::ResultLine { sleep_for_ever(); }, {}, 3);
    for (std::size_t i = 0; i < 3; ++i) executor.begin(i, task_named("a"));
    executor.stop();
    CHECK(executor.has_room(3));
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("messages come out of a stream as they went in, wherever it is cut") {
    TaskEvent event{TaskEvent::Kind::Ended, 12, Ticks(5), Ticks(4), fine(task_named("a")), "d1"};
    const std::string stream = framed(message_of(event)) + framed("x") + framed("");
    Frames frames;
    std::vector<std::string> messages;
    for (const char byte : stream) {
        for (std::string& message : frames.feed(std::string_view(&byte, 1)))
            messages.push_back(std::move(message));
    }
    REQUIRE(messages.size() == 3);
    const TaskEvent read = event_in(messages[0]);
    CHECK(read.kind == event.kind);
    CHECK(read.task == 12);
    CHECK(read.makespan == event.makespan);
    CHECK(read.line == event.line);
    CHECK(read.digest == "d1");
    CHECK(messages[1] == "x");
    CHECK_THROWS_AS((void)Frames().feed("\xFF\xFF\xFF\xFF"), InputError);
    CHECK_THROWS_AS((void)event_in("{\"kind\": 9, \"task\": 0}"), InputError);
}

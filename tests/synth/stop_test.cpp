// A search ends when it is told to, in a process that lives on, whatever its solver is at.

#include "io/instance_json.hpp"
#include "models/backends/registry.hpp"
#include "synth/synthesize.hpp"
#include "tests/io/scratch.hpp"
#include "tests/support/builders.hpp"
#include "verify/schedule_verifier.hpp"

#include "core/generators/ring.hpp"
#include "source_dir.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

using namespace tutti;
using namespace std::chrono_literals;

namespace {

/// A helper program that notes that it was asked and then hears nothing any more, for as long as this lives.
class DeafHelper {
  public:
    DeafHelper() {
        const std::string program =
            scratch_.file("helper", "#!/bin/sh\necho x >> " + asked_ + "\nexec sleep 1000\n");
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        REQUIRE(::setenv("TUTTI_SOLVER", program.c_str(), 1) == 0);
    }
    ~DeafHelper() { (void)::unsetenv("TUTTI_SOLVER"); }
    DeafHelper(const DeafHelper&) = delete;
    DeafHelper& operator=(const DeafHelper&) = delete;

    /// How often it was asked until now.
    [[nodiscard]] std::size_t asked() const {
        std::error_code error;
        const auto size = std::filesystem::file_size(asked_, error);
        return error ? 0 : size / 2;
    }

  private:
    test::Scratch scratch_;
    const std::string asked_ = scratch_.path("asked");
};

/// Its exact models have more than a million literals, and greedy does not meet its bound.
Instance large_broadcast() {
    return io::read_instance(TUTTI_SOURCE_DIR "/instances/dragonfly/dragonfly9x4x4-bc.json");
}

synth::Result result_within(const Instance& instance, const Stop& stop) {
    synth::Request request;
    request.method = "cpsat";
    request.stop = stop;
    return synth::synthesize(instance, request);
}

/// Raises its flag once the helper has been asked so often.
class Interrupt {
  public:
    Interrupt(const DeafHelper& helper, std::size_t asked)
        : thread_([this, &helper, asked](const std::stop_token& done) {
              while (!done.stop_requested() && helper.asked() < asked) std::this_thread::sleep_for(5ms);
              flag_ = true;
          }) {}
    [[nodiscard]] const std::atomic<bool>* flag() const { return &flag_; }

  private:
    std::atomic<bool> flag_{false};
    std::jthread thread_;
};

}  // namespace

TEST_CASE("a search whose solver ignores stops ends with the best so far, repeatedly in one process") {
    if (!models::find_backend("cpsat")->open()) return;
    const Instance instance = large_broadcast();
    const DeafHelper helper;
    for (std::size_t round = 1; round <= 3; ++round) {
        const std::size_t before = helper.asked();
        const Interrupt interrupt(helper, before + 1);
        const synth::Result result = result_within(instance, Stop(std::nullopt, interrupt.flag()));
        CHECK(helper.asked() > before);
        CHECK(result.stopped);
        CHECK(result.status == Status::Feasible);
        CHECK(verify::verify(instance, result.schedule).valid());
    }
    CHECK(::waitpid(-1, nullptr, WNOHANG) < 0);  // nobody is left
}

TEST_CASE("searches in two threads have helpers of their own") {
    if (!models::find_backend("cpsat")->open()) return;
    const Instance instance = large_broadcast();
    const DeafHelper helper;
    const Interrupt interrupt(helper, 2);
    std::array<synth::Result, 2> results;
    {
        std::vector<std::jthread> threads;
        for (synth::Result& result : results) {
            threads.emplace_back(
                [&] { result = result_within(instance, Stop(std::nullopt, interrupt.flag())); });
        }
    }
    CHECK(helper.asked() >= 2);
    for (const synth::Result& result : results) {
        CHECK(result.stopped);
        CHECK(verify::verify(instance, result.schedule).valid());
    }
    CHECK(::waitpid(-1, nullptr, WNOHANG) < 0);
}

TEST_CASE("a time limit also ends a solver that ignores stops") {
    if (!models::find_backend("cpsat")->open()) return;
    const Instance instance = large_broadcast();
    const DeafHelper helper;
    const synth::Result result = result_within(instance, Stop(3s));
    CHECK(result.stopped);
    CHECK(verify::verify(instance, result.schedule).valid());
}

TEST_CASE("a small instance is proven without any helper") {
    if (!models::find_backend("cpsat")->open()) return;
    const DeafHelper helper;
    // A ring of 5 with latency: the bounds do not show that nothing is shorter, a solver does.
    test::Net ring(5);
    for (std::size_t n = 0; n < 5; ++n) ring.both(n, (n + 1) % 5, 1, 2);
    const Instance instance = test::on_all(ring, {test::collective(CollectiveKind::AllReduce)});
    const synth::Result result = result_within(instance, Stop());
    CHECK(result.status == Status::Optimal);
    CHECK_FALSE(result.solver_versions.empty());  // a solver was asked
    CHECK(helper.asked() == 0);
}

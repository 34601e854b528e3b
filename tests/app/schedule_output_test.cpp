// Where a schedule goes, whichever form it has.

#include "app/schedule_output.hpp"

#include "core/generators/mesh_torus.hpp"
#include "tests/io/scratch.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>

using namespace tutti;

TEST_CASE("writing a generator form out can be stopped, and leaves no file") {
    const test::Scratch scratch;
    const std::vector<std::uint64_t> four{4};
    const std::vector<Wire> unit{{Ticks(0), Ticks(1), {}}};
    const Instance instance({"ring4",
                             generators::torus(four, unit),
                             {{"all", test::nodes({0, 1, 2, 3})}},
                             {test::collective(CollectiveKind::AllGather)}});
    const auto images = test::nodes({1, 2, 3, 0});
    synth::Result result;
    result.symmetric =
        symmetry::SymmetricSchedule{instance.name(),
                                    Ticks(2),
                                    {{images, 4}},
                                    {test::copy(0, 0, 0), test::copy(0, 7, 0), test::copy(0, 2, 1)}};
    result.schedule = {instance.name(), Ticks(2), {}};
    result.sends = 12;
    const std::string path = scratch.path("out.tsch");
    app::ScheduleOutput output(instance, {.path = path, .expand = true});
    std::atomic<bool> interrupted = true;
    CHECK_THROWS_AS((void)output.write(result, Stop(std::nullopt, &interrupted)), LimitError);
    CHECK(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
    interrupted = false;
    CHECK(output.write(result, Stop(std::nullopt, &interrupted)) == path);
    CHECK(std::filesystem::exists(path));
}

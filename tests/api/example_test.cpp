// The example that opens src/tutti.hpp, as a user would write it.

#include "source_dir.hpp"
#include "tutti.hpp"

#ifdef expects
#error "the public header must not define the macro of core/expects.hpp"
#endif

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>

TEST_CASE("the example of the public header works") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tutti-api-example";
    std::filesystem::create_directories(folder);
    std::ostringstream out;

    const tutti::Instance instance =
        tutti::io::read_instance(TUTTI_SOURCE_DIR "/instances/mesh/mesh4x4-ag-corners.json");
    const tutti::synth::Result result = tutti::synth::synthesize(instance, {});
    out << result.schedule.makespan.count() << " ticks; bound: " << result.bound.value.count() << '\n';

    tutti::Schedule mine = result.schedule;
    mine.sends.pop_back();
    const tutti::Verdict verdict = tutti::verify::verify(instance, mine);
    for (const tutti::Violation& violation : verdict.violations) out << violation.message << '\n';

    const std::string file = folder / "corners.schedule.json";
    tutti::io::write_schedule_json(file, result.schedule);

    CHECK(tutti::verify::verify(instance, tutti::io::read_schedule(file)).valid());
    CHECK_FALSE(verdict.valid());
    CHECK(out.str().find("never gets chunk") != std::string::npos);
    std::filesystem::remove_all(folder);
}

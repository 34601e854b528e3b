// The examples that open src/tutti.hpp, as a user would write them.

#include "source_dir.hpp"
#include "tutti.hpp"

#ifdef expects
#error "the public header must not define the macro of core/expects.hpp"
#endif

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
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

TEST_CASE("the example of tensor programs works") {
    namespace tensor = tutti::tensor;
    tensor::Builder b("step", {{"data", 8}}, {{"N", 1'000'000}});
    const auto g = b.input("g", {"N"}, tensor::DType::F32, {{"data", tensor::Layout::local()}});
    const auto w = b.state("w", {"N"});
    b.update(w, w - 0.01 * g.all_reduce("data").named("sum"));
    const tensor::Program program = b.program();
    const tensor::Schedule schedule =
        tutti::io::parse_tensor_schedule_text("split sum rs_ag\nreorder sum.ag past all\nas_slice w\n");
    const tensor::Program sliced = tutti::rewrite::replay(program, schedule.steps);
    CHECK(tutti::verify::equivalence(program, sliced).equivalent);
    const std::string file = std::filesystem::temp_directory_path() / "tutti-api-sliced.json";
    tutti::io::save_tensor_program(file, sliced);
    CHECK(tutti::io::read_tensor_program(file).resharded().size() == 1);
    std::filesystem::remove(file);
}

namespace {

/// A folder that is gone with the test.
class ApiFolder {
  public:
    ApiFolder() { std::filesystem::create_directories(path_); }
    ~ApiFolder() { std::filesystem::remove_all(path_); }
    ApiFolder(const ApiFolder&) = delete;
    ApiFolder& operator=(const ApiFolder&) = delete;
    [[nodiscard]] std::string at(const char* name) const { return path_ / name; }

  private:
    std::filesystem::path path_ = std::filesystem::temp_directory_path() / "tutti-api-calls";
};

constexpr const char* kInstance = TUTTI_SOURCE_DIR "/instances/hypercube/hypercube4-a2a.json";
constexpr const char* kRing =
    TUTTI_SOURCE_DIR "/tests/data/msccl-xml/msccl-tools-generated/allgather_ring__8_2_2_Simple.xml";

}  // namespace

TEST_CASE("a program synthesizes, judges, costs and converts by one call each") {
    using namespace tutti;
    const ApiFolder folder;
    const std::string schedule = folder.at("cube.schedule.json");
    const app::Synthesized found = app::synthesize({.instance = kInstance, .output = schedule});
    REQUIRE(found.result);
    CHECK(app::json_of(found).at("verified") == true);
    CHECK(found.line.schedule == schedule);

    const auto judged = app::judge({.files = {kInstance, schedule}});
    REQUIRE(judged.size() == 1);
    CHECK(std::get<app::JudgedSchedule>(judged.front()).verdict.valid());

    const app::Cost cost = app::cost({.files = {schedule, kInstance}});
    CHECK(cost.makespan == found.result->schedule.makespan);
    REQUIRE(cost.bound);
    CHECK(cost.bound->value <= cost.makespan);

    const app::BoundOptions asked{.instance = kInstance};
    CHECK(app::bound(asked).best().value == cost.bound->value);

    const std::string xml = folder.at("cube.xml");
    const app::Conversion converted =
        app::convert({.files = {kInstance, schedule}, .output = xml, .format = app::ConvertFormat::MscclXml});
    CHECK(converted.verdict.valid());
    const auto plan = app::judge({.files = {xml}});
    CHECK(std::get<app::JudgedPlan>(plan.at(0)).verdict.verdict == plan::PlanClass::Valid);
}

TEST_CASE("a program costs a plan of another tool on a network") {
    using namespace tutti;
    app::JudgeOptions options{.files = {kRing}};
    CHECK_THROWS_AS((void)app::cost(options), InputError);  // a plan needs a network
    const ApiFolder folder;
    const std::string topology = folder.at("dgx1.json");
    std::ofstream(topology) << R"({"kind": "dgx1", "latency_ns": 700, "bandwidth_GBps": 25})";
    options.plan.topology = topology;
    options.plan.bytes = 64 << 20;
    const app::Cost cost = app::cost(options);
    REQUIRE(cost.plan);
    REQUIRE(cost.bound);
    CHECK(cost.makespan > cost.bound->value);
    CHECK(cost.gap > 0);
    CHECK(cost.plan->timing.links.size() == 20);
}

TEST_CASE("that there is no schedule is an answer, and a wrong file is an error") {
    using namespace tutti;
    const ApiFolder folder;
    const std::string file = folder.at("cut.json");
    std::ofstream(file) << R"({"tutti": 1, "topology": {"npus": 2, "links": [{"src": 0, "dst": 1}]},
                              "collectives": [{"kind": "all_gather"}]})";
    const app::Synthesized none =
        app::synthesize({.instance = file, .output = folder.at("cut.schedule.json")});
    CHECK_FALSE(none.result);
    CHECK(none.line.status == Status::Infeasible);
    CHECK_FALSE(none.line.error.empty());
    CHECK_FALSE(std::filesystem::exists(folder.at("cut.schedule.json")));
    CHECK_THROWS_AS((void)app::synthesize({.instance = folder.at("missing.json")}), InputError);
    CHECK_THROWS_AS((void)app::cost({.files = {kInstance}}), InputError);
}

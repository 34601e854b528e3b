#include "cli/failure.hpp"

#include "app/bug.hpp"
#include "core/error.hpp"
#include "io/instance_json.hpp"
#include "tests/batch/scratch.hpp"
#include "tests/support/builders.hpp"

#include <filesystem>
#include <new>
#include <sstream>
#include <system_error>

using namespace tutti;
using namespace tutti::cli;

namespace {

template <class Error>
Failure failure_from(const Error& error) {
    return failure_of(std::make_exception_ptr(error));
}

Instance tiny(const std::string& name) {
    InstanceParts parts{name, test::line(2).parts(), {}, {}};
    parts.groups.push_back({"all", test::nodes({0, 1})});
    parts.collectives.push_back(test::collective(CollectiveKind::AllGather));
    return Instance(std::move(parts));
}

/// The working folder is another one while this lives.
class InScratchFolder {
  public:
    InScratchFolder() { std::filesystem::current_path(scratch_.at(".")); }
    ~InScratchFolder() { std::filesystem::current_path(before_); }

  private:
    std::filesystem::path before_ = std::filesystem::current_path();
    test::ScratchTree scratch_;
};

}  // namespace

TEST_CASE("every kind of failure has its exit code") {
    CHECK(failure_from(InputError("wrong")).code == ExitCode::BadInput);
    CHECK(failure_from(LimitError("late")).code == ExitCode::LimitReached);
    CHECK(failure_from(std::bad_alloc()).code == ExitCode::LimitReached);
    CHECK(failure_from(InfeasibleError("cut")).code == ExitCode::Infeasible);
    CHECK(failure_from(InternalError("ours")).code == ExitCode::Bug);
    CHECK(failure_from(std::out_of_range("ours too")).code == ExitCode::Bug);
    CHECK(failure_from(42).code == ExitCode::Bug);
    CHECK(failure_from(std::filesystem::filesystem_error("x", {})).code == ExitCode::BadInput);
    CHECK(static_cast<int>(ExitCode::Bug) == 70);
}

TEST_CASE("a failure as JSON has its file and place where it has them") {
    const auto json = failure_json(failure_from(InputError("wrong", "/name", "a.json")));
    CHECK(json.dump() == R"({"error":"wrong","file":"a.json","place":"/name","exit_code":2})");
    CHECK(failure_json(failure_from(LimitError("late"))).dump() == R"({"error":"late","exit_code":3})");
}

TEST_CASE("a failure goes to stderr, and to stdout only with --json") {
    std::ostringstream out, err;
    const Failure failure = failure_from(InputError("wrong", "/name", "a.json"));
    report(failure, {"synth", "a.json"}, {out, err});
    CHECK(out.str().empty());
    CHECK(err.str() == "error: a.json: at /name: wrong\n");
    report(failure, {"synth", "a.json", "--json"}, {out, err});
    CHECK(out.str().starts_with("{\"error\":\"wrong\""));
}

TEST_CASE("a bug leaves the instance behind, and the report names file and command") {
    const InScratchFolder folder;
    const Instance instance = tiny("my net/1");
    std::exception_ptr thrown;
    try {
        app::with_instance(instance, []() -> int { throw InternalError("two and two is five"); });
    } catch (...) {
        thrown = std::current_exception();
    }
    REQUIRE(thrown);
    const Failure failure = failure_of(thrown);
    CHECK(failure.code == ExitCode::Bug);
    CHECK(failure.reproducer == "tutti-bug-my_net_1.json");
    CHECK(io::read_instance(failure.reproducer).chunks() == instance.chunks());

    std::ostringstream out, err;
    report(failure, {"synth", "my net.json", "it's"}, {out, err});
    CHECK(err.str() ==
          "error: this is a bug in tutti: two and two is five\n"
          "Please report it with the file tutti-bug-my_net_1.json and this command:\n"
          "  tutti synth 'my net.json' 'it'\\''s'\n");
}

TEST_CASE("errors that are not bugs leave no reproducer file") {
    const InScratchFolder folder;
    CHECK_THROWS_AS(app::with_instance(tiny("a"), []() -> int { throw InfeasibleError("cut"); }),
                    InfeasibleError);
    CHECK(app::with_instance(tiny("a"), [] { return 7; }) == 7);
    CHECK(std::filesystem::is_empty("."));
}

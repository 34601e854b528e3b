#include "io/solu.hpp"

#include "scratch.hpp"

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

std::vector<SoluEntry> parsed(const std::string& text) {
    Source source = Source::of_text(text, "x.solu");
    return read_solu(source);
}
InputError refused(const std::string& text) {
    const auto error = refusal([&] { (void)parsed(text); });
    CHECK(error.file() == "x.solu");
    return error;
}

}  // namespace

TEST_CASE("all tags are read, with comments and blanks between") {
    const auto entries = parsed(
        "# known values\n=opt= ring4-ag 12\n\n  =best=\ttorus 40\r\n=bestdual= torus 38\n=inf= split\n=unkn= "
        "huge");
    CHECK(entries == std::vector<SoluEntry>{{SoluTag::Optimal, "ring4-ag", Ticks(12)},
                                            {SoluTag::Best, "torus", Ticks(40)},
                                            {SoluTag::BestDual, "torus", Ticks(38)},
                                            {SoluTag::Infeasible, "split", {}},
                                            {SoluTag::Unknown, "huge", {}}});
    CHECK(parsed("").empty());
}

TEST_CASE("what is written reads back") {
    const Scratch scratch;
    const std::vector<SoluEntry> entries{{SoluTag::Optimal, "a", Ticks(0)}, {SoluTag::Infeasible, "b", {}}};
    write_solu(scratch.path("x.solu"), entries);
    CHECK(content_of(scratch.path("x.solu")) == "=opt= a 0\n=inf= b\n");
    CHECK(read_solu(scratch.path("x.solu")) == entries);
    CHECK_THROWS_AS(write_solu(scratch.path("y.solu"), {{SoluTag::Unknown, "two words", {}}}), InputError);
    CHECK_THROWS_AS(write_solu(scratch.path("y.solu"), {{SoluTag::Unknown, "", {}}}), InputError);
    CHECK(scratch.count() == 1);
}

TEST_CASE("ambiguous lines are refused with their number") {
    CHECK(refused("=opt= a 1\n=otp= b 2").place() == "line 2");
    CHECK(contains(refused("=otp= b 2").message(), "did you mean =opt=?"));
    for (const char* line : {"=opt= a", "=opt= a 1.5", "=opt= a -1", "=opt= a 1 2",
                             "=opt= a 99999999999999999999", "=inf= a 3", "=inf=", "a 3", "=opt= a 1x"}) {
        CHECK(refused(line).place() == "line 1");
    }
}

TEST_CASE("entries that contradict each other are refused") {
    CHECK(contains(refused("=opt= a 1\n=opt= a 1").message(), "twice"));
    CHECK(contains(refused("=opt= a 1\n=best= a 1").message(), "besides"));
    CHECK(contains(refused("=best= a 1\n=inf= a").message(), "besides"));
    CHECK(contains(refused("=best= a 4\n=bestdual= a 5").message(), "above its best makespan"));
    CHECK(parsed("=best= a 4\n=bestdual= a 4").size() == 2);
}

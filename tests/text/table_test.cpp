#include "text/table.hpp"
#include "text/format.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::text;

TEST_CASE("a table aligns names left and numbers right, and leaves no blanks at the ends") {
    Table table({{"instance"}, {"makespan", Align::Right}, {"verified"}});
    table.add({"a", "7", "yes"});
    table.add({"größer", "123456789", ""});
    CHECK(table.text().str() ==
          "instance   makespan  verified\n"
          "--------  ---------  --------\n"
          "a                 7  yes\n"
          "größer    123456789\n");
}

TEST_CASE("a fact sheet aligns its values") {
    CHECK(fact_sheet({{"a", "1"}, {"long", "2"}}, 2).str() == "  a     1\n  long  2\n");
}

TEST_CASE("only a gap of zero prints as zero") {
    CHECK(gap_text(0.0) == "0.0 %");
    CHECK(gap_text(0.0001) == "<0.1 %");
    CHECK(gap_text(0.125) == "12.5 %");
    CHECK(gap_text(3.0) == "300.0 %");
    CHECK(gap_text(std::nullopt) == "-");
}

TEST_CASE("ticks of 1 ps are also given in the unit a person would choose") {
    CHECK(ticks_text(Ticks(1), Units::Abstract) == "1 tick");
    CHECK(ticks_text(Ticks(42), Units::Abstract) == "42 ticks");
    CHECK(ticks_text(Ticks(999), Units::Physical) == "999 ticks (999 ps)");
    CHECK(ticks_text(Ticks(1500000), Units::Physical) == "1500000 ticks (1.5 us)");
    CHECK(ticks_text(Ticks(4'000'000'000'000'000), Units::Physical) == "4000000000000000 ticks (4000 s)");
}

TEST_CASE("a file is named after an instance without what a shell or a file system would trip over") {
    CHECK(file_name_of("mesh3x3-ag") == "mesh3x3-ag");
    CHECK(file_name_of("../a b$(c)") == "_.._a_b_(c)");
    CHECK(file_name_of("-rf") == "_-rf");
    CHECK(file_name_of("") == "_");
    CHECK(file_name_of(std::string(1000, 'x')).size() == 200);
}

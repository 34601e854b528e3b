#include "text/escape.hpp"

#include "text/output.hpp"
#include "text/table.hpp"
#include "text/terminal_codes.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace tutti::text;

TEST_CASE("letters of any script stay as they are") {
    const std::string text = "größer, 中文, עברית, العربية, हिन्दी, \xf0\x9f\x8e\xb5, a\\x1b, ~";
    CHECK(printable(text) == text);
    CHECK(printable_json(text) == text);
    CHECK(printable_xml(text) == text);
}

TEST_CASE("what a terminal would obey is written out") {
    CHECK(printable("\x1b[2Ka\r\n\tb\x7f") == "\\x1b[2Ka\\x0d\\x0a\\x09b\\x7f");
    CHECK(printable(std::string_view("\0", 1)) == "\\x00");
    CHECK(printable("\xc2\x9b"
                    "31m") == "\\u009b31m");  // CSI in one character
    CHECK(printable("a\xe2\x80\xae"
                    "b") == "a\\u202eb");                              // turns the direction
    CHECK(printable("\xe2\x81\xa6\xe2\x80\x8b") == "\\u2066\\u200b");  // an isolate, no width
    CHECK(printable("\xe2\x80\xa8\xe2\x80\xa9") == "\\u2028\\u2029");  // ends of line and paragraph
    CHECK(printable("\xef\xbb\xbf\xef\xbf\xbf") == "\\ufeff\\uffff");  // a byte order mark, no character
    CHECK(printable("\xf3\xa0\x80\x81") == "\\U000e0001");             // a tag
}

TEST_CASE("bytes that are no UTF-8 are written out one by one") {
    CHECK(printable("a\xff\xc0\x80\xe2\x80") == "a\\xff\\xc0\\x80\\xe2\\x80");
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half of a pair
    CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
    CHECK(printable("\x9b"
                    "31m") == "\\x9b31m");
}

TEST_CASE("escaping twice is escaping once") {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    for (const std::string& text : {all, std::string("\xe2\x80\xae\n\xc2\x85")}) {
        CHECK(printable(printable(text)) == printable(text));
        CHECK(printable_lines(printable_lines(text)) == printable_lines(text));
        CHECK(printable_json(printable_json(text)) == printable_json(text));
    }
}

TEST_CASE("escaped JSON is the same value in harmless characters") {
    const nlohmann::json value = {{"\x1b[0m\xc2\x9b", "\x7f\xe2\x80\xae\xf3\xa0\x80\x81\n \"\\"}};
    const std::string text = printable_json(value.dump(2));
    CHECK(text == printable_lines(text));
    CHECK(nlohmann::json::parse(text) == value);
}

TEST_CASE("escaped XML refers to characters by number") {
    CHECK(printable_xml("<a b=\"\xc2\x9b\xe2\x80\xae\"/>\n") == "<a b=\"&#x9b;&#x202e;\"/>\n");
}

TEST_CASE("no cell of CSV is a formula, and numbers stay numbers") {
    CHECK(csv_cell("=cmd|' /C calc'!A0") == "'=cmd|' /C calc'!A0");
    CHECK(csv_cell("+1+1") == "'+1+1");
    CHECK(csv_cell("-2+3") == "'-2+3");
    CHECK(csv_cell("@SUM(A1,\"x\")") == "\"'@SUM(A1,\"\"x\"\")\"");
    CHECK(csv_cell("＝1") == "'＝1");
    CHECK(csv_cell("-inf") == "'-inf");
    for (const char* number : {"-1", "-2.5e-3", "0", "12"}) CHECK(csv_cell(number) == number);
    CHECK(csv_cell("\t=1\r\n") == "\\x09=1\\x0d\\x0a");
    CHECK(csv_cell("a, b") == "\"a, b\"");
    CHECK(csv_cell(" a") == "\" a\"");
    CHECK(csv_cell("a-b=c") == "a-b=c");
}

TEST_CASE("an output escapes every text, and keeps our own lines and colours") {
    std::ostringstream stream;
    const Output out(stream);
    const std::string name = "x\n\x1b[1AVALID";
    out.print("{}: {} of {:.1f}\n", name, 3, 0.5);
    out << name << safe_text("\n");
    out.print("{} {}\n", toned(Tone::Bad, name, true), toned(Tone::Bad, name, false));
    out << clear_line() << line_start(2);
    CHECK(stream.str() ==
          "x\\x0a\\x1b[1AVALID: 3 of 0.5\n"
          "x\\x0a\\x1b[1AVALID\n"
          "\x1b[1m\x1b[31mx\\x0a\\x1b[1AVALID\x1b[0m x\\x0a\\x1b[1AVALID\n"
          "\x1b[K\r\x1b[2A");
}

TEST_CASE("tables and fact sheets escape their cells before they measure them") {
    Table table({{"name"}, {"n", Align::Right}});
    table.add({"a\x1b\nb", "1"});
    CHECK(table.text().str() ==
          "name        n\n"
          "----------  -\n"
          "a\\x1b\\x0ab  1\n");
    CHECK(fact_sheet({{"name", "a\nb"}}).str() == "name  a\\x0ab\n");
}

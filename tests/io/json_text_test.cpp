#include "io/json_text.hpp"

#include "scratch.hpp"

#include <algorithm>

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

Json parsed(const std::string& text, const JsonLimits& limits = {}) {
    Source source = Source::of_text(text, "text.json");
    return parse_json(source, limits);
}

InputError refused(const std::string& text, const JsonLimits& limits = {}) {
    const auto error = refusal([&] { (void)parsed(text, limits); });
    CHECK(error.file() == "text.json");
    return error;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

}  // namespace

TEST_CASE("valid JSON reads as nlohmann reads it, in the order of the text") {
    for (const std::string text :
         {"null", "true", " 1 ", "-7", "18446744073709551615", "1.5e3", R"("a\u00e9\n")", "[]", "{}",
          R"({"z": 1, "a": [1, [2, {"b": {}}], "x"], "m": {"y": null}})"}) {
        CHECK(parsed(text) == Json::parse(text));
        CHECK(parsed(text).dump() == Json::parse(text).dump());
    }
}

TEST_CASE("an object with very many fields is read in good time") {
    std::string text = "{";
    for (int i = 0; i < 200000; ++i) text += "\"k" + std::to_string(i) + "\": [" + std::to_string(i) + "],";
    text.back() = '}';
    CHECK(parsed(text).size() == 200000);
    text.back() = ',';
    const auto error = refused(text + "\"k77\": 1}");
    CHECK(error.place() == "/k77");
    CHECK(error.message() == "this field is given twice");
}

TEST_CASE("a field that is given twice is refused with its path") {
    CHECK(refused(R"({"a": 1, "a": 1})").place() == "/a");
    CHECK(refused(R"({"a": [0, {"b/c": {"d": 1, "e": 2, "d": 3}}]})").place() == "/a/1/b~1c/d");
    CHECK(parsed(R"([{"a": 1}, {"a": 2}])").size() == 2);
    CHECK(parsed(R"({"a": {"a": {"a": 1}}})").size() == 1);
}

TEST_CASE("errors of syntax say line, column and what was expected") {
    const auto colon = refused("{\n  \"a\" 1\n}");
    CHECK(colon.place() == "2:7");
    CHECK(contains(colon.message(), "expected ':'"));
    CHECK(refused("{\n\"a\": 1\n").place() == "3:1");
    CHECK(contains(refused("[1, 2").message(), "unexpected end of input"));
    CHECK(refused("[1] x").place() == "1:5");
    CHECK(contains(refused("[1] [2]").message(), "expected end of input"));
    CHECK(contains(refused("nul").message(), "invalid literal"));
    CHECK(contains(refused("").message(), "empty file"));
    CHECK(contains(refused("  ").message(), "unexpected end of input"));
    CHECK(contains(refused("[1e999]").message(), "number overflow"));
    CHECK(contains(refused("\xEF\xBB\xBF{}").message(), "byte order mark"));
    CHECK(contains(refused("\xFF\xFE{\0").message(), "UTF-16"));

    // Far behind many blocks and lines.
    std::string text = "[\n";
    for (int i = 0; i < 50000; ++i) text += "1234567,\n";
    CHECK(refused(text + "  ]").place() == "50002:3");
}

TEST_CASE("a NUL byte is not the end of the text") {
    CHECK(refused(std::string("{}\0", 3)).place() == "1:3");
    CHECK(refused(std::string("{}\n\0{}", 6)).place() == "2:1");
    CHECK(contains(refused(std::string("\"a\0b\"", 5)).message(), "NUL"));
}

TEST_CASE("messages are printable, whatever the text holds") {
    for (const std::string text :
         {"\"\xff\xfe\"", "[\"\xc3\x28\"]", "\"\x01\"", "\x80", "[\"\xed\xa0\x80\"]", "\x1b[31m"}) {
        const std::string message = refused(text).what();
        CHECK(std::ranges::all_of(message, [](char ch) { return ch >= ' ' && ch <= '~'; }));
    }
    CHECK(std::string(refused("[\"" + std::string(5000, 'x')).what()).size() < 400);
}

TEST_CASE("nesting has a limit, and breaking it ends the reading") {
    CHECK(parsed(nested(kMaxJsonDepth)).is_array());
    CHECK(contains(refused(nested(kMaxJsonDepth + 1)).message(), "at most 64 levels"));
    CHECK(refused(nested(kMaxJsonDepth + 1)).place() == "1:65");
    std::string objects;
    for (std::size_t i = 0; i <= kMaxJsonDepth; ++i) objects += R"({"a":)";
    CHECK(contains(refused(objects).message(), "at most 64 levels"));

    const Scratch scratch;
    const std::string path = scratch.file("brackets.json", std::string(std::size_t{1} << 22, '['));
    Source source(path);
    CHECK_THROWS_AS((void)parse_json(source), InputError);
    CHECK(source.offset() <= Source::kBlock);
}

TEST_CASE("the number of values and the length of a token have limits") {
    CHECK(parsed("[1,2,3]", {1000, 4}).size() == 3);
    CHECK(contains(refused("[1,2,3]", {1000, 3}).message(), "at most 3 values"));
    CHECK(contains(refused("[1,2,3]", {6, 100}).message(), "at most 6 bytes"));

    const Scratch scratch;
    for (const char filler : {'x', ' '}) {
        std::string text = filler == 'x' ? "[\"" : "[";
        text.append(kMaxJsonToken + 2 * Source::kBlock, filler);
        Source source(scratch.file("long.json", text));
        CHECK(contains(refusal([&] { (void)parse_json(source); }).message(),
                       "16 MiB without a complete value"));
    }
}

TEST_CASE("events are well nested and stop when the listener throws") {
    Source source = Source::of_text(R"({"a": [1, "x"], "b": {}})", "text.json");
    std::string seen;
    parse_json_events(source, [&](JsonEvent event, Json& value) {
        switch (event) {
            case JsonEvent::Value:
                seen += value.dump();
                break;
            case JsonEvent::Key:
                seen += value.get<std::string>() + ":";
                break;
            case JsonEvent::BeginObject:
                seen += "{";
                break;
            case JsonEvent::EndObject:
                seen += "}";
                break;
            case JsonEvent::BeginArray:
                seen += "[";
                break;
            case JsonEvent::EndArray:
                seen += "]";
                break;
        }
    });
    CHECK(seen == R"({a:[1"x"]b:{}})");

    Source other = Source::of_text("[1,\n2]", "text.json");
    const auto error = refusal([&] {
        parse_json_events(other, [](JsonEvent, Json& value) {
            if (value == 2) throw InputError("no twos");
        });
    });
    CHECK(error.place() == "2:2");
}

TEST_CASE("JSON for machines is one line, for people a page; both are always JSON") {
    const Json value =
        Json::parse(R"({"name": "x", "list": [1, 2], "links": [{"a": 1, "b": [1, 2]}, {"a": 2}],
                                       "empty": {}, "none": []})");
    CHECK(json_line(value) == value.dump());
    CHECK(json_page(value) ==
          "{\n  \"name\": \"x\",\n  \"list\": [1, 2],\n  \"links\": [\n    {\"a\": 1, \"b\": [1, 2]},\n    "
          "{\"a\": 2}\n  ],\n"
          "  \"empty\": {},\n  \"none\": []\n}\n");
    Json numbers = Json::array();
    for (int i = 100; i < 140; ++i) numbers.push_back(i);
    const std::string page = json_page(Json{{"numbers", numbers}});
    CHECK(std::ranges::count(page, '\n') == 7);
    CHECK(contains(page, "{\n  \"numbers\": [\n    100, 101, "));
    CHECK(contains(page, "139\n  ]\n}\n"));
    CHECK(Json::parse(page)["numbers"] == numbers);
    Json many = Json::array();
    for (int i = 0; i < 500; ++i) many.push_back(Json{{"i", i}});
    CHECK(Json::parse(json_page(many)) == many);
    CHECK(json_line(Json("\xff")) == "\"\xEF\xBF\xBD\"");
    CHECK(Json::parse(json_page(Json{{"\xff", "\xc3"}})).is_object());
}

#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/schedule_json.hpp"
#include "io/schedule_stream.hpp"
#include "scratch.hpp"
#include "source_dir.hpp"
#include "verify/schedule_verifier.hpp"

#include <zstd.h>

#include <sstream>

// The pages that people read are tested like code: their examples are taken from the page itself.

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

std::string page(const std::string& path) { return content_of(std::string(TUTTI_SOURCE_DIR) + "/" + path); }

/// The fenced blocks of a page that begin with that line.
std::vector<std::string> blocks_of(const std::string& text, const std::string& fence) {
    std::vector<std::string> blocks;
    for (std::size_t at = text.find("\n" + fence + "\n"); at != text.npos;
         at = text.find("\n" + fence + "\n", at)) {
        at += fence.size() + 2;
        const std::size_t end = text.find("```", at);
        blocks.push_back(text.substr(at, end - at));
        at = end + 3;
    }
    return blocks;
}

Source source_of(const std::string& text) { return Source::of_text(text, "example"); }

struct Example {
    Instance instance;
    Schedule schedule;
};
Example example() {
    const auto blocks = blocks_of(page("instances/README.md"), "```json");
    REQUIRE(blocks.size() == 3);
    Source instance = source_of(blocks[0]), schedule = source_of(blocks[1]);
    return {parse_instance(parse_json(instance), "none"), read_schedule_json(schedule)};
}

/// "42 00   B, block 0" as bytes: two hexadecimal digits each, until something else comes.
std::string bytes_of(const std::string& hexadecimal) {
    std::string bytes;
    std::istringstream lines(hexadecimal);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        for (std::string word; words >> word && word.size() == 2;) {
            if (word.find_first_not_of("0123456789abcdef") != word.npos) break;
            bytes.push_back(static_cast<char>(std::stoi(word, nullptr, 16)));
        }
    }
    return bytes;
}

}  // namespace

TEST_CASE("the page's families of groups are those of 4 nodes of 8") {
    Source groups = source_of("{" + blocks_of(page("instances/README.md"), "```json").at(2) + "}");
    Json json = parse_json(groups);
    json["tutti"] = 1;
    json["topology"] = Json::parse(R"({"npus": 32, "links": []})");
    json["collectives"] =
        Json::parse(R"([{"kind": "all_gather", "group": "tp"}, {"kind": "all_reduce", "group": "dp"}])");
    const Instance instance = parse_instance(json, "x");
    REQUIRE(instance.groups().size() == 4 + 8);
    CHECK(instance.groups()[3].name == "tp[3]");
    CHECK(instance.groups()[3].members.front() == NodeId(24));
    CHECK(instance.groups()[3].members.back() == NodeId(31));
    CHECK(instance.groups()[5].name == "dp[1]");
    CHECK(instance.groups()[5].members == std::vector{NodeId(1), NodeId(9), NodeId(17), NodeId(25)});
    CHECK(instance.collectives().size() == 12);
}

TEST_CASE("the format page's instance and schedule are a valid pair") {
    const auto [instance, schedule] = example();
    CHECK(schedule.instance == instance.name());
    CHECK(verify::verify(instance, schedule).valid());
}

TEST_CASE("the format page's schedule is what is written for it") {
    const Scratch scratch;
    write_schedule_json(scratch.path("s.json"), example().schedule);
    CHECK(content_of(scratch.path("s.json")) == blocks_of(page("instances/README.md"), "```json")[1]);
}

TEST_CASE("the stream format's example is what is written for the format page's schedule") {
    const Scratch scratch;
    const auto [instance, schedule] = example();
    write_schedule(scratch.path("s.tsch"), schedule, instance.chunks(), instance.topology().links().size());
    const std::string stream = content_of(scratch.path("s.tsch"));
    const std::string text = page("docs/stream-format.md");

    std::vector<std::string> records;
    for (std::size_t at = 9; at < stream.size();) {
        const std::size_t size = static_cast<unsigned char>(stream[at]);  // short records
        std::string raw(ZSTD_getFrameContentSize(stream.data() + at + 4, size), ' ');
        REQUIRE(ZSTD_decompress(raw.data(), raw.size(), stream.data() + at + 4, size) == raw.size());
        records.push_back(raw);
        at += 4 + size;
    }
    REQUIRE(records.size() == 3);
    CHECK(records[1] == bytes_of(blocks_of(text, "```").at(0)));
    const auto quoted = [&](const std::string& title) {
        const std::size_t begin = text.find(title + ": `") + title.size() + 3;
        return bytes_of(text.substr(begin, text.find('`', begin) - begin));
    };
    CHECK(records[0] == quoted("Header"));
    CHECK(records[2] == quoted("End"));
}

#include "core/rng.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/schedule_json.hpp"
#include "io/schedule_stream.hpp"
#include "io/solu.hpp"
#include "scratch.hpp"

#include <zstd.h>

#include <cctype>
#include <functional>

// Valid files, broken at random thousands of times: whatever comes of it is read or is an InputError. Seeds
// are fixed; a failure prints the seed, and the mutant itself lies in the message.

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

constexpr std::uint64_t kRounds = 4000;

using Mutation = std::function<void(std::string&, Rng&)>;

std::size_t place_in(const std::string& text, Rng& rng) { return rng.below(text.size() + 1); }

void flip_bits(std::string& text, Rng& rng) {
    for (std::uint64_t i = 0; i <= rng.below(4) && !text.empty(); ++i) {
        char& ch = text[rng.below(text.size())];
        ch = static_cast<char>(ch ^ (1 << rng.below(8)));
    }
}
void change_byte(std::string& text, Rng& rng) {
    if (!text.empty()) text[rng.below(text.size())] = static_cast<char>(rng.below(256));
}
void cut(std::string& text, Rng& rng) { text.resize(place_in(text, rng)); }
void drop_part(std::string& text, Rng& rng) { text.erase(place_in(text, rng), rng.below(20)); }
void repeat_part(std::string& text, Rng& rng) {
    const std::string part = text.substr(place_in(text, rng), rng.below(60));
    text.insert(place_in(text, rng), part);
}

constexpr std::string_view kTokens = "{}[]:,\"-.0123456789 eE";

/// Where the token at `at` ends: a run of letters and digits, a string, or a single character.
std::size_t token_end(const std::string& text, std::size_t at) {
    std::size_t end = at + 1;
    if (text[at] == '"') return std::min(text.find('"', end), text.size() - 1) + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0 &&
           std::isalnum(static_cast<unsigned char>(text[end])) != 0) {
        ++end;
    }
    return end;
}

void swap_tokens(std::string& text, Rng& rng) {
    if (text.size() < 2) return;
    std::size_t a = rng.below(text.size()), b = rng.below(text.size());
    if (a > b) std::swap(a, b);
    const std::size_t a_end = token_end(text, a), b_end = token_end(text, b);
    if (a_end > b) return;
    const std::string first = text.substr(a, a_end - a), second = text.substr(b, b_end - b);
    text.replace(b, b_end - b, first);
    text.replace(a, a_end - a, second);
}

void replace_token(std::string& text, Rng& rng) {
    static const std::vector<std::string> values{"0",
                                                 "-1",
                                                 "1",
                                                 "3",
                                                 "1.5",
                                                 "1e400",
                                                 "-0",
                                                 "9223372036854775807",
                                                 "-9223372036854775808",
                                                 "18446744073709551616",
                                                 "4294967296",
                                                 "null",
                                                 "true",
                                                 "\"\"",
                                                 "\"all\"",
                                                 "\"\\u0000\"",
                                                 "[]",
                                                 "{}",
                                                 "[[[[]]]]",
                                                 "{\"a\": {}}",
                                                 "\"copy\"",
                                                 "\"custom\"",
                                                 "\"permute\"",
                                                 "\"\xF0\x9F\x8E\xBC\""};
    if (text.empty()) return;
    const std::size_t at = rng.below(text.size());
    text.replace(at, token_end(text, at) - at, values[rng.below(values.size())]);
}
void insert_token(std::string& text, Rng& rng) {
    text.insert(place_in(text, rng), 1, kTokens[rng.below(kTokens.size())]);
}

const std::vector<Mutation> kMutations{flip_bits,   change_byte, cut,           drop_part,
                                       repeat_part, swap_tokens, replace_token, insert_token};

/// Reads many mutants of a text; returns how many were accepted.
std::size_t survivors(const std::string& text, const std::function<void(const std::string&)>& read) {
    std::size_t accepted = 0;
    for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
        Rng rng(seed);
        std::string mutant = text;
        for (std::uint64_t i = 0; i <= rng.below(3); ++i)
            kMutations[rng.below(kMutations.size())](mutant, rng);
        try {
            read(mutant);
            ++accepted;
        } catch (const InputError& error) {
            if (error.message().empty()) FAIL("no message, seed ", seed);
        } catch (const std::exception& error) {
            FAIL(error.what(), ", seed ", seed, ":\n", mutant);
        }
    }
    return accepted;
}

void read_instance_text(const std::string& text) {
    Source source = Source::of_text(text, "mutant.json");
    const Instance instance = parse_instance(parse_json(source), "mutant");
    (void)json_page(write_instance(instance));
}

void read_schedule_text(const std::string& text) {
    Source source = Source::of_text(text, "mutant.json");
    (void)read_schedule_json(source);
}

void read_stream_bytes(const std::string& bytes) {
    StreamSource source(Source::of_text(bytes, "mutant.tsch"));
    while (!source.next().empty()) {
    }
}

std::string random_stream(std::size_t count) {
    const Scratch scratch;
    Rng rng(5);
    Schedule schedule{"x", Ticks(99), {}};
    for (std::size_t i = 0; i < count; ++i) {
        schedule.sends.push_back({ChunkId(rng.below(500)), LinkId(rng.below(400)),
                                  Ticks(static_cast<std::int64_t>(i / 9)),
                                  rng.below(4) == 0 ? Op::Reduce : Op::Copy});
    }
    write_schedule(scratch.path("s.tsch"), schedule, 500, 400);
    return content_of(scratch.path("s.tsch"));
}

/// What the records of a stream hold.
std::vector<std::string> records_of(const std::string& stream) {
    std::vector<std::string> records;
    for (std::size_t at = 9; at < stream.size();) {
        std::size_t size = 0;
        for (std::size_t i = 4; i-- > 0;) size = size << 8 | static_cast<unsigned char>(stream[at + i]);
        std::string raw(ZSTD_getFrameContentSize(stream.data() + at + 4, size), ' ');
        REQUIRE(ZSTD_decompress(raw.data(), raw.size(), stream.data() + at + 4, size) == raw.size());
        records.push_back(raw);
        at += 4 + size;
    }
    return records;
}

void append_record(std::string& stream, const std::string& raw) {
    std::string stored(ZSTD_compressBound(raw.size()), ' ');
    stored.resize(ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), 1));
    for (unsigned shift = 0; shift < 32; shift += 8)
        stream.push_back(static_cast<char>(stored.size() >> shift));
    stream += stored;
}

}  // namespace

TEST_CASE("mutants of instances are read or refused") {
    for (
        const char* text :
        {R"({"tutti": 1, "name": "a", "topology": {"npus": 3, "switches": 1, "busy": "beta", "links": [
               {"src": 0, "dst": 1, "alpha": 1, "beta": 2}, {"src": 1, "dst": 3, "alpha": 0, "beta": 1}, {"src": 3, "dst": 0, "alpha": 1, "beta": 2}]},
             "groups": {"g": [0, 1], "h": [2, 0]}, "forwarding": "any",
             "collectives": [{"id": "x", "kind": "all_gather", "group": "g", "chunks": 2}, {"kind": "broadcast", "root": 1, "release": 4},
               {"kind": "all_to_all_v", "group": "h", "counts": [[0, 1], [2, 0]]}, {"kind": "permute", "pairs": [[0, 1]]}]})",
         R"({"tutti": 1, "topology": {"generate": {"kind": "torus", "dims": [3, 3], "latency_ns": 500, "bandwidth_GBps": 50.5}, "remove": [[0, 1]]},
             "collectives": [{"kind": "custom", "chunk_bytes": 4096, "demands": [{"holders": [0, 2], "receivers": [1], "reduce": true, "bytes": 77}]},
               {"kind": "all_reduce", "chunk_bytes": 64, "forwarding": "group"}]})"}) {
        CHECK_NOTHROW(read_instance_text(text));
        const std::size_t accepted = survivors(text, read_instance_text);
        CHECK(accepted > 0);
        CHECK(accepted < kRounds / 2);
    }
}

TEST_CASE("mutants of schedules are read or refused") {
    const char* text = R"({"tutti_schedule": 1, "instance": "é", "makespan": 12, "sends": [
      {"chunk": 0, "link": 1, "start": 0, "op": "copy"}, {"chunk": 2, "link": 7, "start": 3}, {"op": "reduce", "start": -4, "link": 0, "chunk": 1}]})";
    CHECK_NOTHROW(read_schedule_text(text));
    const std::size_t accepted = survivors(text, read_schedule_text);
    CHECK(accepted > 0);
    CHECK(accepted < kRounds / 2);
}

TEST_CASE("mutants of streams are read or refused") {
    for (const std::size_t count : {3UL, 300UL}) (void)survivors(random_stream(count), read_stream_bytes);
}

TEST_CASE("mutants of what a stream's checksums guard are read or refused") {
    const std::string stream = random_stream(40);
    for (std::size_t changed = 0; changed < 3; ++changed) {
        const std::vector<std::string> records = records_of(stream);
        REQUIRE(records.size() == 3);
        (void)survivors(records[changed], [&](const std::string& mutant) {
            std::string bytes = stream.substr(0, 9);
            for (std::size_t i = 0; i < 3; ++i) append_record(bytes, i == changed ? mutant : records[i]);
            read_stream_bytes(bytes);
        });
    }
}

TEST_CASE("mutants of lists of known values are read or refused") {
    (void)survivors(
        "# values\n=opt= ring 12\n=best= torus 40\n=bestdual= torus 38\n=inf= split\n=unkn= huge\n",
        [](const std::string& text) {
            Source source = Source::of_text(text, "mutant.solu");
            (void)read_solu(source);
        });
}

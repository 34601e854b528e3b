#include "io/schedule_stream.hpp"

#include "core/rng.hpp"
#include "io/schedule_json.hpp"
#include "io/tee_source.hpp"
#include "scratch.hpp"

#include <algorithm>
#include <limits>

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

constexpr auto kEarliest = std::numeric_limits<std::int64_t>::min();
constexpr auto kLatest = std::numeric_limits<std::int64_t>::max();

/// Sends in order, like those of a synthesizer: many ticks, links in order, chunks at random.
std::vector<Send> random_sends(std::size_t count, std::uint64_t seed, bool reduce_too) {
    Rng rng(seed);
    std::vector<Send> sends;
    for (std::size_t i = 0; i < count; ++i) {
        sends.push_back({ChunkId(rng.below(5000)), LinkId(rng.below(3000)),
                         Ticks(static_cast<std::int64_t>(rng.below(count / 100 + 1)) * 7),
                         reduce_too && rng.below(3) == 0 ? Op::Reduce : Op::Copy});
    }
    std::ranges::stable_sort(sends, starts_before);
    return sends;
}

void write(const std::string& path, const std::vector<Send>& sends, Ticks makespan = Ticks(1)) {
    StreamWriter writer(path, {"an instance", 5000, 3000});
    for (const Send& send : sends) writer.append(send);
    writer.finish(makespan);
}

std::vector<Send> sends_of(SendSource& source) {
    std::vector<Send> sends;
    bool positions_count_up = true;
    for (auto batch = source.next(); !batch.empty(); batch = source.next()) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            positions_count_up = positions_count_up && source.position(i) == sends.size();
            sends.push_back(batch[i]);
        }
    }
    CHECK(positions_count_up);
    return sends;
}

/// The error with which the bytes are refused.
InputError refused(const std::string& bytes) {
    const auto error = refusal([&] {
        StreamSource source(Source::of_text(bytes, "x.tsch"));
        while (!source.next().empty()) {
        }
    });
    CHECK(error.file() == "x.tsch");
    CHECK(error.place().starts_with("byte "));
    return error;
}

struct Record {
    std::size_t begin, size;
};
/// Where the records of a stream lie.
std::vector<Record> records_of(const std::string& bytes) {
    std::vector<Record> records;
    for (std::size_t at = 9; at < bytes.size();) {
        std::size_t size = 0;
        for (std::size_t i = 4; i-- > 0;) size = size << 8 | static_cast<unsigned char>(bytes[at + i]);
        records.push_back({at, size + 4});
        at += size + 4;
    }
    return records;
}

}  // namespace

TEST_CASE("a stream gives back its sends, makespan and header") {
    const Scratch scratch;
    for (const bool reduce_too : {false, true}) {
        for (const std::size_t count : {0UL, 1UL, 1023UL, 1024UL, 1025UL, 70000UL, 700000UL}) {
            const auto sends = random_sends(count, count + 1, reduce_too);
            write(scratch.path("s.tsch"), sends, Ticks(12345));
            StreamSource source(Source(scratch.path("s.tsch")));
            CHECK(source.header() == StreamHeader{"an instance", 5000, 3000});
            CHECK(sends_of(source) == sends);
            CHECK(source.makespan() == Ticks(12345));
            CHECK(source.next().empty());
        }
    }
    CHECK(scratch.count() == 1);
}

TEST_CASE("a stream holds extreme numbers, and values that only the verifier can judge") {
    const Scratch scratch;
    constexpr std::size_t last = 4294967295U;
    const std::vector<Send> sends{{ChunkId(last), LinkId(last), Ticks(kEarliest), Op::Copy},
                                  {ChunkId(0), LinkId(0), Ticks(-5), Op::Reduce},
                                  {ChunkId(0), LinkId(0), Ticks(0), Op::Copy},
                                  {ChunkId(last), LinkId(0), Ticks(0), Op::Reduce},
                                  {ChunkId(0), LinkId(last), Ticks(0), Op::Copy},
                                  {ChunkId(last), LinkId(last), Ticks(kLatest), Op::Reduce}};
    for (const std::int64_t makespan : {kEarliest, std::int64_t{0}, kLatest}) {
        write(scratch.path("s.tsch"), sends, Ticks(makespan));
        StreamSource source(Source(scratch.path("s.tsch")));
        CHECK(sends_of(source) == sends);
        CHECK(source.makespan() == Ticks(makespan));
    }
}

TEST_CASE("a tick with more sends than a group or a block can hold is split") {
    const Scratch scratch;
    std::vector<Send> sends;
    for (std::size_t i = 0; i < 600000; ++i)
        sends.push_back(
            {ChunkId(i * 7919 % 100000), LinkId(i), Ticks(3), i % 2 == 0 ? Op::Copy : Op::Reduce});
    write(scratch.path("s.tsch"), sends);
    StreamSource source(Source(scratch.path("s.tsch")));
    CHECK(sends_of(source) == sends);
    CHECK(records_of(content_of(scratch.path("s.tsch"))).size() > 3);
}

TEST_CASE("a send of a torus all-gather takes less than four bytes before compression") {
    const Scratch scratch;
    constexpr std::size_t npus = 4096, links = 4 * npus;
    Rng rng(1);
    StreamWriter writer(scratch.path("s.tsch"), {"torus", npus, links});
    for (std::int64_t tick = 0; tick < 20; ++tick) {
        for (std::size_t link = 0; link < links; ++link)
            writer.append({ChunkId(rng.below(npus)), LinkId(link), Ticks(tick), Op::Copy});
    }
    writer.finish(Ticks(21));
    CHECK(writer.raw_bytes() < 4 * writer.sends());
    CHECK(writer.stored_bytes() == std::filesystem::file_size(scratch.path("s.tsch")));
}

TEST_CASE("sends out of order are a bug of the writer's user") {
    const Scratch scratch;
    StreamWriter writer(scratch.path("s.tsch"), {});
    writer.append({ChunkId(1), LinkId(1), Ticks(5), Op::Copy});
    writer.append({ChunkId(1), LinkId(1), Ticks(5), Op::Copy});
    CHECK_THROWS_AS(writer.append({ChunkId(1), LinkId(1), Ticks(4), Op::Copy}), InternalError);
    CHECK_THROWS_AS(writer.append({ChunkId(1), LinkId(0), Ticks(5), Op::Copy}), InternalError);
    CHECK_THROWS_AS(writer.append({ChunkId(0), LinkId(1), Ticks(5), Op::Copy}), InternalError);
    writer.finish(Ticks(6));
    CHECK_THROWS_AS(writer.append({ChunkId(1), LinkId(1), Ticks(9), Op::Copy}), InternalError);
    CHECK_THROWS_AS(writer.finish(Ticks(6)), InternalError);
}

TEST_CASE("a stream that is not finished leaves no file") {
    const Scratch scratch;
    {
        StreamWriter writer(scratch.path("s.tsch"), {});
        for (std::size_t i = 0; i < 1000000; ++i)
            writer.append({ChunkId(i * 31 % 65536), LinkId(i), Ticks(0), Op::Copy});
    }
    CHECK(scratch.count() == 0);
}

TEST_CASE("a stream cut off anywhere is refused") {
    const Scratch scratch;
    write(scratch.path("s.tsch"), random_sends(300, 3, true));
    const std::string bytes = content_of(scratch.path("s.tsch"));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto error = refused(bytes.substr(0, size));
        CHECK(contains(error.message(), "cut off"));
    }
    CHECK(contains(refused(bytes + "x").message(), "expected the end of the file"));
    CHECK(refused(bytes + "x").place() == "byte " + std::to_string(bytes.size()));
}

TEST_CASE("a changed byte anywhere is noticed") {
    const Scratch scratch;
    const auto sends = random_sends(300, 4, true);
    write(scratch.path("s.tsch"), sends);
    const std::string bytes = content_of(scratch.path("s.tsch"));
    std::size_t unnoticed = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const char change : {'\x01', '\x80', '\xff'}) {
            std::string changed = bytes;
            changed[at] = static_cast<char>(changed[at] ^ change);
            try {
                StreamSource source(Source::of_text(changed, "x.tsch"));
                const auto found = sends_of(source);
                // zstd ignores a few bits of its frame header; then the content must be the same.
                CHECK(found == sends);
                ++unnoticed;
            } catch (const InputError& error) {
                CHECK(error.place().starts_with("byte "));
            }
        }
    }
    CHECK(unnoticed <= 3);
}

TEST_CASE("a record without a checksum is refused, be it the header, a block or the end") {
    const Scratch scratch;
    write(scratch.path("s.tsch"), random_sends(300, 4, true));
    const std::string bytes = content_of(scratch.path("s.tsch"));
    const auto records = records_of(bytes);
    REQUIRE(records.size() == 3);
    for (const Record& record : records) {
        // A frame is as good without its last four bytes, if the bit that announces them is cleared.
        std::string frame = bytes.substr(record.begin + 4, record.size - 8);
        frame[4] = static_cast<char>(frame[4] & ~0x04);
        std::string length(4, '\0');
        for (std::size_t i = 0; i < 4; ++i) length[i] = static_cast<char>(frame.size() >> (8 * i));
        const auto error = refused(bytes.substr(0, record.begin) + length + frame +
                                   bytes.substr(record.begin + record.size));
        CHECK(contains(error.message(), "expected a record with zstd's checksum, found one without"));
        CHECK(error.place() == "byte " + std::to_string(record.begin));
    }
}

TEST_CASE("lost, repeated and swapped blocks are noticed") {
    const Scratch scratch;
    write(scratch.path("s.tsch"), random_sends(1500000, 5, true));
    const std::string bytes = content_of(scratch.path("s.tsch"));
    const auto records = records_of(bytes);
    REQUIRE(records.size() >= 5);
    const auto record = [&](std::size_t i) { return bytes.substr(records[i].begin, records[i].size); };
    const auto joined = [&](const std::vector<std::size_t>& order) {
        std::string result = bytes.substr(0, 9);
        for (const std::size_t i : order) result += record(i);
        return result;
    };
    std::vector<std::size_t> all(records.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    auto order = all;
    order.erase(order.begin() + 2);
    CHECK(contains(refused(joined(order)).message(), "expected block 1, found block 2"));
    order = all;
    order.insert(order.begin() + 2, 1);
    CHECK(contains(refused(joined(order)).message(), "expected block 1, found block 0"));
    order = all;
    std::swap(order[1], order[2]);
    CHECK(contains(refused(joined(order)).message(), "expected block 0, found block 1"));
    order = all;
    order.erase(order.end() - 2);
    CHECK(contains(refused(joined(order)).message(), "as the end record says"));
    order = all;
    order.pop_back();
    CHECK(contains(refused(joined(order)).message(), "without its end record"));
    order = all;
    order.erase(order.begin());
    CHECK(contains(refused(joined(order)).message(), "expected the stream's header"));
    CHECK(contains(refused(joined({0, 0})).message(), "expected a block or the end record"));
    CHECK(refused(joined({0, 0})).place() == "byte " + std::to_string(9 + records[0].size));
}

TEST_CASE("lengths in a stream are checked before memory is allocated") {
    const std::string start("TUTTISCH\x01", 9);
    CHECK(contains(refused(start + "\xff\xff\xff\xff").message(), "expected a record of 1 to"));
    CHECK(contains(refused(start + std::string("\0\0\0\0", 4)).message(), "expected a record of 1 to"));
    CHECK(contains(refused(start + std::string("\x08\0\0\0abcdefgh", 12)).message(), "compressed by zstd"));
    // A zstd frame of one run-length block that claims 2^40 bytes of content.
    const std::string bomb("\x28\xB5\x2F\xFD\xE0\0\0\0\0\0\x01\0\0\x03\0\0x", 17);
    CHECK(contains(refused(start + std::string("\x11\0\0\0", 4) + bomb).message(), "compressed by zstd"));
}

TEST_CASE("files of other formats and of other versions are refused with different messages") {
    CHECK(contains(refused("hello, this is text").message(), "expected a schedule stream"));
    CHECK(refused("TUTTISCH\x02").message() == "this stream is format 2, this tutti reads 1");
}

TEST_CASE("a schedule opens by its first bytes, whatever its name") {
    const Scratch scratch;
    const auto sends = random_sends(200, 6, true);
    const Schedule schedule{"an instance", Ticks(44), sends};
    for (const std::string name : {"s.json", "s.tsch"}) {
        write_schedule(scratch.path(name), schedule, 5000, 3000);
        std::filesystem::rename(scratch.path(name), scratch.path("schedule"));
        OpenSchedule opened = open_schedule(scratch.path("schedule"));
        CHECK(opened.instance == "an instance");
        CHECK(opened.stream.has_value() == (name == "s.tsch"));
        CHECK(sends_of(*opened.sends) == sends);
        CHECK(opened.sends->makespan() == Ticks(44));
        CHECK(read_schedule(scratch.path("schedule")).sends == sends);
    }
    CHECK(contains(refusal([&] { (void)open_schedule(scratch.file("cut", "TUTTI")); }).what(), "cut off"));
    CHECK(contains(refusal([&] { (void)open_schedule(scratch.file("empty", "")); }).what(), "empty"));
}

TEST_CASE("sends in any order are written to a stream in order") {
    const Scratch scratch;
    auto sends = random_sends(5000, 8, true);
    const auto ordered = sends;
    Rng rng(2);
    rng.shuffle(sends);
    write_schedule(scratch.path("s.tsch"), {"x", Ticks(1), sends}, 1, 1);
    CHECK(read_schedule(scratch.path("s.tsch")).sends == ordered);
}

TEST_CASE("sends appended in pieces of any size make the same stream content") {
    const Scratch scratch;
    const auto sends = random_sends(90000, 9, true);
    Rng rng(3);
    for (const std::size_t most : {3UL, 700UL, 20000UL, 90000UL}) {
        StreamWriter writer(scratch.path("s.tsch"), {"an instance", 5000, 3000});
        for (std::span<const Send> left = sends; !left.empty();) {
            const std::size_t count = std::min<std::size_t>(left.size(), 1 + rng.below(most));
            writer.append(left.first(count));
            left = left.subspan(count);
        }
        writer.append(std::span<const Send>());
        writer.finish(Ticks(7));
        CHECK(writer.sends() == sends.size());
        CHECK(read_schedule(scratch.path("s.tsch")).sends == sends);
    }
}

TEST_CASE("a span with a send out of order is refused where it is") {
    const Scratch scratch;
    StreamWriter writer(scratch.path("s.tsch"), {});
    const std::vector<Send> sends{{ChunkId(0), LinkId(0), Ticks(0), Op::Copy},
                                  {ChunkId(0), LinkId(2), Ticks(1), Op::Copy},
                                  {ChunkId(0), LinkId(1), Ticks(1), Op::Copy}};
    try {
        writer.append(sends);
        FAIL("taken");
    } catch (const InternalError& error) {
        CHECK(contains(error.what(), "send 2 (start 1, link 1, chunk 0)"));
    }
}

TEST_CASE("a tee source passes sends on unchanged and writes the file only when finished") {
    const Scratch scratch;
    const Schedule schedule{"an instance", Ticks(44), random_sends(5000, 10, true)};
    for (const bool finish : {false, true}) {
        ScheduleSource from(schedule);
        StreamWriter writer(scratch.path("s.tsch"), {"an instance", 5000, 3000});
        TeeSource tee(from, writer);
        CHECK(sends_of(tee) == schedule.sends);
        CHECK(tee.makespan() == Ticks(44));
        if (finish) writer.finish(tee.makespan());
    }
    CHECK(scratch.count() == 1);
    CHECK(read_schedule(scratch.path("s.tsch")).sends == schedule.sends);
}

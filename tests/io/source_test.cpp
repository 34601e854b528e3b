#include "io/source.hpp"

#include "scratch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

TEST_CASE("a source gives all bytes of a file, NUL bytes too, by every read function") {
    const Scratch scratch;
    std::string content;
    for (std::size_t i = 0; i < 3 * Source::kBlock + 17; ++i) content.push_back(static_cast<char>(i * 7));
    const std::string path = scratch.file("bytes", content);

    Source by_block(path);
    CHECK(read_text(by_block, 1 << 20) == content);
    CHECK(by_block.offset() == content.size());
    CHECK(by_block.block().empty());

    Source mixed(path);
    CHECK(mixed.peek(9) == content.substr(0, 9));
    CHECK(mixed.peek(3) == content.substr(0, 3));
    std::string start(10, ' ');
    CHECK(mixed.read(start) == 10);
    CHECK(start == content.substr(0, 10));
    CHECK(mixed.peek(Source::kBlock) == content.substr(10, Source::kBlock));
    std::string rest(content.size(), ' ');
    CHECK(mixed.read(rest) == content.size() - 10);
    CHECK(rest.substr(0, content.size() - 10) == content.substr(10));
    CHECK(mixed.peek(1).empty());
}

TEST_CASE("a source of text reads as a file does") {
    Source source = Source::of_text("abc", "the text");
    CHECK(source.name() == "the text");
    CHECK(source.peek(2) == "ab");
    CHECK(source.block() == "abc");
    CHECK(source.block().empty());
}

TEST_CASE("files that cannot be read are named, with the reason") {
    const Scratch scratch;
    const auto missing = refusal([&] { Source(scratch.path("none.json")); });
    CHECK(missing.file() == scratch.path("none.json"));
    CHECK(contains(missing.what(), "No such file"));

    const auto directory = refusal([&] { Source(scratch.path("")); });
    CHECK(contains(directory.what(), "found a directory"));
    CHECK(contains(refusal([&] { Source(""); }).what(), "No such file"));

    const std::string locked = scratch.file("locked.json", "{}");
    REQUIRE(::chmod(locked.c_str(), 0) == 0);
    if (::geteuid() != 0) CHECK(contains(refusal([&] { Source{locked}; }).what(), "Permission denied"));
}

TEST_CASE("a file over the limit is refused before it is read, a pipe when the bytes have come") {
    const Scratch scratch;
    const std::string large = scratch.file("large", "");
    REQUIRE(::truncate(large.c_str(), off_t{1} << 40) == 0);
    Source source(large);
    const auto error = refusal([&] { source.limit(std::uint64_t{1} << 31); });
    CHECK(error.message() == "expected at most 2 GiB, found 1024 GiB");
    CHECK(error.file() == large);

    const std::string pipe = scratch.path("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const std::jthread writer([&] { std::ofstream(pipe) << std::string(100, 'x'); });
    Source piped(pipe);
    CHECK(refusal([&] { (void)read_text(piped, 99); }).message() == "expected at most 99 bytes, found more");
}

TEST_CASE("standard input is read by the name of a dash") {
    const Scratch scratch;
    const std::string path = scratch.file("stdin", "hello");
    const int kept = ::dup(STDIN_FILENO);
    const int file = ::open(path.c_str(), O_RDONLY);
    REQUIRE(::dup2(file, STDIN_FILENO) >= 0);
    {
        Source source("-");
        CHECK(source.name() == "standard input");
        CHECK(read_text(source, 100) == "hello");
    }
    CHECK(::fcntl(STDIN_FILENO, F_GETFD) >= 0);  // still open: it is not ours to close
    ::close(file);
    if (kept >= 0) {
        ::dup2(kept, STDIN_FILENO);
        ::close(kept);
    }
}

TEST_CASE("a source that waits for a pipe hears a stop") {
    const Scratch scratch;
    const std::string path = scratch.path("pipe");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(writer >= 0);
    REQUIRE(::write(writer, "half", 4) == 4);
    std::atomic<bool> stopped{false};
    Source source(path, Stop({}, &stopped));
    CHECK(source.block() == "half");
    stopped = true;
    CHECK_THROWS_AS((void)source.block(), LimitError);
    // What a file has is there at once, stopped or not.
    Source file(scratch.file("file", "all"), Stop({}, &stopped));
    CHECK(read_text(file, 10) == "all");
    ::close(writer);
}

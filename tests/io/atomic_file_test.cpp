#include "io/atomic_file.hpp"

#include "scratch.hpp"

#include <sys/stat.h>

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

TEST_CASE("a file appears when it is committed, whole, and nothing else stays") {
    const Scratch scratch;
    const std::string path = scratch.file("out", "before");
    {
        AtomicFile file(path);
        file.write("after ");
        file.write(std::string(1 << 20, 'x'));
        CHECK(content_of(path) == "before");
        CHECK(file.size() == (1 << 20) + 6);
        file.commit();
    }
    CHECK(content_of(path) == "after " + std::string(1 << 20, 'x'));
    CHECK(scratch.count() == 1);
}

TEST_CASE("a file that is not committed leaves what was there") {
    const Scratch scratch;
    const std::string path = scratch.file("out", "before");
    { AtomicFile(path).write(std::string(1 << 20, 'x')); }
    CHECK(content_of(path) == "before");
    { AtomicFile(scratch.path("new")).write("x"); }
    CHECK(scratch.count() == 1);
}

TEST_CASE("two writers of one directory do not disturb each other") {
    const Scratch scratch;
    AtomicFile a(scratch.path("a")), b(scratch.path("b"));
    a.write("a");
    b.write("b");
    b.commit();
    a.commit();
    CHECK(content_of(scratch.path("a")) == "a");
    CHECK(content_of(scratch.path("b")) == "b");
}

TEST_CASE("permissions are kept, symbolic links are followed, devices are not replaced") {
    const Scratch scratch;
    const std::string path = scratch.file("real", "before");
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
    std::filesystem::create_symlink(path, scratch.path("link"));
    {
        AtomicFile file(scratch.path("link"));
        file.write("after");
        file.commit();
    }
    CHECK(std::filesystem::is_symlink(scratch.path("link")));
    CHECK(content_of(path) == "after");
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);

    AtomicFile null("/dev/null");
    null.write("gone");
    null.commit();
    CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("what cannot be written is named, with the reason") {
    const Scratch scratch;
    const auto missing = refusal([&] { AtomicFile(scratch.path("none/out")); });
    CHECK(missing.file() == scratch.path("none/out"));
    CHECK(contains(missing.what(), "No such file or directory"));
    CHECK(contains(refusal([&] { AtomicFile(scratch.path("")); }).what(), "Is a directory"));
    CHECK(contains(refusal([&] {
                       AtomicFile full("/dev/full");
                       full.write("x");
                       full.commit();
                   }).what(),
                   "No space left"));
    CHECK(scratch.count() == 0);
}

// Compiled kernels: what is kept is found again, what was tampered with is not, and everything that fails
// leaves a word and the interpreter.

#include "run/compiled_kernel.hpp"

#include "run/kernel_cache.hpp"
#include "run/kernel_coder.hpp"
#include "tests/io/scratch.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using namespace tutti;
namespace fs = std::filesystem;

namespace {

/// A variable of the environment, for as long as this lives.
class Environment {
  public:
    Environment(const char* name, const std::string& value) : name_(name) {
        if (const char* const before = std::getenv(name)) before_ = before;
        REQUIRE(::setenv(name, value.c_str(), 1) == 0);
    }
    ~Environment() { (void)(before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_)); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    const char* name_;
    std::optional<std::string> before_;
};

/// out[i] = -in[i]
tensor::Loop negation() {
    tensor::Loop loop;
    loop.tensors.resize(1);
    loop.outputs.resize(1);
    loop.steps = {{tensor::Op::Neg,
                   tensor::DType::F32,
                   tensor::DType::F32,
                   {{tensor::LoopOperand::Kind::Tensor, 0}},
                   0}};
    return loop;
}

std::string negation_text() {
    const emit::KernelAccess dense[] = {emit::KernelAccess::Dense};
    return emit::cpp_kernel(negation(), dense, emit::KernelNumbers::Declared);
}

bool has_compiler() { return run::KernelCompiler().kernel(negation_text()) != nullptr; }

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    return files;
}

void check_negates(run::KernelMode mode, const std::string& why) {
    run::KernelCoder coder(mode);
    const auto code = coder.code(negation(), {{3}, {{1}}}, run::Precision::Declared);
    const std::vector<float> from{1, -2, 3};
    std::vector<float> to(3, 0);
    const void* const tensors[] = {from.data()};
    void* const outputs[] = {to.data()};
    code->run(tensors, outputs, 0, 3);
    CHECK(to == std::vector<float>{-1, 2, -3});
    CHECK(coder.compiler().why() == why);
}

}  // namespace

TEST_CASE("a kernel is compiled once, kept where only its user can write, and found again") {
    if (!has_compiler()) return;
    const test::Scratch scratch;
    const Environment cache("XDG_CACHE_HOME", scratch.path("cache"));
    const fs::path folder = fs::path(scratch.path("cache")) / "tutti" / "kernels";
    {
        run::KernelCompiler compiler;
        REQUIRE(compiler.kernel(negation_text()) != nullptr);
        CHECK(compiler.compiled() == 1);
        CHECK(compiler.seconds() > 0);
        CHECK((fs::status(folder).permissions() & fs::perms::all) == fs::perms::owner_all);
        CHECK(files_in(folder).size() == 2);
    }
    {
        run::KernelCompiler compiler;
        CHECK(compiler.known(negation_text()) != nullptr);
        CHECK(compiler.compiled() == 0);
    }
    // Another text under the same name: a collision, or somebody's hand.
    for (const fs::path& file : files_in(folder)) {
        if (file.extension() == ".cpp") REQUIRE(run::write_file(file.string(), "// another\n"));
    }
    {
        run::KernelCompiler compiler;
        CHECK(compiler.known(negation_text()) == nullptr);
        CHECK(compiler.kernel(negation_text()) != nullptr);
        CHECK(compiler.compiled() == 1);
    }
    // A library that cannot be opened is compiled again.
    for (const fs::path& file : files_in(folder)) {
        if (file.extension() == ".so") REQUIRE(run::write_file(file.string(), "no library"));
    }
    run::KernelCompiler compiler;
    CHECK(compiler.kernel(negation_text()) != nullptr);
    CHECK(compiler.compiled() == 1);
}

TEST_CASE("a folder that others can write to is not used") {
    const test::Scratch scratch;
    const fs::path folder = fs::path(scratch.path("cache")) / "tutti" / "kernels";
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::all);
    const Environment cache("XDG_CACHE_HOME", scratch.path("cache"));
    std::string used;
    {
        const run::KernelFolder chosen;
        used = chosen.path();
        CHECK(used != folder.string());
        CHECK(fs::exists(used));
    }
    CHECK_FALSE(fs::exists(used));
}

TEST_CASE("without a compiler that works, kernels are interpreted, and it is said why") {
    const test::Scratch scratch;
    const Environment cache("XDG_CACHE_HOME", scratch.path("cache"));
    {
        const Environment none("TUTTI_CXX", "");
        check_negates(run::KernelMode::Compiled, "TUTTI_CXX is empty");
        check_negates(run::KernelMode::Tiles, "");
        check_negates(run::KernelMode::Auto, "");
    }
    {
        const Environment none("TUTTI_CXX", "no-such-compiler");
        check_negates(run::KernelMode::Compiled, "TUTTI_CXX: 'no-such-compiler' is no program");
    }
    const std::string broken =
        scratch.file("broken", "#!/bin/sh\necho 'broken: no'\n[ \"$1\" = --version ]\n");
    fs::permissions(broken, fs::perms::owner_all);
    const Environment named("TUTTI_CXX", broken);
    check_negates(run::KernelMode::Compiled, broken + ": broken: no");
}

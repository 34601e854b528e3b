// Kernels are kept as two files: the text, with the command and the processor it was compiled for in its
// first line, and the library. The text is put in place last; what differs from the text that is asked for
// counts as absent, so neither a collision of hashes nor a file that was left half done is ever loaded.

#include "run/compiled_kernel.hpp"

#include "run/kernel_cache.hpp"
#include "verify/tensor/numbers.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

namespace tutti::run {
namespace {

/// Names of files that nobody else writes to.
std::string temporary_name(const std::string& path) {
    static std::atomic<unsigned> number{0};
    return fmt::format("{}.{}.{}", path, getpid(), number++);
}

/// What -march=native depends on.
std::string processor() {
    std::istringstream facts(file_text("/proc/cpuinfo").value_or(""));
    std::string model, flags;
    for (std::string line; std::getline(facts, line) && !line.empty();) {
        if (line.starts_with("model name")) model = line;
        if (line.starts_with("flags") || line.starts_with("Features")) flags = line;
    }
    return fmt::format("{} {:016x}", model, verify::mixed(flags));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<std::string> link_words() { return {"-shared", "-nostdlib", "-lm", "-lc"}; }

}  // namespace

CompiledKernel::~CompiledKernel() { dlclose(library_); }

struct KernelCompiler::Tools {
    KernelFolder folder{};
    std::string compiler{};
    std::string made_by{};  ///< compiler, flags, processor: a line
};

KernelCompiler::KernelCompiler() = default;
KernelCompiler::~KernelCompiler() = default;

std::string KernelCompiler::why() const {
    const std::lock_guard lock(mutex_);
    return why_;
}
std::size_t KernelCompiler::compiled() const {
    const std::lock_guard lock(mutex_);
    return compiled_;
}
double KernelCompiler::seconds() const {
    const std::lock_guard lock(mutex_);
    return seconds_;
}

void KernelCompiler::fails(const std::string& words) {
    if (why_.empty()) why_ = words;
}

KernelCompiler::Tools& KernelCompiler::tools() {
    if (tools_) return *tools_;
    tools_ = std::make_unique<Tools>();
    const char* named = std::getenv("TUTTI_CXX");
    std::vector<std::string> names{"c++", "g++", "clang++"};
    if (named != nullptr) names = {named};
    for (const std::string& name : names) {
        if (name.empty()) continue;
        if (const auto path = program_on_path(name); path && tools_->compiler.empty())
            tools_->compiler = *path;
    }
    if (tools_->compiler.empty()) {
        fails(named == nullptr ? "no C++ compiler was found"
              : *named == 0    ? "TUTTI_CXX is empty"
                               : fmt::format("TUTTI_CXX: '{}' is no program", named));
        return *tools_;
    }
    if (tools_->folder.path().empty()) {
        fails("there is no folder for compiled kernels");
        tools_->compiler.clear();
        return *tools_;
    }
    const std::string words = temporary_name(tools_->folder.path() + "/version");
    const bool answers = run_quietly({tools_->compiler, "--version"}, words);
    const std::string version = first_line(file_text(words).value_or(""));
    std::remove(words.c_str());
    if (!answers) {
        fails(fmt::format("{} does not run", tools_->compiler));
        tools_->compiler.clear();
    }
    tools_->made_by =
        fmt::format("// {} ({}) {} {}; {}\n", tools_->compiler, version,
                    fmt::join(emit::cpp_kernel_flags(), " "), fmt::join(link_words(), " "), processor());
    return *tools_;
}

std::string KernelCompiler::file_of(const Tools& tools, const std::string& text) const {
    return fmt::format("{}/{:016x}", tools.folder.path(), verify::mixed(text));
}

KernelCompiler::Kernel KernelCompiler::kept(const std::string& path, const std::string& text) {
    if (file_text(path + ".cpp") != text) return nullptr;
    void* const library = dlopen((path + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    void* const function = dlsym(library, std::string(emit::kKernelFunction).c_str());
    if (function == nullptr) {
        dlclose(library);
        return nullptr;
    }
    return std::make_shared<const CompiledKernel>(library,
                                                  reinterpret_cast<CompiledKernel::Function>(function));
}

bool KernelCompiler::compile(const std::string& path, const std::string& text) {
    const auto start = std::chrono::steady_clock::now();
    const std::string source = temporary_name(path) + ".cpp", library = source + ".so", log = source + ".log";
    std::vector<std::string> command{tools_->compiler};
    for (const std::string_view flag : emit::cpp_kernel_flags()) command.emplace_back(flag);
    for (const std::string& word : {std::string("-o"), library, source}) command.push_back(word);
    for (const std::string& word : link_words()) command.push_back(word);
    const bool is_made = write_file(source, text) && run_quietly(command, log);
    if (!is_made) fails(fmt::format("{}: {}", tools_->compiler, first_line(file_text(log).value_or(""))));
    const bool is_kept = is_made && std::rename(library.c_str(), (path + ".so").c_str()) == 0 &&
                         std::rename(source.c_str(), (path + ".cpp").c_str()) == 0;
    if (is_made && !is_kept) fails("compiled kernels cannot be kept in " + tools_->folder.path());
    for (const std::string& file : {source, library, log}) std::remove(file.c_str());
    ++compiled_;
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return is_kept;
}

KernelCompiler::Kernel KernelCompiler::find(const std::string& text, bool compiles) {
    const std::lock_guard lock(mutex_);
    if (const auto found = kernels_.find(text); found != kernels_.end()) return found->second;
    const Tools& tools = this->tools();
    if (tools.compiler.empty()) return nullptr;
    const std::string whole = tools.made_by + text, path = file_of(tools, whole);
    Kernel kernel = kept(path, whole);
    if (!kernel && !compiles) return nullptr;
    if (!kernel && compile(path, whole)) {
        kernel = kept(path, whole);
        if (!kernel) fails("a compiled kernel cannot be opened");
    }
    return kernels_[text] = kernel;
}

std::shared_ptr<const CompiledKernel> KernelCompiler::kernel(const std::string& text) {
    return find(text, true);
}
std::shared_ptr<const CompiledKernel> KernelCompiler::known(const std::string& text) {
    return find(text, false);
}

}  // namespace tutti::run

#pragma once

#include "emit/cpp_kernel.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace tutti::run {

/// A kernel that was compiled and is in memory as long as this is.
class CompiledKernel {
  public:
    using Function = void (*)(const emit::KernelCall* call, long long begin, long long end);

    CompiledKernel(void* library, Function loaded) : library_(library), function_(loaded) {}
    CompiledKernel(const CompiledKernel&) = delete;
    CompiledKernel& operator=(const CompiledKernel&) = delete;
    ~CompiledKernel();

    [[nodiscard]] Function function() const { return function_; }

  private:
    void* library_;
    Function function_;
};

/// Compiles kernels with the C++ compiler that is found here (TUTTI_CXX names one, and none if it is empty;
/// else c++, g++ or clang++ on the PATH), and keeps them for later runs in a folder of the user's
/// ($XDG_CACHE_HOME or ~/.cache, /tutti/kernels) that nobody else can write to; where there is none, in a
/// folder for this run. A kernel is found again by its text, the flags, the compiler's version and the
/// processor. Any number of threads may ask.
class KernelCompiler {
  public:
    KernelCompiler();
    KernelCompiler(const KernelCompiler&) = delete;
    KernelCompiler& operator=(const KernelCompiler&) = delete;
    ~KernelCompiler();

    /// None: why() says why.
    [[nodiscard]] std::shared_ptr<const CompiledKernel> kernel(const std::string& text);
    /// Only if an earlier run or call has compiled it.
    [[nodiscard]] std::shared_ptr<const CompiledKernel> known(const std::string& text);

    /// What went wrong first; empty: nothing.
    [[nodiscard]] std::string why() const;
    /// Kernels that were compiled, not found, and how long that took.
    [[nodiscard]] std::size_t compiled() const;
    [[nodiscard]] double seconds() const;

  private:
    struct Tools;
    using Kernel = std::shared_ptr<const CompiledKernel>;

    Tools& tools();
    std::string file_of(const Tools& tools, const std::string& text) const;
    Kernel find(const std::string& text, bool compiles);
    Kernel kept(const std::string& path, const std::string& text);
    bool compile(const std::string& path, const std::string& text);
    void fails(const std::string& words);

    mutable std::mutex mutex_;
    std::unique_ptr<Tools> tools_;
    std::map<std::string, Kernel> kernels_;  ///< by text
    std::string why_;
    std::size_t compiled_ = 0;
    double seconds_ = 0;
};

}  // namespace tutti::run

#pragma once

#include "run/blas.hpp"
#include "run/compiled_kernel.hpp"
#include "run/kernel_code.hpp"

#include <cstdint>
#include <memory>

namespace tutti::run {

/// What becomes of the pointwise values of kernels.
enum class KernelMode : std::uint8_t {
    Auto,     ///< compiled where that is worth its time, or was done before; else interpreted
    Tiles,    ///< interpreted
    Compiled  ///< compiled; interpreted where that cannot be done
};

/// Makes loops ready for ranks, and has the library for matrix products, if there is one. All ways give the
/// same bits. Any number of threads may ask; what is compiled is compiled once.
class KernelCoder {
  public:
    explicit KernelCoder(KernelMode mode = KernelMode::Auto) : mode_(mode) {}

    [[nodiscard]] std::unique_ptr<KernelCode> code(const tensor::Loop& loop, const LoopShape& shape,
                                                   const Arithmetic& arithmetic);

    /// What was compiled, how long that took, and why something was not.
    [[nodiscard]] const KernelCompiler& compiler() const { return compiler_; }
    [[nodiscard]] const Blas& blas() const { return blas_; }

  private:
    KernelMode mode_;
    KernelCompiler compiler_;
    Blas blas_ = Blas::found();
};

}  // namespace tutti::run

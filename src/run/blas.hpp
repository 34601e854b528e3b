#pragma once

#include <cstdint>
#include <string>

namespace tutti::run {

/// sgemm and dgemm of a library that is opened at run time, by Fortran's interface, which all have: OpenBLAS,
/// BLIS, MKL, the reference; names of 64-bit builds and of the one in Python's wheels too. One thread each,
/// because every rank has its own.
class Blas {
  public:
    /// The functions, with 32-bit or 64-bit integers.
    struct Functions {
        void* single = nullptr;  ///< sgemm
        void* full = nullptr;    ///< dgemm
        bool has_long_integers = false;
    };
    Blas() = default;
    explicit Blas(const Functions& functions) : functions_(functions) {}

    /// The library that TUTTI_BLAS names (none if it is empty), else OpenBLAS, BLIS or MKL where the system
    /// has them. Not libblas, which may be the reference: it is slower than our blocks.
    [[nodiscard]] static Blas found();

    [[nodiscard]] bool is_there() const { return functions_.single != nullptr; }
    /// The file, as it was opened.
    [[nodiscard]] const std::string& name() const { return name_; }
    /// Why there is none, if TUTTI_BLAS names one that cannot be used.
    [[nodiscard]] const std::string& why() const { return why_; }

    /// c += op(a) op(b), column by column. Precondition: is_there(), and all numbers fit in 32 bits.
    void multiply(char a_order, char b_order, std::int64_t rows, std::int64_t columns, std::int64_t inner,
                  const float* a, std::int64_t a_leading, const float* b, std::int64_t b_leading, float* c,
                  std::int64_t c_leading) const;
    void multiply(char a_order, char b_order, std::int64_t rows, std::int64_t columns, std::int64_t inner,
                  const double* a, std::int64_t a_leading, const double* b, std::int64_t b_leading, double* c,
                  std::int64_t c_leading) const;

  private:
    Functions functions_{};
    std::string name_, why_;
};

}  // namespace tutti::run

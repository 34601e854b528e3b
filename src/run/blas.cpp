#include "run/blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace tutti::run {
namespace {

/// Names of the functions, as C sees them.
struct Names {
    const char *single, *full;
    bool has_long_integers;
};
constexpr std::array kNames{Names{"sgemm_", "dgemm_", false}, Names{"sgemm_64_", "dgemm_64_", true},
                            Names{"scipy_sgemm_", "scipy_dgemm_", false},
                            Names{"scipy_sgemm_64_", "scipy_dgemm_64_", true}};
constexpr std::array kThreadNames{"openblas_set_num_threads",       "openblas_set_num_threads64_",
                                  "scipy_openblas_set_num_threads", "scipy_openblas_set_num_threads64_",
                                  "bli_thread_set_num_threads",     "MKL_Set_Num_Threads"};

/// The library stays open: its threads may be anywhere.
Blas::Functions opened(const std::string& name) {
    void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    for (const Names& names : kNames) {
        Blas::Functions functions{dlsym(library, names.single), dlsym(library, names.full),
                                  names.has_long_integers};
        if (functions.single == nullptr || functions.full == nullptr) continue;
        for (const char* threads : kThreadNames) {
            if (void* const function = dlsym(library, threads)) {
                reinterpret_cast<void (*)(int)>(function)(1);
                break;
            }
        }
        return functions;
    }
    dlclose(library);
    return {};
}

template <class T, class Integer>
void call(void* function, char a_order, char b_order, const std::array<std::int64_t, 6>& numbers, const T* a,
          const T* b, T* c) {
    using Function =
        void (*)(const char*, const char*, const Integer*, const Integer*, const Integer*, const T*, const T*,
                 const Integer*, const T*, const Integer*, const T*, T*, const Integer*);
    const T one{1};
    std::array<Integer, 6> n{};
    for (std::size_t i = 0; i < n.size(); ++i) n[i] = static_cast<Integer>(numbers[i]);
    reinterpret_cast<Function>(function)(&a_order, &b_order, n.data(), &n[1], &n[2], &one, a, &n[3], b, &n[4],
                                         &one, c, &n[5]);
}

}  // namespace

Blas Blas::found() {
    const char* const named = std::getenv("TUTTI_BLAS");
    std::vector<std::string> names{"libopenblas.so.0", "libopenblas.so", "libblis.so.4",
                                   "libblis.so",       "libmkl_rt.so.2", "libmkl_rt.so"};
    if (named != nullptr) names = {named};
    Blas blas;
    for (const std::string& name : names) {
        if (name.empty()) continue;
        blas.functions_ = opened(name);
        blas.name_ = name;
        if (blas.is_there()) return blas;
    }
    if (named != nullptr && *named != 0)
        blas.why_ = fmt::format("TUTTI_BLAS: '{}' is no library with sgemm and dgemm", named);
    blas.name_.clear();
    return blas;
}

void Blas::multiply(char a_order, char b_order, std::int64_t rows, std::int64_t columns, std::int64_t inner,
                    const float* a, std::int64_t a_leading, const float* b, std::int64_t b_leading, float* c,
                    std::int64_t c_leading) const {
    const auto function =
        functions_.has_long_integers ? call<float, std::int64_t> : call<float, std::int32_t>;
    function(functions_.single, a_order, b_order, {rows, columns, inner, a_leading, b_leading, c_leading}, a,
             b, c);
}

void Blas::multiply(char a_order, char b_order, std::int64_t rows, std::int64_t columns, std::int64_t inner,
                    const double* a, std::int64_t a_leading, const double* b, std::int64_t b_leading,
                    double* c, std::int64_t c_leading) const {
    const auto function =
        functions_.has_long_integers ? call<double, std::int64_t> : call<double, std::int32_t>;
    function(functions_.full, a_order, b_order, {rows, columns, inner, a_leading, b_leading, c_leading}, a, b,
             c);
}

}  // namespace tutti::run

#include "run/kernels.hpp"

namespace tutti::run {
namespace {

const KernelTable& best_table() {
#if defined(TUTTI_AVX2_KERNELS)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) return kAvx2Kernels;
#endif
    return kPortableKernels;
}

}  // namespace

const Kernels& kernels_of(ElementType type, Operator op) {
    static const KernelTable& table = best_table();
    return table.rows[static_cast<int>(type)][static_cast<int>(op)];
}

}  // namespace tutti::run

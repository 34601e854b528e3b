// Compiled for x86 processors with AVX2 and F16C (src/CMakeLists.txt); empty for all others.

#if defined(__AVX2__) && defined(__F16C__)
#include "run/kernel_loops.hpp"

namespace tutti::run {

constinit const KernelTable kAvx2Kernels = made_table();

}  // namespace tutti::run
#endif

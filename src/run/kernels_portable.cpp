#include "run/kernel_loops.hpp"

namespace tutti::run {

constinit const KernelTable kPortableKernels = made_table();

}  // namespace tutti::run

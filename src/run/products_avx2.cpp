// Compiled for x86 processors with AVX2 (src/CMakeLists.txt); empty for all others.

#if defined(__AVX2__)
#include "run/product_loops.hpp"

namespace tutti::run {

constinit const ProductTable kAvx2Products = made_product_table();

}  // namespace tutti::run
#endif

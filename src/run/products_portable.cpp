#include "run/product_loops.hpp"

namespace tutti::run {

constinit const ProductTable kPortableProducts = made_product_table();

}  // namespace tutti::run

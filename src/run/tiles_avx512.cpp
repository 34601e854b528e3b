// Compiled for x86 processors with AVX-512 (src/CMakeLists.txt); empty for all others.

#if defined(__AVX512F__)
#include "run/tile_loops.hpp"

namespace tutti::run {

constinit const TileTable kAvx512Tiles = made_tile_table();

}  // namespace tutti::run
#endif

// Compiled for x86 processors with AVX2 (src/CMakeLists.txt); empty for all others.

#if defined(__AVX2__)
#include "run/tile_loops.hpp"

namespace tutti::run {

constinit const TileTable kAvx2Tiles = made_tile_table();

}  // namespace tutti::run
#endif

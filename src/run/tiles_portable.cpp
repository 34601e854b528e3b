#include "run/tile_loops.hpp"

namespace tutti::run {

constinit const TileTable kPortableTiles = made_tile_table();

}  // namespace tutti::run

// All-to-all on a mesh of rows and columns: a block goes along its row to the column of its receiver, then
// along that column. What goes to one column is one message, so a rank sends (rows - 1) + (columns - 1)
// messages in place of n - 1, and every block moves at most twice. Blocks of a message lie apart in the
// input: they are packed. Other than in two-step-all-to-all, where rows are nodes, blocks that stay in the
// row wait for nobody, and everything is packed. Source: Bruck et al., TPDS 1997, section 2, with radix sqrt
// n; as a 2-D mesh in Suh and Shin, All-to-all personalized communication in multidimensional torus and mesh
// networks, TPDS 2001.

#include "lang/library/algorithms.hpp"

#include <fmt/format.h>

namespace tutti::lang::library {
namespace {

void write_mesh_all_to_all(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks, columns = settings["columns"],
                        rows = n / columns;
    const std::uint32_t packed = p.scratch("packed"), row = p.scratch("row"), mixed = p.scratch("mixed"),
                        column = p.scratch("column");
    // Along rows: of each rank, for each column, the blocks for the ranks of that column.
    for (std::uint32_t s = 0; s < columns; ++s) {
        for (std::uint32_t r = 0; r < n; ++r) {
            const std::uint32_t x = (r % columns + s) % columns, to = r - r % columns + x;
            for (std::uint32_t y = 0; y < rows; ++y)
                (void)p.chunk(r, kInput, (y * columns + x) * k, k).copy(r, packed, (x * rows + y) * k);
            (void)p.chunk(r, packed, x * rows * k, rows * k).copy(to, row, r % columns * rows * k);
        }
    }
    // Along columns: of each rank, for each row, the blocks of its own row's ranks.
    for (std::uint32_t s = 0; s < rows; ++s) {
        for (std::uint32_t r = 0; r < n; ++r) {
            const std::uint32_t own = r / columns, y = (own + s) % rows, to = y * columns + r % columns;
            for (std::uint32_t x = 0; x < columns; ++x)
                (void)p.chunk(r, row, (x * rows + y) * k, k).copy(r, mixed, (y * columns + x) * k);
            (void)p.chunk(r, mixed, y * columns * k, columns * k).copy(to, column, own * columns * k);
        }
    }
    for (std::uint32_t r = 0; r < n; ++r) (void)p.chunk(r, column, 0, n * k).copy(r, kOutput, 0);
}

}  // namespace

Algorithm mesh_all_to_all() {
    return {.name = "mesh-all-to-all",
            .about = "along rows, then along columns: about 2 sqrt n messages of a rank; also in place",
            .source = "Suh, Shin, TPDS 2001",
            .kinds = {CollectiveKind::AllToAll},
            .parameters = {{"columns", "ranks of a row, which are neighbours", 4, 1, 1024, Knob::Divisors},
                           {"chunks", "chunks of a block, sent in one step", 1, 1, 16}},
            .why_not = [](const Settings& settings) -> std::string {
                const std::uint32_t n = settings.request.ranks, columns = settings["columns"];
                return n % columns == 0
                           ? ""
                           : fmt::format("{} ranks are no rows of {} (parameter columns)", n, columns);
            },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write = write_mesh_all_to_all};
}

}  // namespace tutti::lang::library

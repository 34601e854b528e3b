// An all-reduce for lines and meshes. On a line the ends hand their sums inwards until they meet: at the rank
// in the middle, or at two, which exchange them; from there the total goes back to the ends. That is L - 1
// messages one after the other for L ranks, as many as there are links between the ends, and no all-reduce
// can have fewer. A mesh does it along each of its dimensions, one after the other, all lines at the same
// time: together as many messages as from corner to corner. With several chunks these follow each other.
//
// Source: Barnett, Littlefield, Payne and van de Geijn, Global combine algorithms for 2-D meshes with
// wormhole routing, J. Parallel Distrib. Comput. 24 (1995): combining to one end and spreading, dimension by
// dimension. Here they meet in the middle, which halves the way.

#include "lang/library/algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::lang::library {
namespace {

/// The sides; rank = x + width (y + height z).
std::array<std::uint32_t, 3> sides_of(const Settings& settings) {
    const std::uint32_t n = settings.request.ranks;
    const std::uint32_t width = settings["width"] == 0 ? n : settings["width"];
    const std::uint32_t height = settings["height"] == 0 ? n / width : settings["height"];
    return {width, height, n / width / std::max(height, 1U)};
}

/// A chunk among the ranks first, first + stride, ... of a line. `parked`: the place in scratch where what is
/// exchanged waits.
void add_along(Program& p, std::uint32_t first, std::uint32_t stride, std::uint32_t length,
               std::uint32_t chunk, std::uint32_t scratch, std::uint32_t parked) {
    const auto at = [&](std::uint32_t i) { return p.chunk(first + i * stride, kOutput, chunk); };
    const auto copy = [&](std::uint32_t from, std::uint32_t to) {
        (void)at(from).copy(first + to * stride, kOutput, chunk);
    };
    const std::uint32_t low = (length - 1) / 2, high = length / 2;  // the middle, or the two there
    for (std::uint32_t i = 0; i < low; ++i) (void)at(i + 1).reduce(at(i));
    for (std::uint32_t i = length - 1; i > high; --i) (void)at(i - 1).reduce(at(i));
    if (low != high) {
        const Ref from_low = at(low).copy(first + high * stride, scratch, parked);
        const Ref from_high = at(high).copy(first + low * stride, scratch, parked);
        (void)at(high).reduce(from_low);
        (void)at(low).reduce(from_high);
    }
    for (std::uint32_t i = low; i > 0; --i) copy(i, i - 1);
    for (std::uint32_t i = high; i + 1 < length; ++i) copy(i, i + 1);
}

void write_mesh_all_reduce(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks, scratch = p.scratch("scratch");
    const auto sides = sides_of(settings);
    for (std::uint32_t r = 0; r < n; ++r) (void)writable(p, r, 0, k);
    for (std::uint32_t chunk = 0; chunk < k; ++chunk) {
        std::uint32_t stride = 1;
        for (std::uint32_t d = 0; d < sides.size(); stride *= sides[d++]) {
            for (std::uint32_t r = 0; r < n; ++r) {
                if (r / stride % sides[d] == 0)
                    add_along(p, r, stride, sides[d], chunk, scratch, d * k + chunk);
            }
        }
    }
}

}  // namespace

Algorithm mesh_all_reduce() {
    return {.name = "mesh-all-reduce",
            .about = "sums meet in the middle of each line: as many messages as from corner to corner",
            .source = "Barnett et al., JPDC 1995",
            .kinds = {CollectiveKind::AllReduce},
            .parameters = {{"width", "ranks in the first dimension of the mesh; 0: it is a line", 0, 0, 1024,
                            Knob::Divisors},
                           {"height", "ranks in the second; 0: there is no third", 0, 0, 1024, Knob::None},
                           {"chunks", "chunks that follow each other", 1, 1, 64}},
            .why_not = [](const Settings& settings) -> std::string {
                const auto sides = sides_of(settings);
                if (sides[0] * sides[1] * sides[2] == settings.request.ranks) return "";
                return fmt::format("{} ranks are no mesh of {} x {} x ... (parameters width, height)",
                                   settings.request.ranks, sides[0], sides[1]);
            },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write = write_mesh_all_reduce};
}

}  // namespace tutti::lang::library

// The families, one after the other, cheapest first; then the largest bound first, of equal ones the
// simplest.

#include "bounds/bounds.hpp"
#include "bounds/families.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace tutti::bounds {
namespace {

using Family = Bound (*)(Traffic&, const Stop&);

constexpr std::array kSimple{latency, ingress, egress, volume};
constexpr std::array kOthers{cut, lengths};

void add(std::vector<Bound>& bounds, std::span<const Family> families, Traffic& traffic, const Stop& stop) {
    for (const Family family : families) {
        const auto begin = std::chrono::steady_clock::now();
        bounds.push_back(family(traffic, stop));
        bounds.back().seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
}

std::vector<Bound> sorted(std::vector<Bound> bounds) {
    std::ranges::stable_sort(bounds, std::ranges::greater{}, &Bound::value);
    return bounds;
}

}  // namespace

std::vector<Bound> simple_bounds(const Instance& instance, const Stop& stop) {
    Traffic traffic(instance);
    std::vector<Bound> bounds;
    add(bounds, kSimple, traffic, stop);
    const auto begin = std::chrono::steady_clock::now();
    const Ticks best = std::ranges::max(bounds, {}, &Bound::value).value;
    if (Bound cut = block_cuts(traffic, best, stop); cut.value > best) {
        cut.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        bounds.push_back(std::move(cut));
    }
    return sorted(std::move(bounds));
}

std::vector<Bound> all_bounds(const Instance& instance, const Stop& stop) {
    Traffic traffic(instance);
    std::vector<Bound> bounds;
    add(bounds, kSimple, traffic, stop);
    add(bounds, kOthers, traffic, stop);
    return sorted(std::move(bounds));
}

}  // namespace tutti::bounds

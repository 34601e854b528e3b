// The families, one after the other, cheapest first; then the largest bound first, of equal ones the
// simplest.

#include "bounds/bounds.hpp"
#include "bounds/families.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace tutti::bounds {
namespace {

constexpr std::array kSimple{latency, ingress, egress, volume};

template <class Find>
Bound timed(const Find& find) {
    const auto begin = std::chrono::steady_clock::now();
    Bound bound = find();
    bound.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return bound;
}

std::vector<Bound> sorted(std::vector<Bound> bounds) {
    std::ranges::stable_sort(bounds, std::ranges::greater{}, &Bound::value);
    return bounds;
}

}  // namespace

Families::Families(const Instance& instance) : traffic_(std::make_unique<Traffic>(instance)) {}
Families::Families(Families&&) noexcept = default;
Families::~Families() = default;

std::vector<Bound> Families::simple(const Stop& stop) {
    std::vector<Bound> bounds;
    for (const auto family : kSimple) bounds.push_back(timed([&] { return family(*traffic_, stop); }));
    const Ticks best = std::ranges::max(bounds, {}, &Bound::value).value;
    Bound regular = timed([&] { return block_cuts(*traffic_, best, stop); });
    if (regular.value > best) bounds.push_back(std::move(regular));
    return sorted(std::move(bounds));
}

Bound Families::cut(const Stop& stop) {
    return timed([&] { return bounds::cut(*traffic_, stop); });
}

Bound Families::wave(const Stop& stop) {
    return timed([&] { return bounds::wave(*traffic_, stop); });
}

Bound Families::trees(const Stop& stop) {
    return timed([&] { return bounds::trees(*traffic_, stop); });
}

Bound Families::flow(const Stop& stop) {
    return timed([&] { return lengths(*traffic_, stop); });
}

std::vector<Bound> simple_bounds(const Instance& instance, const Stop& stop) {
    return Families(instance).simple(stop);
}

std::vector<Bound> all_bounds(const Instance& instance, const Stop& stop) {
    Families families(instance);
    std::vector<Bound> bounds = families.simple(stop);
    for (Bound bound : {families.cut(stop), families.wave(stop), families.trees(stop), families.flow(stop)}) {
        // Of one kind the better one is enough.
        const auto same = std::ranges::find(bounds, bound.kind, &Bound::kind);
        if (same == bounds.end()) {
            bounds.push_back(std::move(bound));
        } else if (bound.value > same->value) {
            *same = std::move(bound);
        }
    }
    return sorted(std::move(bounds));
}

}  // namespace tutti::bounds

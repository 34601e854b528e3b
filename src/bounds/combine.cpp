// The families, one after the other, cheapest first; then the largest bound first, of equal ones the
// simplest.

#include "bounds/bounds.hpp"
#include "bounds/families.hpp"
#include "core/useful_rules.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <type_traits>

namespace tutti::bounds {
namespace {

constexpr std::array kSimple{latency, ingress, egress, volume};

/// The bound with the time that it took.
template <class Find>
auto timed(const Find& find) {
    const auto begin = std::chrono::steady_clock::now();
    auto found = find();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if constexpr (std::is_same_v<decltype(found), Bound>) {
        found.seconds = seconds;
    } else if (found) {
        found->seconds = seconds;
    }
    return found;
}

std::vector<Bound> sorted(std::vector<Bound> bounds) {
    std::ranges::stable_sort(bounds, std::ranges::greater{}, &Bound::value);
    return bounds;
}

}  // namespace

Families::Families(const Instance& instance) {
    if (auto useful = with_useful_rules(instance))
        useful_ = std::make_unique<const Instance>(*std::move(useful));
    traffic_ = std::make_unique<Traffic>(useful_ ? *useful_ : instance);
}
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
    Bound found = timed([&] { return bounds::cut(*traffic_, stop); });
    if (const auto* cut = std::get_if<CutCertificate>(&found.certificate)) {
        std::vector<bool> inside(traffic_->topology().nodes(), cut->complement);
        for (const NodeId node : cut->inside) inside[node.index()] = !cut->complement;
        worst_cut_ = {std::move(inside)};
    }
    return found;
}

Bound Families::wave(const Stop& stop) {
    return timed([&] { return bounds::wave(*traffic_, stop); });
}

std::optional<Bound> Families::trees(const Stop& stop) {
    return timed([&] { return bounds::trees(*traffic_, stop); });
}

std::optional<Bound> Families::growth(const Stop& stop) {
    return timed([&] { return bounds::growth(*traffic_, stop); });
}

std::optional<Bound> Families::sum(const Stop& stop) {
    return timed([&] { return sum_of_times(*traffic_, stop); });
}

std::optional<Bound> Families::contributions(const Stop& stop) {
    return timed([&] { return bounds::contributions(*traffic_, stop); });
}

std::optional<Bound> Families::pairs(const Stop& stop) {
    return timed([&] { return bounds::pairs(*traffic_, worst_cut_, stop); });
}

std::optional<Bound> Families::exits(const Stop& stop) {
    return timed([&] { return bounds::exits(*traffic_, stop); });
}

std::optional<Bound> Families::deadlines(const Stop& stop) {
    return timed([&] { return bounds::deadlines(*traffic_, stop); });
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
    const auto add = [&](std::optional<Bound> bound) {
        if (!bound || (bound->value == Ticks(0) && bound->kind != "cut" && bound->kind != "flow")) return;
        // Of one kind the better one is enough.
        const auto same = std::ranges::find(bounds, bound->kind, &Bound::kind);
        if (same == bounds.end()) {
            bounds.push_back(std::move(*bound));
        } else if (bound->value > same->value) {
            *same = std::move(*bound);
        }
    };
    add(families.cut(stop));
    add(families.wave(stop));
    add(families.trees(stop));
    add(families.growth(stop));
    add(families.sum(stop));
    add(families.contributions(stop));
    add(families.pairs(stop));
    add(families.exits(stop));
    add(families.deadlines(stop));
    add(families.flow(stop));
    return sorted(std::move(bounds));
}

}  // namespace tutti::bounds

#include "core/topology.hpp"

#include "core/rng.hpp"
#include "core/ticks.hpp"
#include "core/topology_ops.hpp"

#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <string>

using boost::multiprecision::cpp_int;
using namespace tutti;

namespace {

Link link_of(std::size_t src, std::size_t dst, std::int64_t alpha = 1, std::int64_t beta = 2) {
    return {NodeId(src), NodeId(dst), {Ticks(alpha), Ticks(beta), Decimal{}}};
}

Link physical_link(std::size_t src, std::size_t dst, Decimal bandwidth) {
    return {NodeId(src), NodeId(dst), {Ticks(0), Ticks(0), bandwidth}};
}

/// Three NPUs and a switch: 0 -> 1 twice, 1 -> 0, 1 -> 3, 3 -> 2.
TopologyParts small_parts() {
    TopologyParts parts;
    parts.npus = 3;
    parts.switches.resize(1);
    parts.links = {link_of(0, 1), link_of(1, 0), link_of(0, 1, 5, 6), link_of(1, 3), link_of(3, 2)};
    return parts;
}

std::string place_of_error(TopologyParts parts) {
    try {
        (void)Topology(std::move(parts));
    } catch (const InputError& error) {
        return error.place();
    }
    return "no error";
}

std::vector<std::uint32_t> numbers(std::span<const LinkId> links) {
    std::vector<std::uint32_t> result;
    for (const LinkId link : links) result.push_back(link.value());
    return result;
}

cpp_int power_of_ten(int exponent) {
    return boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(exponent));
}

cpp_int ceil_of(const cpp_int& numerator, const cpp_int& denominator) {
    return (numerator + denominator - 1) / denominator;
}

/// A decimal of up to 15 digits, as a user may write it.
Decimal random_decimal(Rng& rng) {
    const int digits = static_cast<int>(rng.below(15)) + 1;
    std::int64_t mantissa = 0;
    for (int i = 0; i < digits; ++i) mantissa = mantissa * 10 + static_cast<std::int64_t>(rng.below(10));
    return {mantissa + 1, static_cast<int>(rng.below(10))};
}

}  // namespace

TEST_CASE("a topology knows its NPUs, switches and the links at each node") {
    const Topology topology(small_parts());
    CHECK(topology.npus() == 3);
    CHECK(topology.switches() == 1);
    CHECK(topology.nodes() == 4);
    CHECK(topology.is_npu(NodeId(2)));
    CHECK(topology.is_switch(NodeId(3)));
    CHECK(topology.units() == Units::Abstract);
    CHECK(topology.busy() == Busy::Beta);
    CHECK(numbers(topology.out_links(NodeId(0))) == std::vector<std::uint32_t>{0, 2});
    CHECK(numbers(topology.out_links(NodeId(1))) == std::vector<std::uint32_t>{1, 3});
    CHECK(numbers(topology.in_links(NodeId(1))) == std::vector<std::uint32_t>{0, 2});
    CHECK(numbers(topology.in_links(NodeId(2))) == std::vector<std::uint32_t>{4});
    CHECK(topology.out_links(NodeId(2)).empty());
    CHECK(name_of(topology, NodeId(2)) == "NPU 2");
    CHECK(name_of(topology, NodeId(3)) == "switch 3");
    CHECK(name_of(topology, LinkId(3)) == "link 3 (1 -> 3)");
}

TEST_CASE("a topology of one NPU needs no links") {
    TopologyParts parts;
    parts.npus = 1;
    const Topology topology(parts);
    CHECK(topology.out_links(NodeId(0)).empty());
    CHECK(topology.in_links(NodeId(0)).empty());
}

TEST_CASE("in abstract units beta does not depend on the size of a chunk; in physical units it does") {
    const Topology abstract(small_parts());
    CHECK(abstract.beta(LinkId(2), Bytes{0}) == Ticks(6));
    CHECK(abstract.beta(LinkId(2), Bytes{1 << 20}) == Ticks(6));
    TopologyParts parts;
    parts.npus = 2;
    parts.links = {physical_link(0, 1, {50, 0})};
    const Topology physical(parts);
    CHECK(physical.units() == Units::Physical);
    CHECK(physical.beta(LinkId(0), Bytes{50}) == Ticks(1000));
    CHECK(physical.beta(LinkId(0), Bytes{1}) == Ticks(20));
}

TEST_CASE("a cut-through switch is one by its rule, an NPU never") {
    TopologyParts parts = small_parts();
    CHECK_FALSE(Topology(parts).is_cut_through(NodeId(3)));
    parts.switches[0].cut_through = true;
    const Topology topology(parts);
    CHECK(topology.is_cut_through(NodeId(3)));
    CHECK_FALSE(topology.is_cut_through(NodeId(0)));
}

TEST_CASE("a topology refuses links that make no sense and names them") {
    const auto with = [](const Link& link) {
        TopologyParts parts = small_parts();
        parts.links.push_back(link);
        return place_of_error(std::move(parts));
    };
    CHECK(with(link_of(4, 0)) == "/links/5/src");
    CHECK(with(link_of(0, 4)) == "/links/5/dst");
    CHECK(with(link_of(2, 2)) == "/links/5");
    CHECK(with(link_of(0, 2, -1, 1)) == "/links/5");
    CHECK(with(link_of(0, 2, 0, 0)) == "/links/5");
    CHECK(with(link_of(0, 2, 0, kMaxLinkTicks.count() + 1)) == "/links/5");
    CHECK(with(link_of(0, 2, kMaxLinkTicks.count() + 1, 1)) == "/links/5");
    CHECK(with(physical_link(0, 2, {1, 0})) == "/links/5");
    CHECK(with(link_of(0, 2, kMaxLinkTicks.count(), kMaxLinkTicks.count())) == "no error");
    CHECK(place_of_error(TopologyParts{}) == "/npus");
    TopologyParts many;
    many.npus = static_cast<std::uint32_t>(kMaxNodes + 1);
    CHECK(place_of_error(many) == "/npus");
}

TEST_CASE("removing by ends takes all parallel links of that direction; the others keep their order") {
    TopologyEdits edits(small_parts());
    edits.remove(LinksBetween{NodeId(0), NodeId(1)});
    const TopologyParts parts = std::move(edits).apply();
    CHECK(parts.links == std::vector{link_of(1, 0), link_of(1, 3), link_of(3, 2)});
}

TEST_CASE("link numbers in edits are those before any edit") {
    TopologyEdits edits(small_parts());
    edits.remove(LinkId(0));
    edits.remove(LinkId(1));
    edits.remove(LinkId(1));
    edits.slow({LinkId(2), Ticks(9), Ticks(10), {}, {}});
    const TopologyParts parts = std::move(edits).apply();
    CHECK(parts.links == std::vector{link_of(0, 1, 9, 10), link_of(1, 3), link_of(3, 2)});
}

TEST_CASE("edits of nonexistent links are refused") {
    TopologyEdits edits(small_parts());
    CHECK_THROWS_AS(edits.remove(LinkId(5)), InputError);
    CHECK_THROWS_WITH(edits.remove(LinksBetween{NodeId(2), NodeId(0)}), "no link goes from 2 to 0");
    CHECK_THROWS_AS(edits.slow({LinkId(5), {}, {}, {}, Decimal{2, 0}}), InputError);
    TopologyEdits none(TopologyParts{});
    CHECK_THROWS_AS(none.remove(LinkId(0)), InputError);
}

TEST_CASE("a factor multiplies beta, rounded up, or divides the bandwidth") {
    TopologyEdits abstract(small_parts());
    abstract.slow({LinksBetween{NodeId(0), NodeId(1)}, {}, {}, {}, Decimal{15, 1}});
    abstract.slow({LinkId(1), {}, Ticks(7), {}, Decimal{11, 1}});
    const TopologyParts slowed = std::move(abstract).apply();
    CHECK(slowed.links[0] == link_of(0, 1, 1, 3));
    CHECK(slowed.links[1] == link_of(1, 0, 1, 8));
    CHECK(slowed.links[2] == link_of(0, 1, 5, 9));

    TopologyParts parts;
    parts.npus = 2;
    parts.links = {physical_link(0, 1, {25, 0}), physical_link(1, 0, {25, 0})};
    TopologyEdits physical(parts);
    physical.slow({LinkId(0), {}, {}, {}, Decimal{4, 0}});
    physical.slow({LinkId(1), Ticks(700), {}, Decimal{10, 0}, Decimal{3, 0}});
    const TopologyParts result = std::move(physical).apply();
    CHECK(result.links[0].wire.bandwidth == Decimal{625, 2});
    CHECK(result.links[1].wire.alpha == Ticks(700));
    CHECK(result.links[1].wire.bandwidth == Decimal{333333333333333, 14});
}

TEST_CASE("a slowdown in the wrong units is refused") {
    TopologyEdits abstract(small_parts());
    CHECK_THROWS_AS(abstract.slow({LinkId(0), {}, {}, Decimal{5, 0}, {}}), InputError);
    TopologyParts parts;
    parts.npus = 2;
    parts.links = {physical_link(0, 1, {1, 6})};
    TopologyEdits physical(parts);
    CHECK_THROWS_AS(physical.slow({LinkId(0), {}, Ticks(5), {}, {}}), InputError);
}

TEST_CASE("a factor that leaves no bandwidth is refused") {
    TopologyParts parts;
    parts.npus = 2;
    parts.links = {physical_link(0, 1, {1, 6})};
    TopologyEdits edits(parts);
    CHECK_THROWS_AS(edits.slow({LinkId(0), {}, {}, {}, Decimal{1'000'000'000'000'000'000, 0}}), InputError);
}

TEST_CASE("times that overflow 64 bits are an input error, never a wrong number") {
    CHECK_THROWS_AS((void)(Ticks::max() + Ticks(1)), InputError);
    CHECK_THROWS_AS((void)(Ticks(-2) - Ticks::max()), InputError);
    CHECK_THROWS_AS((void)(Ticks::max() * 2), InputError);
    CHECK(Ticks(3) + Ticks(4) * 2 - Ticks(1) == Ticks(10));
}

TEST_CASE("a quotient keeps 15 digits, rounded down, and never wraps") {
    CHECK(divide({1, 0}, {4, 0}) == Decimal{25, 2});
    CHECK(divide({1, 0}, {3, 0}) == Decimal{333'333'333'333'333, 15});
    CHECK(divide({12'345'678'901'234'567, 16}, {1, 0}) == Decimal{123'456'789'012'345, 14});
    CHECK_THROWS_AS((void)divide({999'999'999'999'999, 0}, {1, 6}), InputError);
}

TEST_CASE("a decimal is what the user wrote") {
    CHECK(decimal_from(53.6870912) == Decimal{536870912, 7});
    CHECK(decimal_from(0.1) == Decimal{1, 1});
    CHECK(decimal_from(0) == Decimal{0, 0});
    CHECK(decimal_from(50) == Decimal{50, 0});
    CHECK(decimal_from(1e14) == Decimal{100'000'000'000'000, 0});
    CHECK(decimal_from(999999999999999.0) == Decimal{999'999'999'999'999, 0});
    CHECK(decimal_from(1e-18) == Decimal{1, 18});
    CHECK(decimal_from(1200.50) == Decimal{12005, 1});
    CHECK_THROWS_AS((void)decimal_from(-1), InputError);
    CHECK_THROWS_AS((void)decimal_from(1e15), InputError);
    CHECK_THROWS_AS((void)decimal_from(1e-19), InputError);
    CHECK_THROWS_AS((void)decimal_from(std::nan("")), InputError);
    CHECK_THROWS_AS((void)decimal_from(INFINITY), InputError);
}

TEST_CASE("a decimal of up to 15 digits survives conversion to double and back") {
    Rng rng(1);
    for (int i = 0; i < 20'000; ++i) {
        Decimal decimal = random_decimal(rng);
        if (decimal.mantissa >= 1'000'000'000'000'000) continue;
        const std::string text = std::to_string(decimal.mantissa) + "e-" + std::to_string(decimal.scale);
        while (decimal.scale > 0 && decimal.mantissa % 10 == 0) {
            decimal.mantissa /= 10;
            --decimal.scale;
        }
        CAPTURE(text);
        REQUIRE(decimal_from(std::stod(text)) == decimal);
    }
}

TEST_CASE("1 MiB at 50 GiB/s takes exactly 19531250 ticks") {
    const Decimal bandwidth = decimal_from(53.6870912);
    CHECK(beta_of(Bytes{1 << 20}, bandwidth) == Ticks(19'531'250));
    CHECK(beta_of(Bytes{(1 << 20) + 1}, bandwidth) == Ticks(19'531'269));
    CHECK(beta_of(Bytes{1}, decimal_from(1000)) == Ticks(1));
    CHECK(beta_of(Bytes{1'000'000}, decimal_from(0.1)) == Ticks(10'000'000'000));
    CHECK(beta_of(Bytes{3}, decimal_from(0.3)) == Ticks(10'000));
}

TEST_CASE("beta is the exact quotient rounded up: never off by one") {
    Rng rng(2);
    int compared = 0;
    for (int i = 0; i < 50'000; ++i) {
        const Decimal bandwidth = random_decimal(rng);
        // A multiple of the mantissa makes quotients that are whole, or one byte from it, where rounding is
        // hardest.
        std::int64_t bytes = static_cast<std::int64_t>(rng.below(std::uint64_t{1} << rng.below(50))) + 1;
        if (i % 2 == 0 && bandwidth.mantissa < 1'000'000) bytes = bandwidth.mantissa * 1000 + i % 3;
        const cpp_int exact =
            ceil_of(cpp_int(bytes) * 1000 * power_of_ten(bandwidth.scale), bandwidth.mantissa);
        CAPTURE(bytes);
        CAPTURE(bandwidth.mantissa);
        CAPTURE(bandwidth.scale);
        if (exact > kMaxLinkTicks.count()) {
            REQUIRE_THROWS_AS((void)beta_of(Bytes{bytes}, bandwidth), InputError);
        } else {
            REQUIRE(cpp_int(beta_of(Bytes{bytes}, bandwidth).count()) == exact);
            ++compared;
        }
    }
    CHECK(compared > 10'000);
}

TEST_CASE("alpha is the latency in picoseconds, halves rounded up") {
    CHECK(alpha_of(decimal_from(500)) == Ticks(500'000));
    CHECK(alpha_of(decimal_from(0.0005)) == Ticks(1));
    CHECK(alpha_of(decimal_from(0.0004999)) == Ticks(0));
    CHECK(alpha_of(decimal_from(1.2345)) == Ticks(1235));
    CHECK_THROWS_AS((void)alpha_of(decimal_from(1e14)), InputError);
    Rng rng(3);
    for (int i = 0; i < 20'000; ++i) {
        const Decimal latency = random_decimal(rng);
        const cpp_int unit = power_of_ten(latency.scale);
        const cpp_int exact = (cpp_int(latency.mantissa) * 2000 + unit) / (2 * unit);
        if (exact > kMaxLinkTicks.count()) continue;
        REQUIRE(cpp_int(alpha_of(latency).count()) == exact);
    }
}

TEST_CASE("scaling a time up rounds up exactly") {
    CHECK(scale_up(Ticks(2), decimal_from(1.5)) == Ticks(3));
    CHECK(scale_up(Ticks(3), decimal_from(1.5)) == Ticks(5));
    CHECK(scale_up(Ticks(1), decimal_from(0.000001)) == Ticks(1));
    CHECK(scale_up(Ticks(10), decimal_from(1.1)) == Ticks(11));
    CHECK_THROWS_AS((void)scale_up(kMaxLinkTicks, decimal_from(1.5)), InputError);
    Rng rng(4);
    for (int i = 0; i < 20'000; ++i) {
        const Ticks value(static_cast<std::int64_t>(rng.below(1 << 30)));
        const Decimal factor = random_decimal(rng);
        const cpp_int exact = ceil_of(cpp_int(value.count()) * factor.mantissa, power_of_ten(factor.scale));
        if (exact > kMaxLinkTicks.count()) continue;
        REQUIRE(cpp_int(scale_up(value, factor).count()) == exact);
    }
}

TEST_CASE("a quotient of decimals is exact where 15 digits suffice, and rounded down otherwise") {
    CHECK(divide({25, 0}, {2, 0}) == Decimal{125, 1});
    CHECK(divide({50, 0}, {25, 1}) == Decimal{20, 0});
    CHECK(divide({1, 0}, {3, 0}) == Decimal{333333333333333, 15});
    CHECK(divide({100, 0}, {3, 0}) == Decimal{333333333333333, 13});
    CHECK(divide({0, 0}, {3, 0}) == Decimal{0, 0});
    Rng rng(5);
    for (int i = 0; i < 20'000; ++i) {
        const Decimal value{static_cast<std::int64_t>(rng.below(1'000'000'000)) + 1,
                            static_cast<int>(rng.below(6))};
        const Decimal divisor{static_cast<std::int64_t>(rng.below(1'000'000)) + 1,
                              static_cast<int>(rng.below(4))};
        const Decimal quotient = divide(value, divisor);
        // quotient <= value / divisor, and what is missing is less than one part in 10^14 or than the 18th
        // decimal
        const cpp_int found = cpp_int(quotient.mantissa) * divisor.mantissa * power_of_ten(value.scale);
        const cpp_int exact = cpp_int(value.mantissa) * power_of_ten(quotient.scale + divisor.scale);
        const cpp_int last_decimal = cpp_int(divisor.mantissa) * power_of_ten(value.scale + quotient.scale);
        const cpp_int missing = exact - found;
        REQUIRE(missing >= 0);
        REQUIRE((missing * power_of_ten(14) < exact || missing * power_of_ten(18) < last_decimal));
        REQUIRE(quotient.mantissa < 1'000'000'000'000'000);
    }
}

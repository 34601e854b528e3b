#include "core/generators/build.hpp"

#include <fmt/format.h>

#include <limits>

namespace tutti::generators {

std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

void expect_between(std::uint64_t value, std::uint64_t least, std::uint64_t most, const std::string& place) {
    if (value >= least && value <= most) return;
    throw InputError(fmt::format("expected an integer from {} to {}, found {}", least, most, value), place);
}

void expect_fits(std::uint64_t nodes, std::uint64_t links, const std::string& place) {
    if (nodes > kMaxNodes) {
        throw InputError(fmt::format("this makes a topology of more than {} nodes", kMaxNodes), place);
    }
    if (links > kMaxLinks) {
        throw InputError(fmt::format("this makes a topology of more than {} links", kMaxLinks), place);
    }
}

void expect_wires(std::span<const Wire> wires, std::size_t dimensions, const std::string& place) {
    if (wires.size() == 1 || wires.size() == dimensions) return;
    throw InputError(fmt::format("expected 1 wire or {}, found {}", dimensions, wires.size()), place);
}

void add_pair(std::vector<Link>& links, std::size_t a, std::size_t b, const Wire& wire) {
    links.push_back({NodeId(a), NodeId(b), wire});
    links.push_back({NodeId(b), NodeId(a), wire});
}

}  // namespace tutti::generators

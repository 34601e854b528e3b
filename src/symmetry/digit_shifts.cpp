// Write the number of an NPU with digits, the last of stride 1: x = … + d * s + …, 0 <= d < m, where s * m
// divides N. The shift of that digit is x -> x with d + 1 mod m for d. Tori, hypercubes and fully connected
// networks are built of such digits, so their symmetries are found by trying all pairs (s, m): N = 40,000 has
// 42 divisors and some 400 pairs, and all but a few fail at one of the first nodes.
//
// Shifts of digits commute, and a chain of digits that do not overlap (each stride a multiple of the last
// stride * modulus) acts freely, because every element but the identity changes some digit. The chain with
// the largest product is found as the heaviest path in the DAG of divisors of N. Among equal products the
// chain with fewer digits is taken: one generator of order 64 expands faster than six of order 2.

#include "symmetry/orbits.hpp"
#include "symmetry/symmetry_search.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tutti::symmetry {
namespace {

struct Digit {
    std::uint32_t stride = 1, modulus = 1;

    [[nodiscard]] std::uint32_t shifted(std::uint32_t x) const {
        const std::uint32_t digit = x / stride % modulus;
        return digit + 1 == modulus ? x - digit * stride : x + stride;
    }
};

/// Each node's out-links as sorted pairs of destination and wire.
class Adjacency {
  public:
    explicit Adjacency(const Topology& topology) {
        std::map<Wire, std::uint32_t> wires;
        auto last = wires.end();
        begin_.push_back(0);
        for (std::size_t n = 0; n < topology.npus(); ++n) {
            for (const LinkId id : topology.out_links(NodeId(n))) {
                const Link& link = topology.link(id);
                if (last == wires.end() || last->first != link.wire)
                    last = wires.try_emplace(link.wire, static_cast<std::uint32_t>(wires.size())).first;
                rows_.push_back((std::uint64_t{link.dst.value()} << 32) | last->second);
            }
            std::sort(rows_.begin() + static_cast<std::ptrdiff_t>(begin_.back()), rows_.end());
            begin_.push_back(rows_.size());
        }
    }

    [[nodiscard]] bool keeps(const Digit& digit) const {
        std::vector<std::uint64_t> image;
        const auto npus = static_cast<std::uint32_t>(begin_.size() - 1);
        for (std::uint32_t n = 0; n < npus; ++n) {
            const std::uint32_t to = digit.shifted(n);
            const auto row = this->row(n), expected = this->row(to);
            if (row.size() != expected.size()) return false;
            image.clear();
            for (const std::uint64_t out : row) {
                const auto dst = static_cast<std::uint32_t>(out >> 32);
                image.push_back((std::uint64_t{digit.shifted(dst)} << 32) | (out & 0xFFFFFFFFU));
            }
            std::ranges::sort(image);
            if (!std::ranges::equal(image, expected)) return false;
        }
        return true;
    }

  private:
    [[nodiscard]] std::span<const std::uint64_t> row(std::uint32_t node) const {
        return std::span(rows_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
    }
    std::vector<std::uint64_t> rows_;
    std::vector<std::size_t> begin_;
};

std::vector<std::uint32_t> divisors(std::uint32_t n) {
    std::vector<std::uint32_t> result;
    for (std::uint32_t d = 1; d <= n / d; ++d) {
        if (n % d != 0) continue;
        result.push_back(d);
        if (d != n / d) result.push_back(n / d);
    }
    std::ranges::sort(result);
    return result;
}

/// The chain with the largest product of moduli, lowest stride first.
std::vector<Digit> best_chain(const std::vector<Digit>& digits, const std::vector<std::uint32_t>& divisors) {
    struct Best {
        std::uint64_t product = 1;
        std::vector<Digit> chain;
    };
    std::map<std::uint32_t, Best> best;
    for (const std::uint32_t end : divisors) {
        Best here;
        const auto improve = [&](const Best& next) {
            const bool shorter = next.product == here.product && next.chain.size() < here.chain.size();
            if (next.product > here.product || shorter) here = next;
        };
        for (const auto& [divisor, before] : best) {
            if (end % divisor == 0) improve(before);
        }
        for (const Digit& digit : digits) {
            if (digit.stride * digit.modulus != end) continue;
            Best next = best[digit.stride];
            next.product *= digit.modulus;
            next.chain.push_back(digit);
            improve(next);
        }
        best[end] = std::move(here);
    }
    return best[divisors.back()].chain;
}

Generator generator_of(const Digit& digit, std::uint32_t npus) {
    Generator generator;
    generator.order = digit.modulus;
    for (std::uint32_t n = 0; n < npus; ++n) generator.images.emplace_back(digit.shifted(n));
    return generator;
}

bool keeps_demands(const ChunkAction& chunks, const Digit& digit, std::uint32_t npus) {
    const auto images = chunks.images(generator_of(digit, npus));
    return std::ranges::find(images, kNoImage) == images.end();
}

}  // namespace

std::vector<Generator> digit_shifts(const Instance& instance) {
    const Topology& topology = instance.topology();
    if (topology.switches() > 0) return {};
    const std::uint32_t npus = topology.npus();
    const Adjacency adjacency(topology);
    const auto strides = divisors(npus);
    std::vector<Digit> digits;
    for (const std::uint32_t stride : strides) {
        for (const std::uint32_t modulus : divisors(npus / stride)) {
            const Digit digit{stride, modulus};
            if (modulus > 1 && adjacency.keeps(digit)) digits.push_back(digit);
        }
    }
    // The demands are usually symmetric where the network is; checking them per digit would take longer.
    auto chain = best_chain(digits, strides);
    const ChunkAction chunks(instance);
    const auto keeps = [&](const Digit& digit) { return keeps_demands(chunks, digit, npus); };
    if (!std::ranges::all_of(chain, keeps)) {
        std::erase_if(digits, [&](const Digit& digit) { return !keeps(digit); });
        chain = best_chain(digits, strides);
    }
    std::vector<Generator> generators;
    for (const Digit& digit : chain) generators.push_back(generator_of(digit, npus));
    return generators;
}

}  // namespace tutti::symmetry

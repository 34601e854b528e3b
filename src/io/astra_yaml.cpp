// Builds the network that ASTRA-sim's congestion-aware analytical backend builds from a network.yml. Every
// dimension is made of basic networks, and two NPUs are in the same one when their addresses differ in that
// dimension only. Dimension 0 varies fastest, so NPU = a0 + n0 * (a1 + n1 * (a2 + …)).
// - Ring: both directions, each link with the whole bandwidth.
// - FullyConnected: a link for each ordered pair, each with the whole bandwidth.
// - Switch: one more node, and to and from every NPU a link with the whole bandwidth and latency. It stores
//   and forwards, so a message pays both links in full; that is the default switch of our format.
// - Mesh (of forks only): a ring that does not close.
// Nothing is divided: the bandwidth is that of a link in one direction. But ASTRA-sim's GB is 2^30 bytes, and
// ours 10^9, so a bandwidth of 50 becomes 53.6870912.
//
// Links are listed dimension by dimension, row by row (by the lowest NPU of the row), within a row as our
// generators list ring, full, star and line; switches are numbered in the order of their rows.

#include "io/astra_yaml.hpp"

#include "core/generators/build.hpp"
#include "io/flat_yaml.hpp"
#include "io/json_view.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tutti::io {
namespace {

using generators::capped_product;
using generators::capped_sum;

enum class Block { Ring, FullyConnected, Switch, Mesh };

struct Dimension {
    Block block = Block::Ring;
    std::uint64_t npus = 0;
    Wire wire;
    std::string place;  ///< of its number of NPUs
};

constexpr std::size_t kMaxDimensions = 32;
// Far more than ASTRA-sim can run; takes less than half a gigabyte here.
constexpr std::uint64_t kMostNpus = std::uint64_t{1} << 20, kMostLinks = std::uint64_t{1} << 23;

// The ranges of our own format; see wire_json.cpp.
constexpr double kLeastAstraBandwidth = 1e-6, kMostAstraBandwidth = 9e8, kMostAstraLatency = 8e12;

Block block_of(const YamlWord& word) {
    static const std::vector<std::string_view> kNames{"Ring", "FullyConnected", "Switch", "Mesh"};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (word.text == kNames[i]) return static_cast<Block>(i);
    }
    if (word.text == "Mesh2D") {
        throw InputError("Mesh2D is one fork's own; write [ Mesh, Mesh ] with npus_count [ width, height ]",
                         word.place);
    }
    const auto guess = nearest(word.text, kNames);
    throw InputError(fmt::format("expected Ring, FullyConnected or Switch, found '{}'{}", word.text,
                                 guess ? fmt::format("; did you mean '{}'?", *guess) : ""),
                     word.place);
}

std::uint64_t count_of(const YamlWord& word) {
    std::uint64_t count = 0;
    const char* const end = word.text.data() + word.text.size();
    const auto [stop, error] = std::from_chars(word.text.data(), end, count);
    if (error != std::errc() || stop != end || count < 2 || count > kMostNpus) {
        throw InputError(
            fmt::format("expected a number of NPUs from 2 to {}, found '{}'", kMostNpus, word.text),
            word.place);
    }
    return count;
}

Decimal decimal_of(const YamlWord& word, double least, double most, std::string_view what) {
    double value = 0;
    const char* const end = word.text.data() + word.text.size();
    const auto [stop, error] = std::from_chars(word.text.data(), end, value);
    if (error != std::errc() || stop != end || !(value >= least && value <= most)) {
        throw InputError(fmt::format("expected {} from {} to {}, found '{}'", what, least, most, word.text),
                         word.place);
    }
    try {
        return decimal_from(value);
    } catch (const InputError& refusal) {
        throw refusal.at(word.place);
    }
}

/// 2^30 bytes per second as 10^9 bytes per second: exact, or rounded to 15 digits.
Decimal decimal_gigabytes(Decimal binary) {
    __extension__ using Wide = __int128;
    constexpr Wide kMost = 1'000'000'000'000'000;
    Wide mantissa = static_cast<Wide>(binary.mantissa) << 30;
    int scale = binary.scale + 9;
    for (; scale > 0 && (mantissa >= kMost || scale > 18 || mantissa % 10 == 0); --scale) {
        mantissa = (mantissa + (mantissa % 10 >= 5 ? 10 : 0)) / 10;
    }
    return {static_cast<std::int64_t>(mantissa), scale};
}

const std::vector<YamlWord>& words_of(const FlatYaml& yaml, std::string_view key, std::size_t count) {
    const YamlEntry* const entry = yaml.find(key);
    if (entry == nullptr) {
        throw InputError(
            fmt::format("expected a key '{}': an ASTRA-sim network has topology, npus_count, "
                        "bandwidth and latency",
                        key));
    }
    if (!entry->flat || entry->words.empty() || entry->words.size() > kMaxDimensions) {
        throw InputError(fmt::format("expected '{}' to be a list with 1 to {} values, one for each dimension",
                                     key, kMaxDimensions),
                         entry->key.place);
    }
    if (count != 0 && entry->words.size() != count) {
        throw InputError(
            fmt::format("expected {} values, as 'topology' has, found {}", count, entry->words.size()),
            entry->key.place);
    }
    return entry->words;
}

std::vector<Dimension> dimensions_of(const FlatYaml& yaml) {
    const auto& blocks = words_of(yaml, "topology", 0);
    const auto& counts = words_of(yaml, "npus_count", blocks.size());
    const auto& bandwidths = words_of(yaml, "bandwidth", blocks.size());
    const auto& latencies = words_of(yaml, "latency", blocks.size());
    std::vector<Dimension> dimensions;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const Decimal bandwidth =
            decimal_of(bandwidths[i], kLeastAstraBandwidth, kMostAstraBandwidth, "GB/s");
        const Decimal latency = decimal_of(latencies[i], 0, kMostAstraLatency, "ns");
        dimensions.push_back({block_of(blocks[i]), count_of(counts[i]),
                              Wire{alpha_of(latency), Ticks(0), decimal_gigabytes(bandwidth)},
                              counts[i].place});
    }
    return dimensions;
}

std::uint64_t links_in_row(const Dimension& dimension) {
    const std::uint64_t n = dimension.npus;
    switch (dimension.block) {
        case Block::Ring:
            return n == 2 ? 2 : 2 * n;
        case Block::FullyConnected:
            return capped_product(n, n - 1);
        case Block::Switch:
            return 2 * n;
        case Block::Mesh:
            return 2 * (n - 1);
    }
    throw InternalError("a dimension of unknown kind");
}

struct Sizes {
    std::uint64_t npus = 1, nodes = 0, links = 0;
};

/// Checked before anything is built, so that a short file cannot demand a huge topology.
Sizes checked_sizes(const std::vector<Dimension>& dimensions) {
    Sizes sizes;
    for (const Dimension& dimension : dimensions) {
        sizes.npus = capped_product(sizes.npus, dimension.npus);
        if (sizes.npus > kMostNpus) {
            throw InputError(fmt::format("this makes a network of more than {} NPUs", kMostNpus),
                             dimension.place);
        }
    }
    sizes.nodes = sizes.npus;
    for (const Dimension& dimension : dimensions) {
        const std::uint64_t rows = sizes.npus / dimension.npus;
        if (dimension.block == Block::Switch) sizes.nodes += rows;
        sizes.links = capped_sum(sizes.links, capped_product(rows, links_in_row(dimension)));
        if (sizes.links > kMostLinks) {
            throw InputError(fmt::format("this makes a network of more than {} links", kMostLinks),
                             dimension.place);
        }
    }
    return sizes;
}

/// Joins the NPUs first, first + stride, …
void join_row(TopologyParts& parts, const Dimension& dimension, std::size_t first, std::size_t stride) {
    const auto npu = [&](std::uint64_t i) { return first + i * stride; };
    const std::uint64_t n = dimension.npus;
    switch (dimension.block) {
        case Block::Ring:
        case Block::Mesh: {
            const bool closes = dimension.block == Block::Ring && n > 2;
            for (std::uint64_t i = 0; i < (closes ? n : n - 1); ++i) {
                generators::add_pair(parts.links, npu(i), npu((i + 1) % n), dimension.wire);
            }
            break;
        }
        case Block::FullyConnected:
            for (std::uint64_t i = 0; i < n; ++i) {
                for (std::uint64_t j = i + 1; j < n; ++j) {
                    generators::add_pair(parts.links, npu(i), npu(j), dimension.wire);
                }
            }
            break;
        case Block::Switch:
            for (std::uint64_t i = 0; i < n; ++i) {
                generators::add_pair(parts.links, npu(i), parts.nodes(), dimension.wire);
            }
            parts.switches.emplace_back();
            break;
    }
}

TopologyParts network_of(const std::vector<Dimension>& dimensions) {
    const Sizes sizes = checked_sizes(dimensions);
    TopologyParts parts;
    parts.npus = static_cast<std::uint32_t>(sizes.npus);
    parts.switches.reserve(sizes.nodes - sizes.npus);
    parts.links.reserve(sizes.links);
    std::size_t stride = 1;
    for (const Dimension& dimension : dimensions) {
        for (std::size_t first = 0; first < sizes.npus; ++first) {
            if (first / stride % dimension.npus == 0) join_row(parts, dimension, first, stride);
        }
        stride *= dimension.npus;
    }
    return parts;
}

}  // namespace

TopologyParts read_astra_network(Source& source) {
    const FlatYaml yaml(source);
    try {
        return network_of(dimensions_of(yaml));
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

}  // namespace tutti::io

// A link that has no time to lose starts at multiples of its busy time, or nearly so, and a program with six
// starts instead of sixty is answered where the other is not.

#include "models/encode/pressed.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace tutti::models {
namespace {

/// From the first start of any commodity on a hop to the last one.
struct Span {
    Units64 first = std::numeric_limits<Units64>::max(), last = -1;
};

/// A hop starts at multiples of its first leg's busy time after its span begins, or before it ends.
void keep_to_multiples(Program& program, const Routing& routing, const Quotient& quotient,
                       std::span<const std::optional<SumStarts>> starts) {
    std::vector<std::vector<Span>> spans;
    for (const Network& network : routing.networks()) spans.emplace_back(network.hops.size());
    const auto each_hop = [&](auto visit) {
        for (std::size_t c = 0; c < routing.commodities().size(); ++c) {
            const Commodity& commodity = routing.commodities()[c];
            const std::optional<SumStarts>& own = starts[quotient.representative[c]];
            if (!own || commodity.moves == Moves::Sum) continue;
            const Network& network = routing.network_of(commodity);
            for (std::uint32_t h = 0; h < network.hops.size(); ++h)
                visit(spans[commodity.network][h], network.hops[h], own->copy, quotient.hop(c, h));
        }
    };
    each_hop([](Span& span, const Hop&, const Starts& of, std::uint32_t h) {
        const Starts::Range& range = of.range(h);
        if (range.first > range.last) return;
        span.first = std::min(span.first, range.first);
        span.last = std::max(span.last, range.last);
    });
    each_hop([&](const Span& span, const Hop& hop, const Starts& of, std::uint32_t h) {
        const Units64 busy = hop.legs.front().busy;
        const Starts::Range& range = of.range(h);
        for (Units64 t = range.first; t <= range.last; ++t) {
            if ((t - span.first) % busy != 0 && (span.last - t) % busy != 0) program.fix(!*of.at(h, t));
        }
    });
}

/// Known hops may be taken at any time, others never.
void keep_to_ways(Program& program, const Routing& routing, std::span<const std::optional<SumStarts>> starts,
                  std::span<const Transfer> ways) {
    std::set<std::pair<std::size_t, std::uint32_t>> known;
    for (const Transfer& transfer : ways) known.emplace(transfer.commodity, transfer.hop);
    for (std::size_t c = 0; c < starts.size(); ++c) {
        if (!starts[c] || routing.commodities()[c].moves == Moves::Sum) continue;
        starts[c]->copy.each([&](std::uint32_t h, Units64, Literal literal) {
            if (!known.contains({c, h})) program.fix(!literal);
        });
    }
}

}  // namespace

void press(Program& program, const Routing& routing, const Quotient& quotient,
           std::span<const std::optional<SumStarts>> starts, std::span<const Transfer> ways) {
    if (ways.empty()) {
        keep_to_multiples(program, routing, quotient, starts);
    } else {
        keep_to_ways(program, routing, starts, ways);
    }
}

}  // namespace tutti::models

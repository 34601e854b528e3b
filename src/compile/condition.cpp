#include "compile/condition.hpp"

#include <algorithm>

namespace tutti::compile {
namespace {

std::uint64_t key(std::uint32_t rank, std::uint32_t chunk) { return (std::uint64_t{rank} << 32) | chunk; }

/// Whose copy of a plain chunk each rank ends with, for those that did not have one.
std::unordered_map<std::uint64_t, std::uint32_t> origins_of(const Part& part) {
    std::unordered_map<std::uint64_t, std::uint32_t> origins;
    for (const Event& event : events_of(part.messages)) {
        if (!event.arrives) continue;
        const RankMessage& m = part.messages[event.message];
        const auto before = origins.find(key(m.from, m.chunk));
        const std::uint32_t origin = before == origins.end() ? m.from : before->second;
        origins.try_emplace(key(m.to, m.chunk), origin);
    }
    return origins;
}

}  // namespace

plan::Condition condition_of(const Part& part, const Places& places) {
    plan::Condition condition;
    for (std::uint32_t r = 0; r < places.ranks(); ++r) condition.inputs[Rank(r)];
    const auto origins = origins_of(part);
    const auto input = [&](std::uint32_t rank, std::uint32_t chunk) {
        return plan::Contribution{Rank(rank), places.input(rank, chunk).value()};
    };
    for (std::uint32_t c = 0; c < places.chunks(); ++c) {
        const Demand demand = places.demand(c);
        std::vector<plan::Contribution> sum;
        for (const NodeId holder : demand.holders) {
            sum.push_back(input(places.rank_of(holder), c));
            condition.inputs[sum.back().rank].push_back(sum.back().chunk);
        }
        std::ranges::sort(sum);
        for (const NodeId receiver : demand.receivers) {
            const std::uint32_t r = places.rank_of(receiver);
            const std::int64_t place = places.output(r, c).value();
            auto& wanted = condition.outputs[Rank(r)][place];
            if (demand.reduction || sum.size() == 1) {
                wanted = sum;
            } else {
                const auto origin = origins.find(key(r, c));
                wanted = {input(origin == origins.end() ? r : origin->second, c)};
            }
        }
    }
    for (const OwnBlock& own : places.own_blocks()) {
        const Rank rank(own.rank);
        for (std::int64_t k = 0; k < own.count; ++k) {
            condition.inputs[rank].push_back(own.input + k);
            condition.outputs[rank][own.output + k] = {{rank, own.input + k}};
        }
    }
    for (auto& [rank, chunks] : condition.inputs) std::ranges::sort(chunks);
    return condition;
}

}  // namespace tutti::compile

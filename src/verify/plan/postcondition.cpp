#include "verify/plan/postcondition.hpp"

namespace tutti::verify {

bool Postcondition::demands_of(Rank rank) const {
    if (condition != nullptr) return condition->outputs.contains(rank);
    switch (goal) {
        case CollectiveKind::Reduce:
        case CollectiveKind::Gather:
            return rank == root;
        case CollectiveKind::AllToNext:
            return rank > Rank(0);
        case CollectiveKind::Custom:
            return false;
        default:
            return true;
    }
}

std::optional<SumId> Postcondition::expected(Rank rank, std::int64_t place, Sums& sums) const {
    if (!demands_of(rank)) return std::nullopt;
    if (condition != nullptr) {
        const auto& chunks = condition->outputs.at(rank);
        const auto wanted = chunks.find(place / places_per_chunk);
        if (wanted == chunks.end()) return std::nullopt;
        std::vector<SumRun> runs;
        for (const plan::Contribution& part : wanted->second) {
            const std::int64_t at = part.chunk * places_per_chunk + place % places_per_chunk;
            const auto from = static_cast<std::int32_t>(part.rank.value());
            runs.push_back({at, from, from, 1});
        }
        return sums.of(std::move(runs));
    }
    const auto everyone = [&](std::int64_t chunk) { return sums.of({SumRun{chunk, 0, ranks - 1, 1}}); };
    const auto share = [&](std::int64_t at) { return static_cast<std::int32_t>(at / block); };
    const auto own = static_cast<std::int32_t>(rank.value()),
               source = static_cast<std::int32_t>(root.value());
    switch (goal) {
        case CollectiveKind::AllReduce:
        case CollectiveKind::Reduce:
            return everyone(place);
        case CollectiveKind::AllGather:
        case CollectiveKind::Gather:
            return sums.single(share(place), place % block);
        case CollectiveKind::ReduceScatter:
            return everyone(own * block + place);
        case CollectiveKind::AllToAll:
            return sums.single(share(place), own * block + place % block);
        case CollectiveKind::Broadcast:
            return sums.single(source, place);
        case CollectiveKind::Scatter:
            return sums.single(source, own * block + place);
        case CollectiveKind::AllToNext:
            return sums.single(own - 1, place);
        case CollectiveKind::SendRecv:
            return sums.single(senders.empty() ? (own + ranks - 1) % ranks
                                               : static_cast<std::int32_t>(senders[rank.index()].value()),
                               place);
        case CollectiveKind::AllToAllV:
        case CollectiveKind::Permute:
        case CollectiveKind::Custom:
            break;
    }
    return std::nullopt;
}

}  // namespace tutti::verify

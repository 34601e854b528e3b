#include "verify/plan/send_goal.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::verify {
namespace {
using plan::SendChunk;

/// All counts equal and not zero; that of `root`, if any, may be zero.
bool even(const std::vector<std::size_t>& counts, std::optional<std::size_t> root = std::nullopt) {
    std::size_t most = 0;
    for (const std::size_t count : counts) most = std::max(most, count);
    for (std::size_t node = 0; node < counts.size(); ++node) {
        if (counts[node] != most && !(node == root && counts[node] == 0)) return false;
    }
    return most > 0;
}

/// The only node with a count.
std::optional<std::size_t> only(const std::vector<std::size_t>& counts) {
    std::optional<std::size_t> found;
    for (std::size_t node = 0; node < counts.size(); ++node) {
        if (counts[node] == 0) continue;
        if (found) return std::nullopt;
        found = node;
    }
    return found;
}

}  // namespace

ChunkShape::ChunkShape(std::span<const SendChunk> chunks, std::int32_t nodes)
    : nodes_(static_cast<std::size_t>(nodes)), from_(nodes_), to_(nodes_) {
    std::vector<std::int64_t> addresses;
    addresses.reserve(chunks.size());
    for (const SendChunk& chunk : chunks) addresses.push_back(chunk.address);
    std::ranges::sort(addresses);
    sums_ = std::ranges::adjacent_find(addresses) != addresses.end();
    if (chunks.empty()) one_holder_ = false;
    for (const SendChunk& chunk : chunks) {
        if (chunk.pre.size() != 1) {
            one_holder_ = false;
            return;
        }
        const plan::PlanNode holder = chunk.pre.front();
        const bool keeps = std::ranges::binary_search(chunk.post, holder);
        all_receive_ = all_receive_ && chunk.post.size() + (keeps ? 0 : 1) == nodes_;
        one_receives_ = one_receives_ && chunk.post.size() == 1;
        if (sums_) continue;
        ++from_[holder.index()];
        if (!one_receives_) continue;
        ++to_[chunk.post.front().index()];
        pairs_.push_back({holder, chunk.post.front()});
    }
    std::ranges::sort(pairs_);
    if (sums_) add_sums(chunks);
}

void ChunkShape::add_sums(std::span<const SendChunk> chunks) {
    std::vector<const SendChunk*> sorted;
    for (const SendChunk& chunk : chunks) sorted.push_back(&chunk);
    std::ranges::sort(sorted, {},
                      [](const SendChunk* chunk) { return std::pair(chunk->address, chunk->pre.front()); });
    for (std::size_t begin = 0; begin < sorted.size();) {
        std::size_t end = begin;
        for (; end < sorted.size() && sorted[end]->address == sorted[begin]->address; ++end) {
            const bool next = sorted[end]->pre.front().index() == end - begin;
            whole_sums_ = whole_sums_ && next && sorted[end]->post == sorted[begin]->post;
        }
        whole_sums_ = whole_sums_ && end - begin == nodes_;
        if (one_receives_) ++to_[sorted[begin]->post.front().index()];
        begin = end;
    }
}

bool ChunkShape::makes_pairs(CollectiveKind goal) const {
    if (!one_receives_) return false;
    if (goal == CollectiveKind::AllToAll) {
        std::size_t pairs = 0, least = pairs_.size(), most = 0;
        for (std::size_t begin = 0; begin < pairs_.size();) {
            std::size_t end = begin;
            while (end < pairs_.size() && pairs_[end] == pairs_[begin]) ++end;
            if (pairs_[begin].from != pairs_[begin].to) {
                ++pairs;
                least = std::min(least, end - begin);
                most = std::max(most, end - begin);
            }
            begin = end;
        }
        return pairs == nodes_ * (nodes_ - 1) && least == most;
    }
    // All to next: the last rank sends to nobody, or (cyclic) to the first.
    const std::size_t senders = goal == CollectiveKind::AllToNext ? nodes_ - 1 : nodes_;
    const bool onward = std::ranges::all_of(
        pairs_, [&](const Ends& ends) { return ends.to.index() == (ends.from.index() + 1) % nodes_; });
    const std::size_t last = nodes_ - 1;
    return nodes_ > 1 && onward && (goal == CollectiveKind::SendRecv || from_[last] == 0) && senders > 0 &&
           even(from_, goal == CollectiveKind::AllToNext ? std::optional(last) : std::nullopt);
}

bool ChunkShape::makes(CollectiveKind goal) const {
    if (!one_holder_) return goal == CollectiveKind::Custom;
    switch (goal) {
        case CollectiveKind::AllGather:
            return !sums_ && all_receive_ && even(from_);
        case CollectiveKind::Broadcast:
            return !sums_ && all_receive_ && only(from_);
        case CollectiveKind::Scatter:
            return !sums_ && one_receives_ && only(from_) && even(to_, only(from_));
        case CollectiveKind::Gather:
            return !sums_ && one_receives_ && only(to_) && even(from_, only(to_));
        case CollectiveKind::AllToAll:
        case CollectiveKind::AllToNext:
        case CollectiveKind::SendRecv:
            return !sums_ && makes_pairs(goal);
        case CollectiveKind::AllReduce:
            return sums_ && whole_sums_ && all_receive_;
        case CollectiveKind::ReduceScatter:
            return sums_ && whole_sums_ && one_receives_ && even(to_);
        case CollectiveKind::Reduce:
            return sums_ && whole_sums_ && one_receives_ && only(to_);
        case CollectiveKind::AllToAllV:
        case CollectiveKind::Permute:
        case CollectiveKind::Custom:
            return true;
    }
    return false;
}

CollectiveKind ChunkShape::goal() const {
    for (const CollectiveKind goal :
         {CollectiveKind::AllGather, CollectiveKind::AllReduce, CollectiveKind::AllToAll,
          CollectiveKind::ReduceScatter, CollectiveKind::Broadcast, CollectiveKind::Reduce,
          CollectiveKind::Gather, CollectiveKind::Scatter, CollectiveKind::AllToNext,
          CollectiveKind::SendRecv}) {
        if (makes(goal)) return goal;
    }
    return CollectiveKind::Custom;
}

std::optional<Rank> ChunkShape::root(CollectiveKind goal) const {
    if (!has_root(goal) || !makes(goal)) return std::nullopt;
    const bool from = goal == CollectiveKind::Broadcast || goal == CollectiveKind::Scatter;
    const auto found = only(from ? from_ : to_);
    return found ? std::optional(Rank(*found)) : std::nullopt;
}

}  // namespace tutti::verify

// The second half of a step of the lockstep engine: links that found nothing in the primary block search the
// others. lockstep_engine.cpp explains the engine.

#include "heuristics/lockstep/lockstep_engine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

namespace tutti::heuristics {

using namespace lockstep_choice;

namespace {

constexpr std::uint64_t kPatience = 16;  // steps for which the supplier of a starved urgent node is urgent
constexpr std::uint32_t kTries = 4;  // blocks that a node that is not urgent searches, after the primary one
constexpr std::uint8_t kLongestBackOff = 5;  // 2^5 steps
constexpr std::uint32_t kExchanges = 256;    // failed exchanges after which a step tries no more
constexpr std::size_t kWindow = 32;          // searches whose memory is prefetched

}  // namespace

std::uint32_t LockstepEngine::next_block(std::uint32_t from, std::uint32_t node, std::uint32_t primary,
                                         std::uint32_t start, std::uint32_t end) const {
    const Word* has = &nonempty_[from * row_];
    const Word* lacks = &incomplete_[node * row_];
    for (std::uint32_t w = start / 64; w * 64 < end; ++w) {
        Word both = has[w] & lacks[w];
        if (w == start / 64) both &= ~Word{0} << (start % 64);
        if (primary / 64 == w) both &= ~(Word{1} << (primary % 64));
        if (both == 0) continue;
        const auto block = w * 64 + static_cast<std::uint32_t>(std::countr_zero(both));
        return block < end ? block : kNone;
    }
    return kNone;
}

void LockstepEngine::serve_from_others(std::uint32_t primary) {
    // Searching another block costs a few cache misses, so many searches are interleaved: while one waits for
    // its lines, the others use theirs.
    exchanges_ = kExchanges;
    std::array<Search, kWindow> window;
    std::size_t open = 0;
    for (std::size_t i = 0; i < unserved_.size() || open > 0;) {
        while (open < kWindow && i < unserved_.size()) {
            window[open] = begin_search(unserved_[i++]);
            if (advance(window[open], primary)) {
                ++open;
            } else {
                give_up(window[open], primary);
            }
        }
        std::size_t kept = 0;
        for (std::size_t k = 0; k < open; ++k) {
            Search& search = window[k];
            if (look(search, primary)) continue;
            if (search.tries > 0 && advance(search, primary)) {
                window[kept++] = search;
            } else {
                give_up(search, primary);
            }
        }
        open = kept;
    }
}

LockstepEngine::Search LockstepEngine::begin_search(const Unserved& unserved) const {
    const auto [node, in_link] = unserved;
    Search search;
    search.node = node;
    search.in_link = in_link;
    const std::uint64_t hash = hash_of(nodes_ + in_link);
    const auto count = static_cast<std::uint32_t>(blocks_);
    search.random = part(hash, 1);
    search.urgent = is_urgent(node);
    search.start = search.at = below(hash, count);
    search.end = count;
    search.tries = search.urgent ? count : kTries;
    std::tie(search.near1, search.near2) =
        search.urgent ? neighbours(node, in_link, search.random) : std::pair(node, node);
    return search;
}

bool LockstepEngine::advance(Search& search, std::uint32_t primary) const {
    const std::uint32_t from = in_from_[search.in_link];
    search.block = next_block(from, search.node, primary, search.at, search.end);
    if (search.block == kNone && search.end > search.start) {
        search.end = search.start;
        search.block = next_block(from, search.node, primary, 0, search.end);
    }
    if (search.block == kNone) return false;
    search.at = search.block + 1;
    --search.tries;
    const Line* const block = claimed_[search.block];
    __builtin_prefetch(delay_ == 1 ? &block[from] : &arrived_[search.block][from]);
    __builtin_prefetch(&block[search.node]);
    if (search.urgent) {
        __builtin_prefetch(&block[search.near1]);
        __builtin_prefetch(&block[search.near2]);
    }
    return true;
}

bool LockstepEngine::look(const Search& search, std::uint32_t primary) {
    const std::uint32_t node = search.node, in_link = search.in_link, block = search.block;
    const Line& theirs = (delay_ == 1 ? claimed_ : arrived_)[block][in_from_[in_link]];
    Line own = claimed_[block][node];
    // The node's claims of this step over its other links are not recorded yet.
    for (std::uint32_t c = last_claim_[node]; c != kNone; c = claims_[c].previous) {
        const Bit bit = claims_[c].bit;
        if (bit.block == block) own.add(bit.index);
    }
    const std::uint32_t index = choice(theirs, lanes_of(own), claimed_[block][search.near1],
                                       claimed_[block][search.near2], search.random);
    if (index == kNone) return false;
    claim(node, in_link, {block, index});
    if (primary == kNone) picks_.push_back({in_link_[in_link], 0});
    return true;
}

const LockstepEngine::Line& LockstepEngine::sendable(std::uint32_t block, std::uint32_t node,
                                                     std::uint32_t primary) const {
    if (delay_ > 1) return arrived_[block][node];
    return block == primary ? spare_[node] : claimed_[block][node];
}

bool LockstepEngine::exchange(const Search& search, std::uint32_t primary) {
    const std::uint32_t node = search.node;
    const std::uint32_t from = in_from_[search.in_link];
    for (std::uint32_t k = first_in_[node]; k < first_in_[node + 1]; ++k) {
        const std::uint32_t chunk = carried_[in_link_[k]];
        if (chunk == kNone) continue;
        const std::uint32_t place = place_of_[chunk];
        const std::uint32_t index = place % kChunksPerBlock;
        const Line& ours = sendable(place / kChunksPerBlock, from, primary);
        if ((ours.words[index / 64] >> (index % 64) & 1) == 0) continue;
        for (std::uint32_t block = 0; block < blocks_; ++block) {
            Line own = claimed_[block][node];
            for (std::uint32_t c = last_claim_[node]; c != kNone; c = claims_[c].previous) {
                if (claims_[c].bit.block == block) own.add(claims_[c].bit.index);
            }
            const std::uint32_t other =
                choice(sendable(block, in_from_[k], primary), lanes_of(own), own, own, search.random);
            if (other == kNone) continue;
            claim(node, k, {block, other});
            carried_[in_link_[search.in_link]] = chunk;
            if (primary == kNone) picks_.push_back({in_link_[search.in_link], 0});
            return true;
        }
    }
    return false;
}

void LockstepEngine::give_up(const Search& search, std::uint32_t primary) {
    if (search.urgent) {
        if (exchanges_ > 0 && exchange(search, primary)) return;
        if (exchanges_ > 0) --exchanges_;
        urgent_until_[in_from_[search.in_link]] = step_ + kPatience;
    } else {
        std::uint8_t& failures = failures_[search.in_link];
        failures = std::min<std::uint8_t>(failures + 1, kLongestBackOff);
        retry_at_[search.in_link] = step_ + (std::uint64_t{1} << failures);
    }
}

void LockstepEngine::claim(std::uint32_t node, std::uint32_t in_link, Bit bit) {
    carried_[in_link_[in_link]] = chunk_at_[bit.block * kChunksPerBlock + bit.index];
    failures_[in_link] = 0;
    if (delay_ > 1) in_flight_[step_ % delay_].push_back({node, kNone, bit});
    claims_.push_back({node, last_claim_[node], bit});
    last_claim_[node] = static_cast<std::uint32_t>(claims_.size() - 1);
}

}  // namespace tutti::heuristics

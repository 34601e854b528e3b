#include "heuristics/lockstep_engine.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tutti::heuristics {

namespace {

constexpr std::uint64_t kRefresh = 8;    // steps between two looks at who is urgent
constexpr std::uint64_t kPatience = 16;  // steps for which the supplier of a starved urgent node is urgent
constexpr std::uint32_t kTries = 4;      // blocks a node that has time looks into, after the primary one
constexpr std::uint8_t kLongestBackOff = 5;  // 2^5 steps
constexpr std::size_t kWindow = 16;          // searches whose memory is fetched ahead

std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/// The hash for the i-th part of a decision. Only its high bits are good.
std::uint64_t part(std::uint64_t hash, std::uint64_t i) { return (hash + i) * 0x9E3779B97F4A7C15ULL; }

/// Uniform below limit, from the high bits.
std::uint32_t below(std::uint64_t hash, std::uint32_t limit) {
    return static_cast<std::uint32_t>(((hash >> 32) * limit) >> 32);
}

std::uint32_t some_bit(std::uint64_t word, int turn) {
    return static_cast<std::uint32_t>(std::countr_zero(std::rotr(word, turn)) + turn) & 63U;
}

}  // namespace

LockstepEngine::LockstepEngine(const LockstepProblem& problem, std::uint64_t seed)
    : nodes_(problem.nodes),
      blocks_((problem.chunks() + kChunksPerBlock - 1) / kChunksPerBlock),
      delay_(problem.delay),
      seed_(mixed(seed)),
      row_((blocks_ + 63) / 64),
      nonempty_(nodes_ * row_),
      incomplete_(nodes_ * row_),
      node_missing_(nodes_),
      block_open_(blocks_),
      urgent_until_(nodes_),
      retry_at_(problem.links.size()),
      failures_(problem.links.size()),
      in_flight_(delay_),
      carried_(problem.links.size(), kNone) {
    Rng rng(seed_);
    index_links(problem);
    place_chunks(problem, rng);
    picks_.reserve(problem.links.size());
}

void LockstepEngine::index_links(const LockstepProblem& problem) {
    first_in_.assign(nodes_ + 1, 0);
    first_out_.assign(nodes_ + 1, 0);
    for (const auto& link : problem.links) {
        ++first_in_[link.to + 1];
        ++first_out_[link.from + 1];
    }
    std::partial_sum(first_in_.begin(), first_in_.end(), first_in_.begin());
    std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
    in_from_.resize(problem.links.size());
    in_link_.resize(problem.links.size());
    out_to_.resize(problem.links.size());
    std::vector<std::uint32_t> in(first_in_.begin(), first_in_.end() - 1);
    std::vector<std::uint32_t> out(first_out_.begin(), first_out_.end() - 1);
    for (std::size_t l = 0; l < problem.links.size(); ++l) {
        const auto& link = problem.links[l];
        in_from_[in[link.to]] = link.from;
        in_link_[in[link.to]++] = static_cast<std::uint32_t>(l);
        out_to_[out[link.from]++] = link.to;
    }
}

void LockstepEngine::place_chunks(const LockstepProblem& problem, Rng& rng) {
    std::vector<std::uint32_t> order(problem.chunks());
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(order);
    chunk_at_.assign(blocks_ * kChunksPerBlock, kNone);
    whole_.resize(blocks_);
    claimed_.assign(blocks_, Block(nodes_));
    if (delay_ > 1) arrived_.assign(blocks_, Block(nodes_));
    spare_.resize(nodes_);
    std::ranges::fill(node_missing_, static_cast<std::uint32_t>(problem.chunks()));
    missing_ = problem.chunks() * nodes_;
    // Dealt out in turn, so that no block is short.
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto block = static_cast<std::uint32_t>(i % blocks_);
        const auto index = static_cast<std::uint32_t>(i / blocks_);
        const std::uint32_t chunk = order[i];
        const Word bit = Word{1} << (index % 64);
        chunk_at_[block * kChunksPerBlock + index] = chunk;
        whole_[block].words[index / 64] |= bit;
        for (std::uint64_t h = problem.first_holder[chunk]; h < problem.first_holder[chunk + 1]; ++h) {
            const std::uint32_t node = problem.holders[h];
            claimed_[block][node].words[index / 64] |= bit;
            if (delay_ > 1) arrived_[block][node].words[index / 64] |= bit;
            nonempty_[node * row_ + block / 64] |= Word{1} << (block % 64);
            --node_missing_[node];
            --missing_;
        }
    }
    for (std::size_t block = 0; block < blocks_; ++block) {
        for (std::size_t node = 0; node < nodes_; ++node) {
            if (claimed_[block][node] == whole_[block]) continue;
            incomplete_[node * row_ + block / 64] |= Word{1} << (block % 64);
            ++block_open_[block];
        }
    }
}

std::uint64_t LockstepEngine::hash_of(std::uint64_t what) const {
    return mixed(seed_ + step_ * 0x9E3779B97F4A7C15ULL + what * 0xD1342543DE82EF95ULL);
}

std::span<const LockstepEngine::Pick> LockstepEngine::step() {
    picks_.clear();
    unserved_.clear();
    claims_.clear();
    if (missing_ == 0) return picks_;
    if (delay_ > 1) {
        auto& due = in_flight_[step_ % delay_];
        for (const Claim& claim : due) arrive(claim);
        due.clear();
    }
    if (step_ % kRefresh == 0 || idle_steps_ > 0) find_urgent();
    std::size_t in_links = 0;
    for (const std::uint32_t node : active_) in_links += first_in_[node + 1] - first_in_[node];
    const bool dense = in_links * 8 >= in_from_.size();
    std::uint32_t primary = kNone;
    if (dense) {
        primary = next_primary();
        serve_from_primary(primary);
    } else {
        list_active(primary);
    }
    serve_from_others(primary);
    enter_claims();
    if (dense) {
        for (std::uint32_t l = 0; l < carried_.size(); ++l) {
            if (carried_[l] == kNone) continue;
            picks_.push_back({l, carried_[l]});
            carried_[l] = kNone;
        }
    } else {
        for (Pick& pick : picks_) {
            pick.chunk = carried_[pick.link];
            carried_[pick.link] = kNone;
        }
        std::ranges::sort(picks_, {}, &Pick::link);
    }
    ++step_;
    idle_steps_ = picks_.empty() ? idle_steps_ + 1 : 0;
    stuck_ = idle_steps_ > delay_ + 1;
    return picks_;
}

void LockstepEngine::find_urgent() {
    if (active_.empty()) {
        active_.resize(nodes_);
        std::iota(active_.begin(), active_.end(), 0U);
    }
    std::erase_if(active_, [&](std::uint32_t node) { return node_missing_[node] == 0; });
    std::uint32_t longest = 0;
    for (const std::uint32_t node : active_) longest = std::max(longest, remaining(node));
    const std::uint64_t opening = std::max<std::uint64_t>(64, 2 * blocks_);
    const std::uint32_t margin = std::max(longest / 32, 8U);
    urgent_from_ = idle_steps_ > 0 || longest < margin || step_ < opening ? 0 : longest - margin;
}

std::uint32_t LockstepEngine::next_primary() {
    do {
        primary_ = primary_ + 1 < blocks_ ? primary_ + 1 : 0;
    } while (block_open_[primary_] == 0);
    return primary_;
}

void LockstepEngine::take(std::uint32_t node, std::uint32_t in_link, Bit bit) {
    const std::uint32_t link = in_link_[in_link];
    carried_[link] = chunk_at_[bit.block * kChunksPerBlock + bit.index];
    failures_[in_link] = 0;
    if (delay_ > 1) in_flight_[step_ % delay_].push_back({node, bit});
}

std::pair<std::uint32_t, std::uint32_t> LockstepEngine::neighbours(std::uint32_t node, std::uint32_t from,
                                                                   std::uint64_t random) const {
    const std::uint32_t* const out = &out_to_[first_out_[node]];
    const std::uint32_t outs = first_out_[node + 1] - first_out_[node];
    if (outs == 0) return {node, node};
    std::uint32_t i = below(random << 9, outs);
    const auto next = [&] {
        if (out[i] == from) i = i + 1 < outs ? i + 1 : 0;
        const std::uint32_t neighbour = out[i];
        i = i + 1 < outs ? i + 1 : 0;
        return neighbour;
    };
    const std::uint32_t first = next();
    return {first, next()};
}

std::uint32_t LockstepEngine::choice(const Line& theirs, const Line& own, const Line& near1,
                                     const Line& near2, std::uint64_t random) {
    const auto first = static_cast<std::uint32_t>(random >> 61);
    const int rotation = static_cast<int>(random >> 55) & 63;
    std::uint32_t index = kNone;
    for (std::uint32_t k = 0; k < kWords; ++k) {
        const std::uint32_t w = (first + k) % kWords;
        const Word fresh = theirs.words[w] & ~own.words[w];
        if (fresh == 0) continue;
        const Word rare = fresh & ~(near1.words[w] | near2.words[w]);
        if (rare != 0) return w * 64 + some_bit(rare, rotation);
        if (index == kNone) index = w * 64 + some_bit(fresh, rotation);
    }
    return index;
}

void LockstepEngine::serve_from_primary(std::uint32_t block) {
    const Block& old = claimed_[block];
    const Block& source = delay_ == 1 ? old : arrived_[block];
    const Line& whole = whole_[block];
    for (std::uint32_t node = 0; node < nodes_; ++node) {
        Line own = old[node];
        if (node_missing_[node] == 0) {
            spare_[node] = own;
            continue;
        }
        const bool urgent = is_urgent(node);
        const bool open = own != whole;
        const std::uint64_t hash = hash_of(node);
        const std::uint32_t begin = first_in_[node];
        const std::uint32_t degree = first_in_[node + 1] - begin;
        std::uint32_t turn = below(hash << 32, degree);
        std::uint32_t taken = 0;
        for (std::uint32_t i = 0; i < degree; ++i) {
            const std::uint32_t in_link = begin + turn;
            turn = turn + 1 < degree ? turn + 1 : 0;
            if (!urgent && retry_at_[in_link] > step_) continue;
            std::uint32_t index = kNone;
            if (open) {
                const std::uint32_t from = in_from_[in_link];
                const std::uint64_t random = part(hash, i + 1);
                const auto [near1, near2] = neighbours(node, from, random);
                index = choice(source[from], own, old[near1], old[near2], random);
            }
            if (index == kNone) {
                unserved_.push_back({node, in_link});
                continue;
            }
            own.words[index / 64] |= Word{1} << (index % 64);
            ++taken;
            take(node, in_link, {block, index});
        }
        spare_[node] = own;
        if (taken == 0) continue;
        node_missing_[node] -= taken;
        missing_ -= taken;
        if (delay_ == 1) nonempty_[node * row_ + block / 64] |= Word{1} << (block % 64);
        if (own == whole) {
            incomplete_[node * row_ + block / 64] &= ~(Word{1} << (block % 64));
            --block_open_[block];
        }
    }
    std::swap(claimed_[block], spare_);
}

void LockstepEngine::list_active(std::uint32_t /*primary*/) {
    for (const std::uint32_t node : active_) {
        if (node_missing_[node] == 0) continue;
        const bool urgent = is_urgent(node);
        for (std::uint32_t in_link = first_in_[node]; in_link < first_in_[node + 1]; ++in_link) {
            if (urgent || retry_at_[in_link] <= step_) unserved_.push_back({node, in_link});
        }
    }
}

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
    const auto count = static_cast<std::uint32_t>(blocks_);
    const auto& source = delay_ == 1 ? claimed_ : arrived_;
    for (std::size_t begin = 0; begin < unserved_.size(); begin += kWindow) {
        const std::size_t end = std::min(begin + kWindow, unserved_.size());
        for (std::size_t i = begin; i < end; ++i) {
            const auto [node, in_link] = unserved_[i];
            const std::uint32_t start = below(hash_of(nodes_ + in_link), count);
            const std::uint32_t block = next_block(in_from_[in_link], node, primary, start, count);
            if (block == kNone) continue;
            __builtin_prefetch(&source[block][in_from_[in_link]]);
            __builtin_prefetch(&claimed_[block][node]);
        }
        for (std::size_t i = begin; i < end; ++i) {
            const auto [node, in_link] = unserved_[i];
            if (search(unserved_[i], primary, hash_of(nodes_ + in_link))) continue;
            if (is_urgent(node)) {
                urgent_until_[in_from_[in_link]] = step_ + kPatience;
            } else {
                std::uint8_t& failures = failures_[in_link];
                failures = std::min<std::uint8_t>(failures + 1, kLongestBackOff);
                retry_at_[in_link] = step_ + (std::uint64_t{1} << failures);
            }
        }
    }
}

bool LockstepEngine::search(const Unserved& unserved, std::uint32_t primary, std::uint64_t hash) {
    const auto [node, in_link] = unserved;
    const std::uint32_t from = in_from_[in_link];
    const auto count = static_cast<std::uint32_t>(blocks_);
    const auto& source = delay_ == 1 ? claimed_ : arrived_;
    const std::uint32_t start = below(hash, count);
    const std::uint64_t random = part(hash, 1);
    const auto [near1, near2] = neighbours(node, from, random);
    const std::uint32_t tries = is_urgent(node) ? count : kTries;
    bool wrapped = false;
    std::uint32_t at = start;
    for (std::uint32_t tried = 0; tried < tries;) {
        const std::uint32_t block = next_block(from, node, primary, at, wrapped ? start : count);
        if (block == kNone) {
            if (wrapped) return false;
            wrapped = true;
            at = 0;
            continue;
        }
        at = block + 1;
        ++tried;
        const Line& theirs = source[block][from];
        Line own = claimed_[block][node];
        // What the node takes in this step over its other links is not entered yet.
        for (std::size_t c = claims_.size(); c-- > 0 && claims_[c].node == node;) {
            const Bit bit = claims_[c].bit;
            if (bit.block == block) own.words[bit.index / 64] |= Word{1} << (bit.index % 64);
        }
        const std::uint32_t index =
            choice(theirs, own, claimed_[block][near1], claimed_[block][near2], random);
        if (index == kNone) continue;
        const Bit bit{block, index};
        take(node, in_link, bit);
        claims_.push_back({node, bit});
        if (primary == kNone) picks_.push_back({in_link_[in_link], 0});
        return true;
    }
    return false;
}

void LockstepEngine::enter_claims() {
    for (const Claim& claim : claims_) {
        const auto [node, bit] = claim;
        Line& line = claimed_[bit.block][node];
        line.words[bit.index / 64] |= Word{1} << (bit.index % 64);
        --node_missing_[node];
        --missing_;
        if (delay_ == 1) nonempty_[node * row_ + bit.block / 64] |= Word{1} << (bit.block % 64);
        if (line == whole_[bit.block]) {
            incomplete_[node * row_ + bit.block / 64] &= ~(Word{1} << (bit.block % 64));
            --block_open_[bit.block];
        }
    }
}

void LockstepEngine::arrive(const Claim& claim) {
    const auto [node, bit] = claim;
    arrived_[bit.block][node].words[bit.index / 64] |= Word{1} << (bit.index % 64);
    nonempty_[node * row_ + bit.block / 64] |= Word{1} << (bit.block % 64);
}

}  // namespace tutti::heuristics

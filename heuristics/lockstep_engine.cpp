// Every chunk to every node, 10^7 to 2 * 10^9 sends, at the rate at which the in-links of the worst node can
// take them. Nothing but bits: one for each node and chunk, claimed (arrived or in flight) or not; a link
// u -> v can carry what u has and v has not claimed, so nothing is ever sent twice.
//
// Random access to N^2 bits would cost a cache miss or two per send. So chunks are dealt at random into
// blocks of 512, one cache line per node, and the matrix is kept block by block. Each step has a **primary
// block**, in turn; node after node reads the lines of its in-neighbours, which lie together, and takes one
// chunk over each in-link. New lines are written to a spare block that then takes the place of the old one,
// so all decisions of a step are made on the state at its start, whatever the order. On tori 97 of 100 sends
// come from the primary block. The other links search the other blocks one by one: only those of which the
// source has something and the destination lacks something (two bitmaps of blocks per node), many searches in
// turn so that they wait for memory together.
//
// Which chunk: at random among those that two out-neighbours of v, other than u, have not claimed either;
// otherwise at random. u must not be one of the two (it has the chunk): that was the difference between 9
// steps too many and none on a 100 x 100 torus. The randomness is a hash of seed, step and link.
//
// To meet the bound, the nodes with the least slack must not miss a chance.
// - A node is **urgent** if it needs about as many more steps as the worst one. An urgent node searches all
//   blocks; others look into a few and then leave a starved link alone for up to 32 steps. In a mesh only the
//   corners are urgent, and most of the time goes by without them.
// - Who has nothing for an urgent node is urgent for a while: so the chain that feeds a node is served too.
// - In the first steps everybody is urgent, because the few chunks around are in few blocks. (Otherwise the
//   corners of a 100 x 100 mesh lose a dozen chances in the first 25 steps, and never get them back.)
// - When all blocks have nothing for an urgent link, another in-link of the node may have taken the one chunk
//   that this one could bring, and have others to bring: they exchange. On tori of odd sizes (65 x 65), where
//   not one chance may be missed, this makes the difference of one step.
// When few nodes are left (the corners of a mesh, for half of the time) there is no primary block any more.
//
// Measured on one core of a busy machine: 40 to 50 ns per send on tori and hypercubes, 70 to 90 on meshes,
// from 10^6 to 10^8 sends. All of these are at the bound of ceil(missing / in-links): meshes and tori of 64 x
// 64, 100 x 100, 22^3, hypercubes, random digraphs of degree 6, meshes with 5 % of the cables gone. Tried and
// dropped: preferring chunks with few copies in all (a good deal slower; better on rings with several chunks
// each, far worse on a torus of 4 x 1024); leaving words one by one instead of whole lines (1.5 times slower
// for wrong guesses of the processor); compiling for AVX2 (no faster than SSE2). Not at the bound: long thin
// tori (4 x 1024: 13 % above), rings with several chunks each.

#include "heuristics/lockstep_engine.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace tutti::heuristics {

namespace {

constexpr std::uint64_t kRefresh = 8;    // steps between two looks at who is urgent
constexpr std::uint64_t kPatience = 16;  // steps for which the supplier of a starved urgent node is urgent
constexpr std::uint32_t kTries = 4;      // blocks a node that has time looks into, after the primary one
constexpr std::uint8_t kLongestBackOff = 5;  // 2^5 steps
constexpr std::uint32_t kExchanges = 256;    // failed exchanges in a step before it is left at that
constexpr std::size_t kWindow = 32;          // searches whose memory is fetched ahead

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

typedef std::uint64_t Lanes __attribute__((vector_size(64), may_alias));
typedef std::int8_t Flags __attribute__((vector_size(8)));

/// A byte of ones for each word that is not zero.
[[gnu::always_inline]] inline std::uint64_t nonzero(const Lanes& lanes) {
    const auto flags = __builtin_convertvector(lanes != 0, Flags);
    return std::bit_cast<std::uint64_t>(flags);
}

[[gnu::always_inline]] inline const Lanes& lanes_of(const ChunkLine& line) {
    return *reinterpret_cast<const Lanes*>(line.words.data());
}

/// A random chunk of theirs that is not our own, if possible one that is in neither of the near lines.
[[gnu::always_inline]] inline std::uint32_t choice(const ChunkLine& theirs, const Lanes& own,
                                                   const ChunkLine& near1, const ChunkLine& near2,
                                                   std::uint64_t random) {
    Lanes best = lanes_of(theirs) & ~own;
    const Lanes rare = best & ~(lanes_of(near1) | lanes_of(near2));
    std::uint64_t words = nonzero(rare);
    if (words != 0) {
        best = rare;
    } else {
        words = nonzero(best);
        if (words == 0) return ~std::uint32_t{0};
    }
    const int first = static_cast<int>(random >> 61) * 8;
    const int rotation = static_cast<int>(random >> 55) & 63;
    const auto w = static_cast<std::uint32_t>((std::countr_zero(std::rotr(words, first)) + first) & 63) / 8;
    ChunkLine line;
    *reinterpret_cast<Lanes*>(line.words.data()) = best;
    return w * 64 + some_bit(line.words[w], rotation);
}

constexpr auto kOneLane = [] {
    std::array<ChunkLine, ChunkLine::kWords> lanes{};
    for (std::size_t w = 0; w < lanes.size(); ++w) lanes[w].words[w] = ~std::uint64_t{0};
    return lanes;
}();

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
      last_claim_(nodes_, kNone),
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
    others_.resize(problem.links.size());
    for (std::uint32_t node = 0; node < nodes_; ++node) {
        const std::span<const std::uint32_t> outs(&out_to_[first_out_[node]],
                                                  first_out_[node + 1] - first_out_[node]);
        const auto count = static_cast<std::uint32_t>(outs.size());
        for (std::uint32_t k = first_in_[node]; k < first_in_[node + 1]; ++k) {
            const auto back = static_cast<std::uint32_t>(std::ranges::find(outs, in_from_[k]) - outs.begin());
            others_[k] = back < count ? Others{back + 1, std::max(count - 1, 1U)} : Others{0, count};
        }
    }
}

void LockstepEngine::place_chunks(const LockstepProblem& problem, Rng& rng) {
    std::vector<std::uint32_t> order(problem.chunks());
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(order);
    chunk_at_.assign(blocks_ * kChunksPerBlock, kNone);
    place_of_.resize(problem.chunks());
    whole_.resize(blocks_);
    claimed_lines_ = ChunkLines((blocks_ + 1) * nodes_);
    spare_ = claimed_lines_.begin() + blocks_ * nodes_;
    for (std::size_t b = 0; b < blocks_; ++b) claimed_.push_back(claimed_lines_.begin() + b * nodes_);
    if (delay_ > 1) {
        arrived_lines_ = ChunkLines(blocks_ * nodes_);
        for (std::size_t b = 0; b < blocks_; ++b) arrived_.push_back(arrived_lines_.begin() + b * nodes_);
    }
    std::ranges::fill(node_missing_, static_cast<std::uint32_t>(problem.chunks()));
    missing_ = problem.chunks() * nodes_;
    // Dealt out in turn, so that no block is short.
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto block = static_cast<std::uint32_t>(i % blocks_);
        const auto index = static_cast<std::uint32_t>(i / blocks_);
        const std::uint32_t chunk = order[i];
        chunk_at_[block * kChunksPerBlock + index] = chunk;
        place_of_[chunk] = block * kChunksPerBlock + index;
        whole_[block].add(index);
        for (std::uint64_t h = problem.first_holder[chunk]; h < problem.first_holder[chunk + 1]; ++h) {
            const std::uint32_t node = problem.holders[h];
            claimed_[block][node].add(index);
            if (delay_ > 1) arrived_[block][node].add(index);
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
        list_active();
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

void LockstepEngine::claim(std::uint32_t node, std::uint32_t in_link, Bit bit) {
    carried_[in_link_[in_link]] = chunk_at_[bit.block * kChunksPerBlock + bit.index];
    failures_[in_link] = 0;
    if (delay_ > 1) in_flight_[step_ % delay_].push_back({node, kNone, bit});
    claims_.push_back({node, last_claim_[node], bit});
    last_claim_[node] = static_cast<std::uint32_t>(claims_.size() - 1);
}

[[gnu::always_inline]] inline std::pair<std::uint32_t, std::uint32_t> LockstepEngine::neighbours(
    std::uint32_t node, std::uint32_t in_link, std::uint64_t random) const {
    const std::uint32_t first = first_out_[node];
    const std::uint32_t outs = first_out_[node + 1] - first;
    const auto [start, count] = others_[in_link];
    const auto at = [&](std::uint32_t i) { return out_to_[first + (i < outs ? i : i - outs)]; };
    const std::uint32_t i = below(random << 9, count);
    return {at(start + i), at(start + (i + 1 < count ? i + 1 : 0))};
}

void LockstepEngine::serve_from_primary(std::uint32_t block) {
    const Line* const old = claimed_[block];
    const Line* const source = delay_ == 1 ? old : arrived_[block];
    const Lanes whole = lanes_of(whole_[block]);
    const std::uint32_t* const chunk_at = &chunk_at_[block * kChunksPerBlock];
    const Word flag = Word{1} << (block % 64);
    for (std::uint32_t node = 0; node < nodes_; ++node) {
        Lanes own = lanes_of(old[node]);
        std::uint32_t taken = 0;
        if (node_missing_[node] > 0) {
            const bool urgent = is_urgent(node);
            const bool open = nonzero(own ^ whole) != 0;
            const std::uint64_t hash = hash_of(node);
            const std::uint32_t begin = first_in_[node];
            const std::uint32_t degree = first_in_[node + 1] - begin;
            std::uint32_t turn = below(hash << 32, degree);
            for (std::uint32_t i = 0; i < degree; ++i) {
                const std::uint32_t in_link = begin + turn;
                turn = turn + 1 < degree ? turn + 1 : 0;
                if (!urgent && retry_at_[in_link] > step_) continue;
                std::uint32_t index = kNone;
                if (open) {
                    const std::uint64_t random = part(hash, i + 1);
                    const auto [near1, near2] = neighbours(node, in_link, random);
                    index = choice(source[in_from_[in_link]], own, old[near1], old[near2], random);
                }
                if (index == kNone) {
                    unserved_.push_back({node, in_link});
                    continue;
                }
                // In one piece: what is written by the word cannot be read by the line at once.
                own |= lanes_of(kOneLane[index / 64]) & (Word{1} << (index % 64));
                ++taken;
                carried_[in_link_[in_link]] = chunk_at[index];
                if (!urgent) failures_[in_link] = 0;
                if (delay_ > 1) in_flight_[step_ % delay_].push_back({node, kNone, {block, index}});
            }
        }
        *reinterpret_cast<Lanes*>(spare_[node].words.data()) = own;
        if (taken == 0) continue;
        node_missing_[node] -= taken;
        missing_ -= taken;
        if (delay_ == 1) nonempty_[node * row_ + block / 64] |= flag;
        if (nonzero(own ^ whole) == 0) {
            incomplete_[node * row_ + block / 64] &= ~flag;
            --block_open_[block];
        }
    }
    std::swap(claimed_[block], spare_);
}

void LockstepEngine::list_active() {
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
    // Each look into another block costs a few cache misses, so that many searches take turns: while one
    // waits for its lines, the others look into theirs.
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
    // What the node takes in this step over its other links is not entered yet.
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

void LockstepEngine::enter_claims() {
    for (const Claim& claim : claims_) {
        const auto [node, previous, bit] = claim;
        last_claim_[node] = kNone;
        Line& line = claimed_[bit.block][node];
        line.add(bit.index);
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
    const auto [node, previous, bit] = claim;
    arrived_[bit.block][node].add(bit.index);
    nonempty_[node * row_ + bit.block / 64] |= Word{1} << (bit.block % 64);
}

}  // namespace tutti::heuristics

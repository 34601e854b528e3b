// Every chunk to every node, 10^7 to 2 * 10^9 sends, at the rate of the in-links of the worst node. The state
// is one bit for each node and chunk: claimed (arrived or in flight) or not. A link u -> v can carry what u
// has and v has not claimed, so nothing is sent twice.
//
// Random access to N^2 bits would cost a cache miss or two per send. So chunks are assigned at random to
// blocks of 512, one cache line per node, and the matrix is stored block by block. Each step has a **primary
// block**, in rotation; each node reads the lines of its in-neighbours, which are close in memory, and takes
// one chunk over each in-link. New lines are written to a spare block that then replaces the old one, so all
// decisions of a step use the state at its start, in any order. On tori 97 of 100 sends come from the primary
// block. The other links search the other blocks one by one: only those in which the source has something and
// the destination lacks something (two bitmaps of blocks per node). Many searches are interleaved, so that
// their cache misses overlap.
//
// Which chunk: at random among those that two out-neighbours of v, other than u, have not claimed either;
// otherwise at random. u must not be one of the two (it has the chunk). This rule, the same rule in the
// searches and the urgent first steps (below) were introduced together, and reduced a 100 x 100 torus from 9
// steps above the bound to none; they were not measured separately. The random numbers are a hash of seed,
// step and link.
//
// To meet the bound, the nodes with the least slack must receive over all their in-links in every step.
// - A node is **urgent** if it needs about as many more steps as the worst one. An urgent node searches all
//   blocks; others search a few and then skip a starved link for up to 32 steps. In a mesh only the corners
//   are urgent, so few nodes search all blocks.
// - A node that has nothing for an urgent node becomes urgent for a while, so that the chain that feeds an
//   urgent node is served too.
// - In the first steps all nodes are urgent, because the few spread chunks are in few blocks. (Before, the
//   corners of a 100 x 100 mesh lost 15 receptions, all in steps 6 to 24, and ended 2 steps late.)
// - When no block has anything for an urgent link, another in-link of the node may have taken the only chunk
//   that this one could carry, and could carry others: they exchange. On tori of odd sizes (65 x 65), where
//   not one reception may be lost, this saves one step.
// When few nodes are left (the corners of a mesh, for half of the time) there is no primary block any more.
//
// Measured on one core of a very busy machine (few runs, so rather too much): 40 to 50 ns per send on tori of
// 33 x 33 to 100 x 100, 85 to 90 on a 100 x 100 mesh, all at the bound of ceil(missing / in-links). An
// earlier state also met it on 22^3, hypercube 13, a random digraph of degree 6 (about 10 000 nodes each) and
// a 99 x 101 mesh with 5 % of the cables gone. No run with 40 000 nodes has been seen to its end yet.
//
// Tried and dropped: HopGraph in place of the lists of links here, which are in link order (equally fast, but
// two seeds of three on a random digraph of degree 6 ended a step late: its in-lists are in order of source);
// preferring chunks with few copies in all (slower; better on rings with several chunks
// each, far worse on a torus of 4 x 1024); looking for a chunk word by word, with an early end, instead of
// line by line (slower); compiling for AVX2 (no faster than SSE2).
//
// Not at the bound: long thin tori (4 x 1024: 13 % above), rings with several chunks each.

#include "heuristics/lockstep/lockstep_engine.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {

using namespace lockstep_choice;

namespace {

constexpr std::uint64_t kRefresh = 8;  // steps between two updates of the urgent nodes

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
        const auto outs =
            std::span(out_to_).subspan(first_out_[node], first_out_[node + 1] - first_out_[node]);
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
    spare_ = claimed_lines_.data() + blocks_ * nodes_;
    for (std::size_t b = 0; b < blocks_; ++b) claimed_.push_back(claimed_lines_.data() + b * nodes_);
    if (delay_ > 1) {
        arrived_lines_ = ChunkLines(blocks_ * nodes_);
        for (std::size_t b = 0; b < blocks_; ++b) arrived_.push_back(arrived_lines_.data() + b * nodes_);
    }
    std::ranges::fill(node_missing_, static_cast<std::uint32_t>(problem.chunks()));
    missing_ = problem.chunks() * nodes_;
    // Assigned in rotation, so that blocks have equal sizes.
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
                // Written as a whole line: a line load right after a word store would stall.
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

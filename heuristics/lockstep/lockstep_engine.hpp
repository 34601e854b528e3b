#pragma once

#include "core/rng.hpp"
#include "heuristics/lockstep/lockstep_choice.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti::heuristics {

/// The input of the engine: every chunk goes to every node, over links that all take the same time.
struct LockstepProblem {
    struct Arc {
        std::uint32_t from, to;
    };
    std::size_t nodes = 0;
    std::vector<Arc> links;
    /// Who has chunk c at the start: holders[first_holder[c] … first_holder[c + 1]).
    std::vector<std::uint32_t> holders;
    std::vector<std::uint64_t> first_holder = {0};
    /// How many steps after its send a chunk can be forwarded. At least 1.
    std::size_t delay = 1;

    [[nodiscard]] std::size_t chunks() const { return first_holder.size() - 1; }
};

/// Spreads all chunks to all nodes in equal steps; in each step a link carries at most one chunk. Only the
/// current step is held: memory is one bit per node and chunk (two with a delay above 1). Deterministic per
/// seed.
class LockstepEngine {
  public:
    struct Pick {
        std::uint32_t link, chunk;
    };

    LockstepEngine(const LockstepProblem& problem, std::uint64_t seed);
    LockstepEngine(const LockstepEngine&) = delete;  // it points into its own lines
    LockstepEngine& operator=(const LockstepEngine&) = delete;

    /// What the links carry in the next step, by link. May be empty while chunks are in flight.
    [[nodiscard]] std::span<const Pick> step();
    /// How many chunks are still to be sent, over all nodes.
    [[nodiscard]] std::uint64_t missing() const { return missing_; }
    /// Nothing can be sent any more though something is missing: the network is not strongly connected.
    [[nodiscard]] bool is_stuck() const { return stuck_; }

  private:
    using Word = std::uint64_t;
    using Line = ChunkLine;
    static constexpr std::uint32_t kChunksPerBlock = ChunkLine::kChunks;
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    struct Bit {
        std::uint32_t block, index;
    };
    /// A claim that is recorded at the end of the step, or at arrival.
    struct Claim {
        std::uint32_t node;
        std::uint32_t previous;  ///< of the same node in the same step: its place in claims_
        Bit bit;
    };
    /// An in-link, by its place in the order by destination, that found nothing in the primary block.
    struct Unserved {
        std::uint32_t node, in_link;
    };

    /// A search for a chunk in the blocks other than the primary one, cyclically from a random one on.
    struct Search {
        std::uint32_t node = 0, in_link = 0;
        std::uint32_t near1 = 0, near2 = 0;
        std::uint32_t block = 0;
        std::uint32_t start = 0, at = 0, end = 0;
        std::uint32_t tries = 0;
        bool urgent = false;
        std::uint64_t random = 0;
    };
    /// The out-neighbours of a node other than the one that serves it: `count`, cyclically from `start` on.
    struct Others {
        std::uint32_t start, count;
    };

    void place_chunks(const LockstepProblem& problem, Rng& rng);
    void index_links(const LockstepProblem& problem);
    void find_urgent();
    [[nodiscard]] bool is_urgent(std::uint32_t node) const {
        return remaining(node) >= urgent_from_ || urgent_until_[node] > step_;
    }
    [[nodiscard]] std::uint32_t remaining(std::uint32_t node) const {
        const std::uint32_t degree = first_in_[node + 1] - first_in_[node];
        return degree == 0 ? 0 : (node_missing_[node] + degree - 1) / degree;
    }
    /// Two nodes that the node can serve, other than the one that serves it, if they exist.
    [[nodiscard, gnu::always_inline]] inline std::pair<std::uint32_t, std::uint32_t> neighbours(
        std::uint32_t node, std::uint32_t in_link, std::uint64_t random) const {
        const std::uint32_t first = first_out_[node];
        const std::uint32_t outs = first_out_[node + 1] - first;
        const auto [start, count] = others_[in_link];
        const auto at = [&](std::uint32_t i) { return out_to_[first + (i < outs ? i : i - outs)]; };
        const std::uint32_t i = lockstep_choice::below(random << 9, count);
        return {at(start + i), at(start + (i + 1 < count ? i + 1 : 0))};
    }
    void serve_from_primary(std::uint32_t block);
    void list_active();
    void serve_from_others(std::uint32_t primary);
    [[nodiscard]] std::uint32_t next_block(std::uint32_t from, std::uint32_t node, std::uint32_t primary,
                                           std::uint32_t start, std::uint32_t end) const;
    [[nodiscard]] Search begin_search(const Unserved& unserved) const;
    /// Moves to the next block that may contain a chunk. False: there is none.
    [[nodiscard]] bool advance(Search& search, std::uint32_t primary) const;
    /// Takes a chunk of the block that the search is at. False: there is none.
    [[nodiscard]] bool look(const Search& search, std::uint32_t primary);
    /// Another link of the node gives its chunk to this one and takes another. False: none can.
    [[nodiscard]] bool exchange(const Search& search, std::uint32_t primary);
    void give_up(const Search& search, std::uint32_t primary);
    /// What the node could send when the step began.
    [[nodiscard]] const Line& sendable(std::uint32_t block, std::uint32_t node, std::uint32_t primary) const;
    void enter_claims();
    void arrive(const Claim& claim);
    void claim(std::uint32_t node, std::uint32_t in_link, Bit bit);
    [[nodiscard]] std::uint32_t next_primary();
    [[nodiscard]] std::uint64_t hash_of(std::uint64_t what) const;

    std::size_t nodes_;
    std::size_t blocks_;
    std::size_t delay_;
    std::uint64_t seed_;

    // Links in order of destination.
    std::vector<std::uint32_t> first_in_, in_from_, in_link_;
    std::vector<std::uint32_t> first_out_, out_to_;
    std::vector<Others> others_;  ///< per in-link

    std::vector<std::uint32_t> chunk_at_;  ///< per block and bit
    std::vector<std::uint32_t> place_of_;  ///< per chunk: where chunk_at_ has it
    std::vector<Line> whole_;              ///< per block: all its chunks
    // Per block, a line for each node. With a delay of 1 all that is claimed has arrived when a step begins.
    ChunkLines claimed_lines_, arrived_lines_;
    std::vector<Line*> claimed_;  ///< arrived or in flight
    std::vector<Line*> arrived_;  ///< only with a delay above 1
    Line* spare_ = nullptr;       ///< the claims of the primary block after this step

    std::size_t row_;               ///< words per node of the two below
    std::vector<Word> nonempty_;    ///< blocks of which the node has a chunk that it can send
    std::vector<Word> incomplete_;  ///< blocks of which the node lacks a chunk
    std::vector<std::uint32_t> node_missing_;
    std::vector<std::uint32_t> block_open_;  ///< per block, how many nodes lack a chunk of it
    std::uint64_t missing_ = 0;

    std::uint64_t step_ = 0;
    std::uint32_t primary_ = 0;
    std::uint32_t urgent_from_ = 0;
    std::vector<std::uint64_t> urgent_until_;
    std::vector<std::uint32_t> last_claim_;  ///< per node, in this step: its place in claims_, or kNone
    std::vector<std::uint64_t> retry_at_;    ///< per in-link
    std::vector<std::uint8_t> failures_;     ///< per in-link
    std::vector<std::uint32_t> active_;      ///< nodes that lack something
    std::vector<Unserved> unserved_;
    std::vector<Claim> claims_;
    std::vector<std::vector<Claim>> in_flight_;  ///< per step modulo delay
    std::vector<std::uint32_t> carried_;         ///< per link, or kNone
    std::vector<Pick> picks_;
    std::uint32_t exchanges_ = 0;
    bool stuck_ = false;
    std::uint64_t idle_steps_ = 0;
};

}  // namespace tutti::heuristics

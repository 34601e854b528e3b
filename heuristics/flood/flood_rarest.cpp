// Local rarity for 256 chunks at a time. The rows are added into up to four bit planes, carry by carry: plane
// p of a chunk is bit p of the number of rows that have it. The choice is then narrowed from the highest
// plane down: chunks whose bit is 0, if there are any, are in fewer rows than the others. Exact, and some 20
// times faster than scoring chunks one by one.

#include "heuristics/flood/flood_rarest.hpp"

#include "core/expects.hpp"

#include <bit>

namespace tutti::heuristics {
namespace {

using Vector __attribute__((vector_size(kBlockWords * sizeof(Word)), may_alias)) = Word;
constexpr std::size_t kMaxBlocks = kWindowWords / kBlockWords;

__attribute__((always_inline)) inline const Vector* vectors(const Word* row) {
    return reinterpret_cast<const Vector*>(row);
}

/// With as many planes as the number of rows has bits.
template <std::size_t Planes>
__attribute__((always_inline)) inline void keep_rarest_in(const RowList& rows, Choice& choice) {
    auto* chosen = reinterpret_cast<Vector*>(choice.words.data());
    const std::size_t blocks = choice.count / kBlockWords;
    Vector planes[Planes][kMaxBlocks];
    for (std::size_t b = 0; b < blocks; ++b) {
        Vector count[Planes]{};
        for (const Word* row : rows.rows()) {
            Vector carry = vectors(row)[b];
            for (Vector& plane : count) {
                const Vector next = plane & carry;
                plane ^= carry;
                carry = next;
            }
        }
        for (std::size_t p = 0; p < Planes; ++p) planes[p][b] = count[p];
    }
    for (std::size_t p = Planes; p-- > 0;) {
        Vector any{};
        for (std::size_t b = 0; b < blocks; ++b) any |= chosen[b] & ~planes[p][b];
        if ((any[0] | any[1] | any[2] | any[3]) == 0) continue;
        for (std::size_t b = 0; b < blocks; ++b) chosen[b] &= ~planes[p][b];
    }
}

}  // namespace

__attribute__((target_clones("avx2", "default"))) bool candidates(const Word* has, const Word* claimed,
                                                                  const RowList& barred, std::size_t count,
                                                                  Choice& choice) {
    choice.count = count;
    auto* out = reinterpret_cast<Vector*>(choice.words.data());
    Vector any{};
    for (std::size_t b = 0; b < choice.count / kBlockWords; ++b) {
        Vector x = vectors(has)[b] & ~vectors(claimed)[b];
        for (const Word* row : barred.rows()) x &= ~vectors(row)[b];
        out[b] = x;
        any |= x;
    }
    return (any[0] | any[1] | any[2] | any[3]) != 0;
}

__attribute__((target_clones("avx2", "default"))) void keep_rarest(const RowList& rows, Choice& choice) {
    expects(full_words(choice) != 0);
    switch (std::bit_width(rows.rows().size())) {
        case 0:
            return;
        case 1:
            return keep_rarest_in<1>(rows, choice);
        case 2:
            return keep_rarest_in<2>(rows, choice);
        case 3:
            return keep_rarest_in<3>(rows, choice);
        default:
            return keep_rarest_in<4>(rows, choice);
    }
}

std::uint16_t full_words(const Choice& choice) {
    static_assert(kWindowWords == 16);
    unsigned full = 0;
    for (std::size_t w = 0; w < choice.count; ++w) full |= (choice.words[w] != 0 ? 1U : 0U) << w;
    return static_cast<std::uint16_t>(full);
}

}  // namespace tutti::heuristics

#include "run/kernels.hpp"

#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tutti::run {
namespace {

const KernelTable& best_table() {
#if defined(TUTTI_AVX2_KERNELS)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) return kAvx2Kernels;
#endif
    return kPortableKernels;
}

}  // namespace

const Kernels& kernels_of(ElementType type, Operator op) {
    static const KernelTable& table = best_table();
    return table.rows[static_cast<int>(type)][static_cast<int>(op)];
}

void streaming_copy(std::byte* target, const std::byte* source, std::size_t bytes) {
#if defined(__SSE2__)
    // Below this size the caches are faster.
    constexpr std::size_t kLeast = 2048, kLine = 64;
    if (bytes >= kLeast) {
        const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(target) % kLine) % kLine;
        std::memcpy(target, source, head);
        std::size_t at = head;
        for (; at + kLine <= bytes; at += kLine) {
            const auto* const from = reinterpret_cast<const __m128i*>(source + at);
            auto* const to = reinterpret_cast<__m128i*>(target + at);
            const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1),
                          c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
            _mm_stream_si128(to, a);
            _mm_stream_si128(to + 1, b);
            _mm_stream_si128(to + 2, c);
            _mm_stream_si128(to + 3, d);
        }
        std::memcpy(target + at, source + at, bytes - at);
        _mm_sfence();
        return;
    }
#endif
    std::memcpy(target, source, bytes);
}

}  // namespace tutti::run

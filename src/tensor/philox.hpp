#pragma once

#include <array>
#include <cstdint>

// Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011.

namespace tutti::tensor {

/// The four words of a counter: a number for each element, whoever computes it and in which order.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter) {
    std::array<std::uint32_t, 4> x{static_cast<std::uint32_t>(counter),
                                   static_cast<std::uint32_t>(counter >> 32), 0, 0};
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53} * x[0], p1 = std::uint64_t{0xCD9E8D57} * x[2];
        x = {static_cast<std::uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<std::uint32_t>(p1),
             static_cast<std::uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<std::uint32_t>(p0)};
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return x;
}

/// The number of an element of `uniform`, in [0, 1): its row-major number in the whole shape decides, so
/// slicing changes nothing.
[[nodiscard]] constexpr double uniform_number(std::uint64_t seed, std::uint64_t element) {
    return static_cast<double>(philox(seed, element / 4)[element % 4] >> 8) / 16777216.0;
}

}  // namespace tutti::tensor

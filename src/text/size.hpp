#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::text {

/// Sizes as people write them, wherever one can be given: a number of bytes, or a number and a unit: B, or K,
/// M, G, T or P, alone, with B or with iB, in any case, after a blank or none. K, KB and KiB all are 1024
/// bytes, as nccl-tests and those who run it have it. The number may have decimals where the size is whole:
/// 1.5K is 1536. Nothing if the text is no such size.
[[nodiscard]] std::optional<std::int64_t> size_in(std::string_view text);

/// What a message says was expected.
inline constexpr std::string_view kSizeExpected = "a number of bytes like 1048576, 64KB or 1.5G";

/// The least memory limit. Below it nothing can run; above all, a number that was meant in another unit is
/// refused and not obeyed.
inline constexpr std::int64_t kLeastMemoryLimit = std::int64_t{1} << 20;

}  // namespace tutti::text

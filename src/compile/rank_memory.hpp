#pragma once

#include "core/collective.hpp"
#include "plan/msccl_plan.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::compile {

/// The memory of one rank, in chunks, and its places as numbers. If a plan shall serve in-place calls too,
/// places that are one there have one number: then steps that are ordered wherever numbers meet are ordered
/// in both modes.
struct RankMemory {
    std::uint32_t inputs = 0, outputs = 0, scratch = 0;
    bool in_place = false;
    std::int64_t shift = 0;  ///< in place output chunk c is input chunk c + shift, if there is one

    [[nodiscard]] std::size_t size() const { return std::size_t{inputs} + outputs + scratch; }
    [[nodiscard]] std::size_t of(plan::Buffer buffer, std::uint32_t offset) const {
        if (buffer == plan::Buffer::Input) return offset;
        if (buffer == plan::Buffer::Scratch) return std::size_t{inputs} + outputs + offset;
        const std::int64_t input = std::int64_t{offset} + shift;
        if (in_place && input >= 0 && input < std::int64_t{inputs}) return static_cast<std::size_t>(input);
        return std::size_t{inputs} + offset;
    }
    [[nodiscard]] std::size_t of(const plan::Address& address) const {
        return of(address.buffer, (*address.offset).value());
    }
    [[nodiscard]] std::uint32_t chunks(plan::Buffer buffer) const {
        return buffer == plan::Buffer::Input ? inputs : buffer == plan::Buffer::Output ? outputs : scratch;
    }
    friend bool operator==(const RankMemory&, const RankMemory&) = default;
};

/// The memory that serves calls in place and out of place.
[[nodiscard]] RankMemory in_place_memory(CollectiveKind goal, std::uint32_t rank, RankMemory memory);

}  // namespace tutti::compile

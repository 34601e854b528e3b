#pragma once

#include "core/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// A family of groups divides the ranks of a job, each of which is the NPU of its number: every rank is in
/// exactly one group. Groups are in the order of their first ranks.
using GroupFamily = std::vector<std::vector<NodeId>>;

/// The ranks of a job as a mesh with named axes, numbered as PyTorch's DeviceMesh numbers them: row-major,
/// the last axis fastest.
struct RankMesh {
    struct Axis {
        std::string name;
        std::size_t size = 1;
    };
    std::vector<Axis> axes;

    /// The product of the sizes; none if it is larger than `most`.
    [[nodiscard]] std::optional<std::size_t> ranks(std::size_t most) const;
};

/// One group for each line along these axes, given by position: its members differ in nothing but their
/// places along them. Within a group ranks are in the order of those places, the last of `along` fastest.
/// Preconditions: sizes are at least 1, positions are of axes and all different.
[[nodiscard]] GroupFamily lines_along(const RankMesh& mesh, const std::vector<std::size_t>& along);

/// How nccl-tests' NCCL_TESTS_SPLIT divides ranks: those of one colour form a group.
struct RankSplit {
    enum class Op { And, Or, Mod, Div };
    Op op = Op::Mod;
    std::uint32_t value = 1;  ///< at least 1 where ranks are divided by it

    [[nodiscard]] std::uint32_t colour(std::uint32_t rank) const;
    friend bool operator==(const RankSplit&, const RankSplit&) = default;
};

/// "AND 0x7", "OR 7", "MOD 8", "DIV 8", or with a sign: "&7", "|7", "%8", "/8". Case does not matter; the
/// value is decimal, hexadecimal (0x) or binary (0b), at most 2^31 - 1. None for anything else.
[[nodiscard]] std::optional<RankSplit> split_in(std::string_view text);

[[nodiscard]] GroupFamily split_ranks(std::size_t ranks, const RankSplit& split);

/// "tp[3]": what member i of a family is called.
[[nodiscard]] std::string member_name(std::string_view family, std::size_t i);

}  // namespace tutti

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tutti::tensor {

/// The steps of a schedule: what is done to a program, by names. src/rewrite applies them.

struct Split {
    enum class Into : std::uint8_t { ReduceScatterGather, ReduceBroadcast, Axes };
    std::string op{};
    Into into = Into::ReduceScatterGather;
    std::int64_t dim = 0, root = 0;
    std::vector<std::string> axes{};
    friend bool operator==(const Split&, const Split&) = default;
};

struct Reorder {
    std::string gather{};
    std::optional<std::vector<std::string>> ops{};  ///< none: all that can move
    friend bool operator==(const Reorder&, const Reorder&) = default;
};

struct Distribute {
    std::string value{};
    std::int64_t dim = 0;
    std::vector<std::string> axes{};
    friend bool operator==(const Distribute&, const Distribute&) = default;
};

struct AsSlice {
    std::string tensor{};
    std::optional<std::int64_t> dim{};               ///< where given, it must be the gather's
    std::optional<std::vector<std::string>> axes{};  ///< likewise
    friend bool operator==(const AsSlice&, const AsSlice&) = default;
};

struct Fuse {
    std::vector<std::string> ops{};
    std::string name{};  ///< empty: "fused." and the first
    friend bool operator==(const Fuse&, const Fuse&) = default;
};

struct Coalesce {
    std::vector<std::string> ops{};
    std::string name{};  ///< empty: "call." and the first
    friend bool operator==(const Coalesce&, const Coalesce&) = default;
};

struct OverlapStep {
    std::vector<std::string> chain{};
    std::int64_t pieces = 0;
    friend bool operator==(const OverlapStep&, const OverlapStep&) = default;
};

using Step = std::variant<Split, Reorder, Distribute, AsSlice, Fuse, Coalesce, OverlapStep>;

/// Steps in order, for the program of that name.
struct Schedule {
    std::string program{};
    std::vector<Step> steps{};
    std::optional<double> predicted_us{};
    friend bool operator==(const Schedule&, const Schedule&) = default;
};

}  // namespace tutti::tensor

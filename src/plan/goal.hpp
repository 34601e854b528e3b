#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tutti::plan {

/// What a plan is meant to achieve, as far as plans can say it.
enum class Goal : std::uint8_t {
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    Broadcast,
    Reduce,
    Gather,
    Scatter,
    AllToNext,  ///< rank g gets the input of g-1; rank 0 is free
    SendRecv,   ///< rank g gets the input of g-1, cyclic
    None        ///< custom, send, recv, alltoallv, test, missing: no postcondition
};

/// Every accepted spelling (`all_reduce`, `allreduce`, `reduce_scatter`, `reducescatter`, …); nothing for a
/// name that nobody knows.
[[nodiscard]] std::optional<Goal> goal_of(std::string_view name);
/// The name in messages: "allreduce", "reduce_scatter", …
[[nodiscard]] std::string_view name_of(Goal goal);
[[nodiscard]] bool has_root(Goal goal);
[[nodiscard]] std::vector<std::string_view> goal_names();

}  // namespace tutti::plan

#pragma once

#include "core/ticks.hpp"
#include "tensor/mesh.hpp"
#include "tensor/program.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::tune {

/// A call of a collective, made by all groups of its axes at once. Two calls that compare equal take equally
/// long.
struct Call {
    tensor::Op op = tensor::Op::AllReduce;
    std::vector<tensor::AxisId> axes{};
    std::int64_t bytes = 0;   ///< what a rank hands to it; of an all_gather what it ends with
    std::int64_t pieces = 1;  ///< so many of it under one schedule, each of these bytes
    Ticks each{};             ///< of pieces: the first is there after this time, and each after as much more
    std::int64_t root = 0, by = 0;  ///< of reduce_to and broadcast_from; of shift
    friend auto operator<=>(const Call&, const Call&) = default;
};

/// The call that a value makes. Precondition: it is a collective.
[[nodiscard]] Call call_of(const tensor::Program& program, const tensor::Value& value);

/// "all_reduce over data, 64 MiB".
[[nodiscard]] std::string words_of(const tensor::Mesh& mesh, const Call& call);

}  // namespace tutti::tune

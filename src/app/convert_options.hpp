#pragma once

#include "app/tensor_sizes.hpp"
#include "compile/msccl_lowering.hpp"
#include "io/schedule_stream.hpp"
#include "plan/msccl_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

using io::kStreamSuffix;  ///< of a file, by which a format is told

/// The formats to which a schedule can be converted: our own, and plans for other runtimes.
enum class ConvertFormat {
    Json,
    Stream,
    MscclXml,
    MscclppJson,
    ScclJson,
    Chakra,
    Perfetto,
    NcclP2p,
    MpiP2p,
    Goal,
    Program,  ///< of a tensor program and its schedule: the program that it makes
    Dot,
    Torch,
    Cpp,
    Cuda
};
/// Which calls a plan serves.
enum class CallMode { Both, InPlace, OutOfPlace };

struct ConvertOptions {
    /// An instance and a schedule, or a tensor program and its schedule, in any order; for a folder several
    /// such pairs, and folders with results.
    std::vector<std::string> files{};
    std::string output{};  ///< a path, or "-"
    std::string folder{};  ///< instead of `output`: where plans for a runtime shall go
    ConvertFormat format = ConvertFormat::Json;
    std::optional<std::string> collective{};  ///< its id; all of them where not given
    /// Of msccl-xml; where not given, the newest one that knows the collective.
    std::optional<plan::Target> target{};
    plan::Protocol protocol = plan::Protocol::Simple;
    CallMode mode = CallMode::Both;
    std::optional<std::int64_t> min_bytes{}, max_bytes{};
    std::optional<std::int64_t> bytes{};  ///< of goal: the size of the call; else that of the instance
    TensorSizes tensor_sizes{};           ///< of a tensor program, instead of its own
    std::string plan_name{};              ///< where empty, of instance and collective
    friend bool operator==(const ConvertOptions&, const ConvertOptions&) = default;
};

}  // namespace tutti::app

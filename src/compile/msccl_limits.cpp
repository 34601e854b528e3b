#include "compile/msccl_lowering.hpp"

#include <array>

namespace tutti::compile {
namespace {

/// In the order of plan::Target. The first runtime takes maxBytes 0 at its word and reserves scratch for
/// messages of maxBytes, so there "no limit" is what it assumes itself where the attribute is missing.
constexpr std::array<MscclLimits, plan::kMscclTargets> kLimits{{
    {.steps = 256,
     .blocks = 216,
     .blocks_per_channel = 32,
     .channels = 32,
     .no_max_bytes = std::int64_t{1} << 27,
     .max_bytes_inclusive = false,
     .algorithms = 4},
    {.steps = 64,
     .blocks = 1024,
     .blocks_per_channel = 32,
     .channels = 32,
     .no_max_bytes = 0,
     .max_bytes_inclusive = true,
     .algorithms = 1024},
    {.steps = 64,
     .blocks = 64,
     .blocks_per_channel = 32,
     .channels = 128,
     .no_max_bytes = 0,
     .max_bytes_inclusive = true,
     .algorithms = 1024},
}};

}  // namespace

const MscclLimits& limits_of(plan::Target target) { return kLimits[static_cast<std::size_t>(target)]; }

}  // namespace tutti::compile

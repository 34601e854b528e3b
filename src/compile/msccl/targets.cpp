#include "compile/msccl_lowering.hpp"

#include <array>

namespace tutti::compile {
namespace {

struct Row {
    std::string_view name;
    MscclLimits limits;
};

/// In the order of MscclTarget. The first runtime takes maxBytes 0 at its word and reserves scratch for
/// messages of maxBytes, so there "no limit" is what it assumes itself where the attribute is missing.
constexpr std::array<Row, 3> kTargets{{
    {"msccl",
     {.steps = 256,
      .blocks = 216,
      .blocks_per_channel = 32,
      .channels = 32,
      .no_max_bytes = std::int64_t{1} << 27,
      .max_bytes_inclusive = false,
      .algorithms = 4}},
    {"msccl-executor",
     {.steps = 64,
      .blocks = 1024,
      .blocks_per_channel = 32,
      .channels = 32,
      .no_max_bytes = 0,
      .max_bytes_inclusive = true,
      .algorithms = 1024}},
    {"rccl",
     {.steps = 64,
      .blocks = 64,
      .blocks_per_channel = 32,
      .channels = 128,
      .no_max_bytes = 0,
      .max_bytes_inclusive = true,
      .algorithms = 1024}},
}};

}  // namespace

std::vector<std::string_view> msccl_target_names() {
    std::vector<std::string_view> names;
    for (const Row& row : kTargets) names.push_back(row.name);
    return names;
}

std::string_view name_of(MscclTarget target) { return kTargets[static_cast<std::size_t>(target)].name; }

const MscclLimits& limits_of(MscclTarget target) { return kTargets[static_cast<std::size_t>(target)].limits; }

}  // namespace tutti::compile

#pragma once

#include "app/tensor_sizes.hpp"
#include "cli/values.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace tutti::cli {

/// --mesh data=3,tensor=2.
[[nodiscard]] std::map<std::string, std::int64_t> tensor_mesh(const Values& values);

/// --sizes N=1000,B=8 and --mesh.
[[nodiscard]] app::TensorSizes tensor_sizes(const Values& values);

}  // namespace tutti::cli

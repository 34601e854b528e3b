#pragma once

#include <string_view>

namespace tutti::app {

/// "0.1.0".
[[nodiscard]] std::string_view version();

}  // namespace tutti::app

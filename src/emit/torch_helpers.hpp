#pragma once

#include <string>
#include <string_view>

namespace tutti::emit {

/// The functions that the text of a step calls, and those that they call.
[[nodiscard]] std::string torch_helpers_for(std::string_view step);

}  // namespace tutti::emit

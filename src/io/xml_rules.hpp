#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::io {

/// Rejects, as a PlanError with the code "xml" or "dtd", what XML forbids but pugixml accepts: document
/// types, custom entities, duplicate attributes, `<` in a value, text beside the root, a second root, bytes
/// that are not UTF-8. pugixml checks that tags nest. Linear.
void check_xml(std::string_view text, const std::string& file);

/// "line:column", from 1, in bytes.
[[nodiscard]] std::string line_and_column(std::string_view text, std::size_t offset);

}  // namespace tutti::io

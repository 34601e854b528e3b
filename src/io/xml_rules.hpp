#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::io {

/// Refuses, as a PlanError with the code "xml" or "dtd", what XML forbids and pugixml lets through: document
/// types, entities of their own, an attribute twice, `<` in a value, text beside the root, a second root,
/// bytes that are not UTF-8. Crossing tags are left to pugixml. Linear.
void check_xml(std::string_view text, const std::string& file);

/// "line:column", from 1, in bytes.
[[nodiscard]] std::string line_and_column(std::string_view text, std::size_t offset);

}  // namespace tutti::io

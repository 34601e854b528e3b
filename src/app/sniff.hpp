#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::app {

/// What the first bytes of a file reveal about its format. File names are never used.
struct Sniffed {
    enum class Shape {
        Empty,   ///< nothing but blanks
        Xml,     ///< starts with a tag, or holds <algo
        Json,    ///< starts with { or [
        Stream,  ///< one of our binary schedules
        Text
    };
    Shape shape = Shape::Empty;
    std::string root{};                 ///< of XML: the name of its root, if it is near
    std::vector<std::string> fields{};  ///< of a JSON object: its fields, as far as the bytes go
    std::string line{};                 ///< of a text: its first line

    [[nodiscard]] bool has_field(std::string_view name) const;
};

/// Uses up to io::Source::kBlock bytes.
[[nodiscard]] Sniffed sniff(std::string_view bytes);

}  // namespace tutti::app

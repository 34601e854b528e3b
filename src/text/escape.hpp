#pragma once

#include <string>
#include <string_view>

/// Names and messages come out of files that anybody may have written. Here is how they are written so that
/// whoever shows them cannot be made to obey them: a terminal, a reader of JSON or XML, a spreadsheet.
///
/// What is escaped: control characters (C0, DEL, C1), those that turn the direction of writing or take no
/// place (Unicode's category Cf), separators of lines and paragraphs, what is no character, and bytes that
/// are no UTF-8. Nothing else is, so that escaping twice is escaping once.
namespace tutti::text {

/// The text on one line: \n and other bytes become \x0a, characters beyond ASCII \u202e or \U000e0001.
[[nodiscard]] std::string printable(std::string_view text);

/// The same for lines of our own layout: newlines stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

/// For the text of a JSON value, which means the same afterwards: such characters can only be in its strings.
[[nodiscard]] std::string printable_json(std::string_view json);

/// For the text of an XML document whose names of tags and attributes are ours, which means the same
/// afterwards.
[[nodiscard]] std::string printable_xml(std::string_view xml);

/// The text as a cell of CSV: printable, in quotes where needed, and nothing that a spreadsheet would compute
/// (a cell that begins with =, +, - or @ and is no number gets an apostrophe in front).
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace tutti::text

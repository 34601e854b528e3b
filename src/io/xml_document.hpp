#pragma once

#include "io/source.hpp"

#include <pugixml.hpp>

#include <cstdint>
#include <string>

namespace tutti::io {

/// A well-formed XML document in memory, without document type and entities. Errors are PlanErrors: with code
/// "xml" or "dtd" from the constructor, with the reader's code from `fail`.
class XmlDocument {
  public:
    /// The largest file that is read; the tree takes several times its size.
    static constexpr std::uint64_t kLimit = std::uint64_t{1} << 29;

    /// Takes all of the source. UTF-8, or UTF-16 with a byte order mark.
    explicit XmlDocument(Source& source, std::uint64_t limit = kLimit);

    [[nodiscard]] pugi::xml_node root() const { return root_; }
    /// "line:column" of an element.
    [[nodiscard]] std::string place(pugi::xml_node element) const;
    [[noreturn]] void fail(const char* code, const std::string& message, pugi::xml_node element) const;

  private:
    std::string text_;  ///< as read, for places
    std::string file_;
    pugi::xml_document tree_;
    pugi::xml_node root_;
};

}  // namespace tutti::io

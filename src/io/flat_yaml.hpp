#pragma once

#include "io/source.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::io {

/// A scalar of a YAML text and its place ("line:column").
struct YamlWord {
    std::string text;
    std::string place;
};

/// `key: [word, word]` or `key: word`.
struct YamlEntry {
    YamlWord key;
    std::vector<YamlWord> words;
    bool flat = true;  ///< false: there was something deeper, which was not kept
};

/// The first document of a YAML text as a map from keys to lists of scalars, which is enough for a settings
/// file. Deeper values are skipped. Throws InputError (file, line:column) on a text that is no YAML or no
/// map, a duplicate key, more than 256 KiB, nesting deeper than 16, and on any anchor or alias, because a few
/// lines of those can expand to gigabytes.
class FlatYaml {
  public:
    explicit FlatYaml(Source& source);

    [[nodiscard]] const std::vector<YamlEntry>& entries() const { return entries_; }
    [[nodiscard]] const YamlEntry* find(std::string_view key) const;

  private:
    std::vector<YamlEntry> entries_;
};

}  // namespace tutti::io

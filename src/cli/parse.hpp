#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace tutti::cli {

/// `tutti --help`, `tutti help synth`, `tutti synth --help`.
struct HelpOptions {
    std::string command{};  ///< empty: the whole program
    friend bool operator==(const HelpOptions&, const HelpOptions&) = default;
};

struct VersionOptions {
    friend bool operator==(const VersionOptions&, const VersionOptions&) = default;
};

/// `arguments` are those after the program's name. Throws InputError, with a suggestion where a name is
/// close.
[[nodiscard]] Call parse(const std::vector<std::string>& arguments);

/// The text of `tutti --help`, or of `tutti COMMAND --help`. Precondition: the command exists, or is empty.
[[nodiscard]] std::string help_text(const std::string& command);

}  // namespace tutti::cli

#pragma once

#include "cli/command.hpp"

namespace tutti::cli {

/// Values stay text here: what a command makes of them is its own, and so are its complaints. Of an option
/// that is given twice the last one counts, so that a script's options can be overruled; hence the vectors.
[[nodiscard]] boost::program_options::value_semantic* text_value(const char* name);
[[nodiscard]] boost::program_options::value_semantic* flag();

/// --json, --quiet, --help.
[[nodiscard]] OptionGroup common_options();
/// --method, --seed, --threads, --time-limit, --memory-limit.
[[nodiscard]] OptionGroup search_options(const char* time_limit_help);

/// The help of --method, with a line for each.
[[nodiscard]] std::string method_help();
[[nodiscard]] Names method_names();

}  // namespace tutti::cli

#pragma once

#include "app/bound.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

/// Values are parsed as text; each command converts and checks its own. If an option is given twice the last
/// value counts, so that a script's options can be overridden; hence the vectors.
[[nodiscard]] boost::program_options::value_semantic* text_value(const char* name);
[[nodiscard]] boost::program_options::value_semantic* flag();

/// --json, --quiet, --help.
[[nodiscard]] OptionGroup common_options();
/// --method, --heuristic, --option, --seed, --threads, --time-limit, --memory-limit.
[[nodiscard]] OptionGroup search_options(const char* time_limit_help);

/// --bytes and --chunks, in place of what an instance says.
[[nodiscard]] OptionGroup variation_options(bool lists = false);

/// The help of --method, with a line for each.
[[nodiscard]] std::string method_help();
[[nodiscard]] Names method_names();

/// The same for --heuristic.
[[nodiscard]] std::string heuristic_help();
[[nodiscard]] Names heuristic_names();

/// The help of --option, and its values NAME=VALUE, checked, in the order given.
[[nodiscard]] const char* option_help();
[[nodiscard]] std::vector<std::pair<std::string, double>> option_values(const Values& values);
/// The usual ones, with those.
[[nodiscard]] SearchOptions chosen_options(const Values& values);

}  // namespace tutti::cli

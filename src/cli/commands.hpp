#pragma once

#include <boost/program_options/options_description.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tutti::cli {

/// Options that belong together, under a caption.
struct OptionGroup {
    std::string_view caption;
    boost::program_options::options_description options{};
};

/// A command as data: what help prints and what the parser accepts. The table has one row for each.
struct Command {
    std::string_view name;
    std::string_view summary;   ///< a line in `tutti --help`
    std::string_view usage;     ///< after "tutti NAME"
    std::string_view about;     ///< the paragraphs that teach
    std::string_view examples;  ///< lines to be typed
    std::vector<OptionGroup> groups;
    std::string_view positional;  ///< what arguments without dashes are; empty: there are none
    bool free_options = false;    ///< options that are not listed are fields of a generator

    [[nodiscard]] std::vector<std::string> option_names() const;  ///< "--seed" and so on
};

/// All commands, in the order in which people should meet them.
[[nodiscard]] std::vector<Command> commands();

}  // namespace tutti::cli

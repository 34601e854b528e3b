#include "app/version.hpp"
#include "cli/commands.hpp"
#include "cli/parse.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <algorithm>

namespace tutti::cli {
namespace {

namespace po = boost::program_options;

constexpr std::size_t kColumns = 80;
constexpr std::size_t kTextColumn = 26;

/// "  -o, --output FILE".
std::string option_head(const po::option_description& option) {
    const std::string brief = option.canonical_display_name(po::command_line_style::allow_dash_for_short);
    const std::string value = option.semantic()->max_tokens() > 0 ? " " + option.format_parameter() : "";
    return fmt::format("  {}--{}{}", brief.size() != 2 || !brief.starts_with('-') ? "    " : brief + ", ",
                       option.long_name(), value);
}

/// The text wrapped to the column beside the option names.
std::vector<std::string> wrapped(const std::string& text) {
    std::vector<std::string> lines(1);
    std::string word;
    const auto end_word = [&] {
        if (word.empty()) return;
        if (!lines.back().empty() && kTextColumn + lines.back().size() + 1 + word.size() > kColumns) {
            lines.emplace_back();
        }
        lines.back() += (lines.back().empty() ? "" : " ") + word;
        word.clear();
    };
    for (const char c : text) {
        if (c != ' ' && c != '\n') {
            word += c;
            continue;
        }
        end_word();
        if (c == '\n') lines.emplace_back();
    }
    end_word();
    return lines;
}

std::string group_text(const OptionGroup& group) {
    std::string text = fmt::format("{}:\n", group.caption);
    for (const auto& option : group.options.options()) {
        std::string line = option_head(*option);
        for (const std::string& part : wrapped(option->description())) {
            if (line.size() + 2 > kTextColumn) {
                text += line + "\n";
                line.clear();
            }
            text += fmt::format("{:<{}}{}\n", line, kTextColumn, part);
            line.clear();
        }
    }
    return text + "\n";
}

std::string indented(std::string_view lines) {
    std::string text = "  ";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += lines[i];
        if (lines[i] == '\n' && i + 1 < lines.size()) text += "  ";
    }
    return text;
}

std::string command_help(const Command& command) {
    std::string text = fmt::format("tutti {}: {}\n\nUsage: tutti {} {}\n\n{}\n", command.name,
                                   command.summary, command.name, command.usage, command.about);
    for (const OptionGroup& group : command.groups) text += group_text(group);
    return text + "Examples:\n" + indented(command.examples);
}

constexpr std::string_view kFirstExample = R"(A first example. Save this as ring4.json:
  {
    "tutti": 1,
    "topology": {"generate": {"kind": "ring", "npus": 4, "alpha": 1, "beta": 2}},
    "collectives": [{"kind": "all_gather"}]
  }
and type:
  tutti synth ring4.json
  tutti verify ring4.json ring4.schedule.json
)";

constexpr std::string_view kExitCodes = R"(Exit codes:
  0    done, and valid
  1    a schedule is invalid, a batch holds a failure, or results got worse
  2    bad usage, or an input that is malformed (the message says where)
  3    no schedule within the limits of time or memory
  4    infeasible: a receiver cannot be reached (the message names it)
  70   a bug of ours; the message names a file that reproduces it
  130  interrupted by Ctrl-C; what was found by then is written
)";

std::string program_help() {
    std::string text = fmt::format(
        "tutti {}: synthesizes and verifies schedules of collective communication\n\n"
        "An instance is a network, process groups and collectives (all-gather, all-reduce,\n"
        "all-to-all, ...). A schedule says which chunk crosses which link at which tick. tutti\n"
        "finds schedules, says how far from optimal they can be, and checks every one of them.\n\n"
        "Usage: tutti COMMAND [arguments]\n\nCommands:\n",
        app::version());
    for (const Command& command : commands())
        text += fmt::format("  {:<12}{}\n", command.name, command.summary);
    text += fmt::format("  {:<12}{}\n\n", "help", "print the page of a command: tutti help synth");
    text += fmt::format(
        "Every command takes --json (the answer for programs), --quiet and --help.\n"
        "tutti --version prints the version.\n\n{}\n{}",
        kFirstExample, kExitCodes);
    return text;
}

}  // namespace

std::string help_text(const std::string& command) {
    if (command.empty()) return program_help();
    const auto table = commands();
    const auto found = std::ranges::find(table, command, &Command::name);
    if (found == table.end()) throw InternalError("no command " + command);
    return command_help(*found);
}

}  // namespace tutti::cli

#include "cli/parse.hpp"

#include "app/version.hpp"
#include "cli/commands.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <algorithm>

namespace tutti::cli {
namespace {

namespace po = boost::program_options;

/// Options that the command does not list, with their values. If one is given twice, the last value counts.
std::vector<std::pair<std::string, std::string>> free_fields(const po::parsed_options& parsed,
                                                             std::string_view command) {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const po::option& option : parsed.options) {
        if (!option.unregistered) continue;
        const std::string& typed = option.original_tokens.front();
        if (!typed.starts_with("--") || typed.size() < 3)
            fail(fmt::format("unknown option '{}'", typed), command);
        std::string name = typed.substr(2, typed.find('=') - 2);
        std::ranges::replace(name, '-', '_');
        std::erase_if(fields, [&](const auto& field) { return field.first == name; });
        fields.emplace_back(std::move(name), option.value.empty() ? "true" : option.value.front());
    }
    return fields;
}

/// Gives an unlisted option its value: the token after it, unless that is an option itself. boost would leave
/// the token among the arguments without dashes.
std::vector<std::string> with_values_attached(const Command& command, std::vector<std::string> arguments) {
    const auto listed = command.option_names();
    std::vector<std::string> result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        std::string& argument = arguments[i];
        const bool is_field = argument.starts_with("--") && argument.size() > 2 &&
                              argument.find('=') == argument.npos &&
                              std::ranges::find(listed, argument) == listed.end();
        if (is_field && i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
            argument += "=" + arguments[++i];
        }
        result.push_back(std::move(argument));
    }
    return result;
}

/// All options of a command, and its positional arguments as one more. Must outlive the parsed options.
po::options_description accepted_by(const Command& command) {
    po::options_description all;
    for (const OptionGroup& group : command.groups) all.add(group.options);
    if (!command.positional.empty()) {
        all.add_options()(std::string(command.positional).c_str(), po::value<std::vector<std::string>>());
    }
    return all;
}

po::parsed_options parse_command_line(const Command& command, const po::options_description& accepted,
                                      const std::vector<std::string>& arguments) {
    po::positional_options_description positions;
    if (!command.positional.empty()) positions.add(std::string(command.positional).c_str(), -1);
    po::command_line_parser parser(command.free_options ? with_values_attached(command, arguments)
                                                        : arguments);
    parser.options(accepted).positional(positions);
    parser.style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing);
    if (command.free_options) parser.allow_unregistered();
    return parser.run();
}

/// Parses, with boost's errors reworded.
po::parsed_options parsed_or_explained(const Command& command, const po::options_description& accepted,
                                       const std::vector<std::string>& arguments) {
    try {
        return parse_command_line(command, accepted, arguments);
    } catch (const po::unknown_option& error) {
        const auto names = command.option_names();
        const std::string name = error.get_option_name();
        fail(fmt::format("unknown option '{}'{}", name, suggestion(name, Names(names.begin(), names.end()))),
             command.name);
    } catch (const po::too_many_positional_options_error&) {
        fail("expected no arguments besides options", command.name);
    } catch (const po::error_with_option_name& error) {
        if (dynamic_cast<const po::invalid_command_line_syntax*>(&error) == nullptr) {
            fail(error.what(), command.name);
        }
        const auto kind = dynamic_cast<const po::invalid_command_line_syntax&>(error).kind();
        const bool missing = kind == po::invalid_syntax::missing_parameter;
        fail(fmt::format("option '{}' {}", error.get_option_name(),
                         missing ? "needs a value" : "takes no value"),
             command.name);
    } catch (const po::error& error) {
        fail(error.what(), command.name);
    }
}

Call help_call(std::string command) {
    return {HelpOptions{command}, {}, [command = std::move(command)](const Process& process) {
                process.streams.out << text::SafeText::lines(help_text(command));
                return ExitCode::Done;
            }};
}

Call version_call() {
    return {VersionOptions{}, {}, [](const Process& process) {
                process.streams.out.print("tutti {}\n", app::version());
                return ExitCode::Done;
            }};
}

Call command_call(const Command& command, const std::vector<std::string>& arguments) {
    const po::options_description accepted = accepted_by(command);
    const po::parsed_options parsed = parsed_or_explained(command, accepted, arguments);
    po::variables_map map;
    po::store(parsed, map);
    const Values values(command.name, std::move(map), free_fields(parsed, command.name));
    return values.flag("help") ? help_call(std::string(command.name)) : command.parse(values);
}

const Command& find_command(const std::vector<Command>& table, const std::string& name) {
    const auto found = std::ranges::find(table, name, &Command::name);
    if (found != table.end()) return *found;
    Names names{"help"};
    for (const Command& command : table) names.push_back(command.name);
    const std::string_view what = name.starts_with('-') ? "option" : "command";
    if (what == "option") names = {"--help", "--version"};
    fail(fmt::format("unknown {} '{}'{}", what, name, suggestion(name, names)), "");
}

/// "synth, verify or convert".
std::string names_of(const std::vector<Command>& table) {
    std::string names;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::string_view before = i == 0 ? "" : i + 1 == table.size() ? " or " : ", ";
        names += fmt::format("{}{}", before, table[i].name);
    }
    return names;
}

}  // namespace

Call parse(const std::vector<std::string>& arguments) {
    const auto table = commands();
    if (arguments.empty()) fail(fmt::format("expected a command: {}", names_of(table)), "");
    const std::string& first = arguments.front();
    if (first == "--version") return version_call();
    if (first == "--help" || first == "-h") return help_call("");
    if (first == "help") {
        if (arguments.size() == 1 || arguments[1].starts_with("-") || arguments[1] == "help")
            return help_call("");
        return help_call(std::string(find_command(table, arguments[1]).name));
    }
    return command_call(find_command(table, first), {arguments.begin() + 1, arguments.end()});
}

}  // namespace tutti::cli

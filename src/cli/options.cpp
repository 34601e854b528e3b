#include "cli/options.hpp"

#include "cli/commands.hpp"
#include "cli/option_values.hpp"
#include "models/backends/registry.hpp"

#include <boost/program_options.hpp>

#include <array>

namespace tutti::cli {
namespace {

namespace po = boost::program_options;

/// Of steps, rounds and chunks: far beyond what can be solved, far from what could overflow.
constexpr int kMostParetoSize = 10'000;
/// Of a horizon, in ticks.
constexpr std::int64_t kMostHorizon = std::int64_t{1} << 53;
SynthOptions synth_options(const Values& values) {
    SynthOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    options.output = values.text("output").value_or("");
    options.format = values.schedule_format("format");
    options.expand = values.flag("expand");
    options.method = values.method();
    options.heuristic = values.heuristic();
    for (const auto& [name, value] : values.search_options())
        find_search_option(name)->set(options.options, value);
    options.seed = values.number<std::uint64_t>("seed", 1, 0);
    options.threads = values.number<unsigned>("threads", 1, 1, kMostThreads);
    options.time_limit = values.seconds("time-limit");
    options.memory_limit = values.megabytes("memory-limit");
    options.baselines = values.flag("baselines");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.json && options.output == "-") {
        values.refuse("--json and --output - both want standard output; give one of them a file");
    }
    return options;
}

/// Options that the table does not list, with their values. The last one counts here too.
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

TopologyOptions topology_options(const Values& values, const po::parsed_options& parsed) {
    TopologyOptions options;
    options.fields = free_fields(parsed, "topology");
    if (!values.list("what").empty()) {
        options.what = values.one_positional("what", "a generator's kind, a file or a JSON text");
    }
    options.links = values.flag("links");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.what.empty() && !options.fields.empty()) {
        values.refuse(
            fmt::format("option --{} needs a generator's kind before it", options.fields.front().first));
    }
    if (options.json && options.links) values.refuse("--links is for people; --json already lists the links");
    return options;
}

/// "S,R,C": three whole numbers of at least 1.
std::optional<std::array<int, 3>> point_of(const Values& values) {
    const auto text = values.text("point");
    if (!text) return std::nullopt;
    std::array<int, 3> point{};
    const char* at = text->data();
    const char* const end = at + text->size();
    for (std::size_t i = 0; i < point.size(); ++i) {
        const auto [stop, error] = std::from_chars(at, end, point[i]);
        const bool ends_well = i + 1 < point.size() ? stop != end && *stop == ',' : stop == end;
        if (error != std::errc() || point[i] < 1 || point[i] > kMostParetoSize || !ends_well) {
            values.refuse(
                fmt::format("option --point: expected steps,rounds,chunks, each from 1 to {}, found '{}'",
                            kMostParetoSize, *text));
        }
        at = stop + 1;
    }
    return point;
}

ParetoOptions pareto_options(const Values& values) {
    ParetoOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    options.output = values.text("output").value_or("");
    const auto limit = [&](const char* name, int least) -> std::optional<int> {
        if (!values.flag(name)) return std::nullopt;
        return values.number<int>(name, least, least, kMostParetoSize);
    };
    options.max_steps = limit("max-steps", 1);
    options.max_chunks = limit("max-chunks", 1);
    options.max_rounds = limit("max-rounds", 1);
    options.k = limit("k", 0);
    options.point = point_of(values);
    if (options.point && (options.max_steps || options.max_chunks || options.max_rounds || options.k)) {
        values.refuse("--point asks about one point; limits of the walk have no meaning beside it");
    }
    Names backends{"auto"};
    for (const models::BackendEntry& entry : models::backends()) backends.push_back(entry.name);
    options.backend = std::string(backends[values.choice("backend", backends)]);
    options.seed = values.number<std::uint64_t>("seed", 1, 0);
    options.threads = values.number<unsigned>("threads", 1, 1, kMostThreads);
    options.time_limit = values.seconds("time-limit");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    return options;
}

BoundOptions bound_options(const Values& values) {
    BoundOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    options.time_limit = values.seconds("time-limit");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    return options;
}

ModelOptions model_options(const Values& values) {
    ModelOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    if (values.flag("horizon")) options.horizon = values.number<std::int64_t>("horizon", 0, 0, kMostHorizon);
    options.encoding =
        static_cast<ModelEncoding>(values.choice("encoding", {"time-indexed", "symmetric", "intervals"}));
    if (values.flag("format")) {
        options.format = static_cast<ModelFormat>(values.choice("format", {"mps", "smt2", "cpsat"}));
    }
    options.output = values.text("output").value_or("");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.json && (options.output.empty() || options.output == "-")) {
        values.refuse("--json and the model both want standard output; give the model a file with --output");
    }
    return options;
}

DoctorOptions doctor_options(const Values& values) {
    return {values.flag("require-all"), values.flag("options"), values.flag("json"), values.flag("quiet")};
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

/// All options of a command, and its arguments without dashes as one more. What is parsed refers to this.
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

/// The same, with boost's complaints in our words.
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

Values values_of(const Command& command, const po::parsed_options& parsed) {
    po::variables_map map;
    po::store(parsed, map);
    return {command, std::move(map)};
}

Options command_options(const Command& command, const std::vector<std::string>& arguments) {
    const po::options_description accepted = accepted_by(command);
    const po::parsed_options parsed = parsed_or_explained(command, accepted, arguments);
    const Values values = values_of(command, parsed);
    if (values.flag("help")) return HelpOptions{std::string(command.name)};
    if (command.name == "synth") return synth_options(values);
    if (command.name == "verify") return verify_options(values);
    if (command.name == "convert") return convert_options(values);
    if (command.name == "bound") return bound_options(values);
    if (command.name == "topology") return topology_options(values, parsed);
    if (command.name == "batch") return batch_options(values);
    if (command.name == "results") return results_options(values);
    if (command.name == "view") return view_options(values);
    if (command.name == "pareto") return pareto_options(values);
    if (command.name == "model") return model_options(values);
    if (command.name == "doctor") return doctor_options(values);
    throw InternalError(fmt::format("the command '{}' has no options", command.name));
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

}  // namespace

Options parse(const std::vector<std::string>& arguments) {
    if (arguments.empty()) {
        fail(
            "expected a command: synth, verify, convert, bound, batch, results, view, pareto, model, "
            "topology or "
            "doctor",
            "");
    }
    const std::string& first = arguments.front();
    const auto table = commands();
    if (first == "--version") return VersionOptions{};
    if (first == "--help" || first == "-h") return HelpOptions{};
    if (first == "help") {
        if (arguments.size() == 1 || arguments[1].starts_with("-") || arguments[1] == "help")
            return HelpOptions{};
        return HelpOptions{std::string(find_command(table, arguments[1]).name)};
    }
    return command_options(find_command(table, first), {arguments.begin() + 1, arguments.end()});
}

}  // namespace tutti::cli

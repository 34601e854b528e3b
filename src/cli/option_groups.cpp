#include "cli/option_groups.hpp"

#include "app/synthesize.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

namespace tutti::cli {

namespace po = boost::program_options;

po::value_semantic* text_value(const char* name) {
    return po::value<std::vector<std::string>>()->value_name(name);
}
po::value_semantic* flag() { return po::value<std::vector<std::string>>()->zero_tokens(); }

OptionGroup common_options() {
    OptionGroup group{"Common"};
    group.options.add_options()                                              //
        ("json", flag(), "print one JSON object on standard output")         //
        ("quiet,q", flag(), "no talk on standard error, except for errors")  //
        ("help,h", flag(), "print this page");
    return group;
}

std::string method_help() {
    std::string help = "how to find the schedule (default auto):";
    for (const synth::Method& method : synth::methods())
        help += fmt::format("\n{}: {}", method.name, method.help);
    return help;
}

std::string heuristic_help() {
    std::string help = "ask this heuristic alone, and no solver (default: all that suit):";
    for (const synth::Method& heuristic : synth::heuristics())
        help += fmt::format("\n{}: {}", heuristic.name, heuristic.help);
    return help;
}

const char* option_help() {
    return "turn a search option, as often as needed; 'tutti doctor --options' lists them with their "
           "defaults";
}

OptionGroup search_options(const char* time_limit_help) {
    OptionGroup group{"Search"};
    group.options.add_options()                                      //
        ("method", text_value("NAME"), method_help().c_str())        //
        ("heuristic", text_value("NAME"), heuristic_help().c_str())  //
        ("option", text_value("NAME=VALUE"), option_help())          //
        ("seed", text_value("N"),
         "of the random choices (default 1); the same seed and threads give the same schedule, unless a "
         "limit stops the search")                                             //
        ("threads", text_value("N"), "threads for one synthesis (default 1)")  //
        ("time-limit", text_value("SECONDS"), time_limit_help)                 //
        ("memory-limit", text_value("SIZE"),
         "end the search with the best schedule so far beyond this much memory, like 4G");
    return group;
}

OptionGroup variation_options(bool lists) {
    OptionGroup group{"In place of what the instance says"};
    const std::string several =
        lists ? "; several with commas, or 1K:1G for every double from 1K to 1G, give a table" : "";
    group.options.add_options()  //
        ("bytes", text_value(lists ? "LIST" : "N"),
         ("the size of each collective's call as nccl-tests counts it, like 64M, for networks with "
          "bandwidths" +
          several)
             .c_str())  //
        ("chunks", text_value(lists ? "LIST" : "N"),
         fmt::format("the chunks of every collective{}", lists ? ", like 1,2,4" : "").c_str());
    return group;
}

Names method_names() {
    Names names;
    for (const synth::Method& method : synth::methods()) names.push_back(method.name);
    return names;
}

Names heuristic_names() {
    Names names;
    for (const synth::Method& heuristic : synth::heuristics()) names.push_back(heuristic.name);
    return names;
}

std::vector<std::pair<std::string, double>> option_values(const Values& values) {
    std::vector<std::pair<std::string, double>> options;
    for (const std::string& given : values.list("option")) {
        const std::size_t equals = given.find('=');
        if (equals == given.npos)
            values.refuse(fmt::format("option --option: expected NAME=VALUE, found '{}'", given));
        const std::string name = given.substr(0, equals), value = given.substr(equals + 1);
        const SearchOption* option = find_search_option(name);
        if (option == nullptr) {
            Names names;
            for (const SearchOption& each : search_option_table()) names.push_back(each.name);
            values.refuse(
                fmt::format("option --option: there is no search option '{}' ('tutti doctor --options' "
                            "lists them){}",
                            name, suggestion(name, names)));
        }
        double number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || end != value.data() + value.size() || !option->allows(number))
            values.refuse(
                fmt::format("option --option {}: expected {}, found '{}'", name, option->range(), value));
        options.emplace_back(name, number);
    }
    return options;
}

SearchOptions chosen_options(const Values& values) {
    SearchOptions options;
    for (const auto& [name, value] : option_values(values)) find_search_option(name)->set(options, value);
    return options;
}

}  // namespace tutti::cli

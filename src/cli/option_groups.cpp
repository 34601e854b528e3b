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

OptionGroup search_options(const char* time_limit_help) {
    OptionGroup group{"Search"};
    group.options.add_options()                                //
        ("method", text_value("NAME"), method_help().c_str())  //
        ("seed", text_value("N"),
         "of the random choices (default 1); the same seed and threads give the same schedule, unless a "
         "limit stops the search")                                             //
        ("threads", text_value("N"), "threads for one synthesis (default 1)")  //
        ("time-limit", text_value("SECONDS"), time_limit_help)                 //
        ("memory-limit", text_value("MB"),
         "end the search with the best schedule so far beyond this much memory");
    return group;
}

Names method_names() {
    Names names;
    for (const synth::Method& method : synth::methods()) names.push_back(method.name);
    return names;
}

}  // namespace tutti::cli

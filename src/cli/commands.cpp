// The table of commands. A new command is a file in commands/ that defines Command NAME_command(), and a row
// here.

#include "cli/commands.hpp"

#define TUTTI_COMMANDS(ROW) \
    ROW(synth)              \
    ROW(verify)             \
    ROW(convert)            \
    ROW(compile)            \
    ROW(algorithms)         \
    ROW(run)                \
    ROW(bench)              \
    ROW(tune)               \
    ROW(bound)              \
    ROW(batch)              \
    ROW(results)            \
    ROW(view)               \
    ROW(pareto)             \
    ROW(model)              \
    ROW(topology)           \
    ROW(doctor)

namespace tutti::cli {

#define TUTTI_DECLARE(name) Command name##_command();
TUTTI_COMMANDS(TUTTI_DECLARE)
#undef TUTTI_DECLARE

std::vector<Command> commands() {
#define TUTTI_MAKE(name) name##_command(),
    return {TUTTI_COMMANDS(TUTTI_MAKE)};
#undef TUTTI_MAKE
}

std::vector<std::string> Command::option_names() const {
    std::vector<std::string> names;
    for (const OptionGroup& group : groups) {
        for (const auto& option : group.options.options()) names.push_back("--" + option->long_name());
    }
    return names;
}

}  // namespace tutti::cli

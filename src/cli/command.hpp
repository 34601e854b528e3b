#pragma once

#include "cli/exit_code.hpp"
#include "cli/streams.hpp"
#include "cli/values.hpp"

#include <boost/program_options/options_description.hpp>

#include <any>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::cli {

/// What commands get from the process besides their options.
struct Process {
    Streams streams;
    const std::atomic<bool>* interrupted = nullptr;  ///< raised by Ctrl-C; may be null
    std::string program = "tutti";                   ///< as it was called

    [[nodiscard]] bool was_interrupted() const { return interrupted != nullptr && interrupted->load(); }
};

/// How a command prints: options that every command has.
struct Talk {
    bool json = false;
    bool quiet = false;
    friend bool operator==(const Talk&, const Talk&) = default;
};

/// A parsed command line: its options, and how to run it. Parsing reads no file.
struct Call {
    std::any options{};  ///< the command's own, for tests
    Talk talk{};
    /// Returns the exit code. Failures are thrown: see failure.hpp.
    std::function<ExitCode(const Process&)> run{};
};

/// Options that belong together, under a caption.
struct OptionGroup {
    std::string_view caption;
    boost::program_options::options_description options{};
};

/// A command: its help, its options, their meaning, and what it does. Each is defined by one file of
/// commands/ and has one row in commands.cpp.
struct Command {
    std::string_view name;
    std::string_view summary;   ///< a line in `tutti --help`
    std::string_view usage;     ///< after "tutti NAME"
    std::string_view about;     ///< the paragraphs that teach
    std::string_view examples;  ///< lines to be typed
    std::vector<OptionGroup> groups;
    std::string_view positional;  ///< what arguments without dashes are; empty: there are none
    bool free_options = false;    ///< options that are not listed are fields of a generator
    /// The call for these option values. Throws InputError.
    std::function<Call(const Values&)> parse;

    [[nodiscard]] std::vector<std::string> option_names() const;  ///< "--seed" and so on
};

/// Command::parse for a command that consists of two functions: one makes its options, one runs them.
template <class Options>
[[nodiscard]] std::function<Call(const Values&)> parsed_by(Options (*parse)(const Values&),
                                                           ExitCode (*run)(const Options&, const Talk&,
                                                                           const Process&)) {
    return [parse, run](const Values& values) {
        const Options options = parse(values);
        const Talk talk{values.flag("json"), values.flag("quiet")};
        return Call{options, talk, [=](const Process& process) { return run(options, talk, process); }};
    };
}

}  // namespace tutti::cli

#include "cli/failure.hpp"

#include "app/bug.hpp"
#include "text/format.hpp"

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

namespace tutti::cli {
namespace {

std::string command_line(const std::vector<std::string>& arguments) {
    std::string line = "tutti";
    for (const std::string& argument : arguments) line += " " + text::shell_word(argument);
    return line;
}

Failure bug_with_file(const app::BugError& error) {
    const std::string path = fmt::format("tutti-bug-{}.json", text::file_name_of(error.instance_name()));
    try {
        app::save_instance(error, path);
    } catch (const InputError& unwritable) {
        return {ExitCode::Bug, fmt::format("{} (and {})", error.what(), unwritable.what()), {}, {}, {}};
    }
    return {ExitCode::Bug, error.what(), {}, {}, path};
}

}  // namespace

Failure failure_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const InputError& e) {
        return {ExitCode::BadInput, e.message(), e.file(), e.place(), {}};
    } catch (const LimitError& e) {
        return {ExitCode::LimitReached, e.what(), {}, {}, {}};
    } catch (const InfeasibleError& e) {
        return {ExitCode::Infeasible, e.what(), {}, {}, {}};
    } catch (const app::BugError& e) {
        return bug_with_file(e);
    } catch (const std::filesystem::filesystem_error& e) {
        return {ExitCode::BadInput, e.code().message(), e.path1().string(), {}, {}};
    } catch (const std::bad_alloc&) {
        return {ExitCode::LimitReached,
                "out of memory: the instance is too large for this machine or its limits",
                {},
                {},
                {}};
    } catch (const std::system_error& e) {
        // The system cannot start a thread.
        return {ExitCode::LimitReached, e.what(), {}, {}, {}};
    } catch (const std::exception& e) {
        return {ExitCode::Bug, e.what(), {}, {}, {}};
    } catch (...) {
        return {ExitCode::Bug, "an exception without a name", {}, {}, {}};
    }
}

io::Json failure_json(const Failure& failure) {
    io::Json json{{"error", failure.message}};
    if (!failure.file.empty()) json["file"] = failure.file;
    if (!failure.place.empty()) json["place"] = failure.place;
    if (!failure.reproducer.empty()) json["reproducer"] = failure.reproducer;
    json["exit_code"] = static_cast<int>(failure.code);
    return json;
}

void report(const Failure& failure, const std::vector<std::string>& arguments, const Streams& streams) {
    if (std::ranges::find(arguments, "--json") != arguments.end()) {
        streams.out.print("{}\n", io::json_line(failure_json(failure)));
    }
    const text::SafeText error = toned(Tone::Bad, "error:", streams.colour_err);
    if (failure.code != ExitCode::Bug) {
        streams.err.print("{} {}\n", error, InputError(failure.message, failure.place, failure.file).what());
        return;
    }
    streams.err.print("{} this is a bug in tutti: {}\n", error, failure.message);
    streams.err.print("Please report it with {}this command:\n  {}\n",
                      failure.reproducer.empty() ? "" : fmt::format("the file {} and ", failure.reproducer),
                      command_line(arguments));
}

}  // namespace tutti::cli

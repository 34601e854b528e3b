#include "app/python_program.hpp"

#include "core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

extern char** environ;

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

/// Where the package `tutti` lies: beside the command if it is installed, else in the sources.
std::string package_folder() {
    if (const char* const given = std::getenv("TUTTI_PYTHONPATH")) return given;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const fs::path installed = program.parent_path().parent_path() / "share/tutti/python";
    if (!error && fs::exists(installed / "tutti", error)) return installed.string();
    return TUTTI_PYTHON_SOURCES;
}

std::vector<std::string> environment_with(const std::string& folder) {
    std::vector<std::string> variables;
    std::string path = "PYTHONPATH=" + folder;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        if (text.starts_with("PYTHONPATH=")) {
            path += ":" + std::string(text.substr(11));
        } else {
            variables.emplace_back(text);
        }
    }
    variables.push_back(path);
    return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

/// The exit status of the child; kills it when stopped.
int status_of(pid_t child, const Stop& stop) {
    int status = 0;
    while (true) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) return status;
        if (ended < 0 && errno != EINTR) throw InternalError("the Python program cannot be waited for");
        if (stop.requested()) {
            ::kill(child, SIGKILL);
            (void)::waitpid(child, &status, 0);
            throw LimitError("stopped while the Python program ran");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

std::string text_of_file(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

PythonTraces trace_python(const std::string& program, const std::vector<std::string>& arguments,
                          const std::string& folder, const Stop& stop) {
    const char* const chosen = std::getenv("TUTTI_PYTHON");
    const std::string python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
    std::vector<std::string> words{python, "-m", "tutti.trace_program", folder, program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = environment_with(package_folder());

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, python.c_str(), &actions, nullptr, pointers(words).data(),
                                     pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw InputError(fmt::format("{} cannot be run ({}); TUTTI_PYTHON names the interpreter for programs",
                                     python, std::generic_category().message(error)));
    }
    const int status = status_of(child, stop);
    // The package says in a file what went wrong: a code, a place, a message.
    std::string said = text_of_file(folder + "/error");
    if (!said.empty()) {
        const auto line = [&] {
            const auto end = std::min(said.find('\n'), said.size());
            const std::string first = said.substr(0, end);
            said.erase(0, std::min(end + 1, said.size()));
            return first;
        };
        const std::string code = line(), place = line();
        if (code == "check-failed") return {.failed_check = said, .place = place};
        throw InputError(said, place, program);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw InputError(WIFEXITED(status)
                             ? fmt::format("the program ended with exit code {}", WEXITSTATUS(status))
                             : fmt::format("the program was ended by signal {}", WTERMSIG(status)),
                         "", program);
    }
    PythonTraces traces;
    for (std::size_t i = 1; fs::exists(fmt::format("{}/{}.chunks", folder, i)); ++i) {
        traces.files.push_back(fmt::format("{}/{}.chunks", folder, i));
    }
    for (std::size_t i = 1; fs::exists(fmt::format("{}/{}.json", folder, i)); ++i) {
        traces.plans.push_back({fmt::format("{}/{}.json", folder, i), fmt::format("{}/{}.lines", folder, i)});
    }
    return traces;
}

}  // namespace tutti::app

#include "cli/batch_tasks.hpp"

#include "text/escape.hpp"
#include "text/format.hpp"

#include <filesystem>

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

std::string whole(const std::string& path) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error).lexically_normal();
    return error ? path : absolute.string();
}

/// A command is a line: what it names must not end it.
void check_one_line(const std::string& path) {
    if (text::printable(path) != path)
        throw InputError("has characters that a line of commands cannot have", {}, text::printable(path));
}

std::string sentence(const io::ResultLine& row) {
    if (row.failure != io::Failure::None) return fmt::format("failed: {}: {}", row.key, row.error);
    const std::string makespan = row.makespan ? fmt::format(", makespan {}", row.makespan->count()) : "";
    return fmt::format("{}: {}{}", row.key, name_of(row.status), makespan);
}

}  // namespace

// A name without a slash is looked for in PATH, and that may be elsewhere on another machine.
TaskCommands::TaskCommands(const std::string& program, const std::string& results)
    : program_(program.find('/') == program.npos ? program : whole(program)), results_(whole(results)) {
    begin_ = text::shell_word(program_) + " batch ";
    end_ = " -o " + text::shell_word(results_);
}

std::vector<std::string> TaskCommands::words(const std::string& key) const {
    // What begins with a dash would be taken for an option.
    if (key.starts_with('-')) return {program_, "batch", "--task=" + key, "-o", results_};
    return {program_, "batch", "--task", key, "-o", results_};
}

std::string TaskCommands::line(const std::string& key) const {
    const bool is_like_option = key.starts_with('-');
    return begin_ + (is_like_option ? text::shell_word("--task=" + key) : "--task " + text::shell_word(key)) +
           end_;
}

TaskOptions task_options(const Values& values) {
    for (const char* other :
         {"paths",       "set",       "run",        "resume",  "retry-failed", "shard",       "jobs",
          "update-solu", "no-report", "list-tasks", "method",  "heuristic",    "option",      "chunks",
          "bytes",       "seeds",     "seed",       "threads", "time-limit",   "memory-limit"}) {
        if (!values.flag(other)) continue;
        const bool is_path = std::string_view(other) == "paths";
        values.refuse(fmt::format(
            "--task takes one key, and the list in DIR says how to run it; found {} too{}",
            is_path ? "'" + values.list(other).front() + "'" : fmt::format("--{}", other),
            is_path ? ". If this is a listed command, it lost its quotes: xargs needs -d '\\n'" : ""));
    }
    TaskOptions options{values.text("task").value(),
                        values.text(values.flag("results") ? "results" : "output").value_or("")};
    if (options.results.empty())
        values.refuse("--task needs the folder of the list; expected --output DIR too");
    return options;
}

ExitCode run_task(const TaskOptions& options, const Talk& talk, const Process& process) {
    const batch::SingleTask task =
        app::run_task(options.results, options.key, app::Watch{.interrupted = process.interrupted});
    if (!task.line) return ExitCode::Interrupted;
    // What may go well next time is worth another try of the engine that runs the tasks; no other failure is.
    const ExitCode code = task.is_final ? ExitCode::Done : ExitCode::Failed;
    if (talk.json) {
        io::Json json = io::result_json(*task.line);
        json["exit_code"] = static_cast<int>(code);
        process.streams.out.print("{}\n", io::json_line(json));
    } else if (!talk.quiet) {
        process.streams.out.print("{}{}\n", sentence(*task.line), task.was_done ? " (done before)" : "");
    }
    return code;
}

ExitCode list_tasks(const app::BatchOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    for (const std::string& path : {process.program, whole(options.results)}) check_one_line(path);
    app::Watch watch{.interrupted = process.interrupted};
    if (!talk.quiet) watch.say = [&](const std::string& text) { streams.err.print("{}\n", text); };
    const TaskCommands commands(process.program, options.results);
    const auto tell = [&](const std::string& key) {
        if (talk.json) {
            const io::Json task{{"key", key}, {"command", commands.words(key)}};
            streams.out.print("{}\n", io::json_line(task));
        } else {
            streams.out.print("{}\n", commands.line(key));
        }
        return streams.out.good();
    };
    const batch::Listed listed = app::list_tasks(options, tell, watch);
    if (listed.interrupted && process.was_interrupted()) return ExitCode::Interrupted;
    streams.out.flush();
    if (!talk.quiet && streams.out.good()) {
        streams.err.print("{}{}; when they have been run: {} batch --resume -o {}\n",
                          text::count_text(listed.tasks - listed.kept, "task"),
                          listed.kept > 0 ? fmt::format(" to do, {} done before", listed.kept) : "",
                          text::shell_word(process.program), text::shell_word(whole(options.results)));
    }
    return ExitCode::Done;
}

}  // namespace tutti::cli

#pragma once

#include "app/batch.hpp"
#include "cli/command.hpp"

#include <string>

namespace tutti::cli {

/// A task of a results folder, to be run alone.
struct TaskOptions {
    std::string key{};
    std::string results{};
    friend bool operator==(const TaskOptions&, const TaskOptions&) = default;
};

/// `tutti batch --task KEY -o DIR`. Refuses all other options: the list in the folder says how.
[[nodiscard]] TaskOptions task_options(const Values& values);
[[nodiscard]] ExitCode run_task(const TaskOptions& options, const Talk& talk, const Process& process);

/// `tutti batch ... --list-tasks`: a command line for each task.
[[nodiscard]] ExitCode list_tasks(const app::BatchOptions& options, const Talk& talk, const Process& process);

/// `tutti batch` and `tutti results collect`: runs it, prints the table, writes the report.
[[nodiscard]] ExitCode run_batch(const app::BatchOptions& options, const Talk& talk, const Process& process);

/// Commands that run one task each, usable in any working directory.
class TaskCommands {
  public:
    TaskCommands(const std::string& program, const std::string& results);
    [[nodiscard]] std::vector<std::string> words(const std::string& key) const;
    /// The same for a shell, one line.
    [[nodiscard]] std::string line(const std::string& key) const;

  private:
    std::string program_, results_, begin_, end_;
};

}  // namespace tutti::cli

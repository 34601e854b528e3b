#include "batch/results_folder.hpp"

#include "batch/row_files.hpp"
#include "batch/task_locks.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLines = "results.jsonl";

}  // namespace

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error && !fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
    if (error) throw OutputError("the folder cannot be made: " + error.message(), {}, folder.string());
}

ResultsFolder::ResultsFolder(const std::string& path) : path_(path) {
    make_folder(path);
    const std::string name = file(".lock");
    lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) throw InputError("cannot be made: " + std::generic_category().message(errno), {}, name);
    // A file system without locks (some networks) has to do without.
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(lock_);
        throw InputError("another run is writing its results there", {}, path);
    }
}

ResultsFolder::~ResultsFolder() { ::close(lock_); }

std::string ResultsFolder::file(const std::string& name) const { return (fs::path(path_) / name).string(); }

io::FoundResults ResultsFolder::earlier() const {
    std::error_code error;
    if (!fs::exists(file(kLines), error)) return {};
    return io::find_results(path_, io::DamagedLines::PassOver);
}

void ResultsFolder::mend(const std::vector<io::ResultLine>& lines) const {
    io::AtomicFile mended(file(kLines));
    for (const io::ResultLine& line : lines) mended.write(io::json_line(io::result_json(line)) + "\n");
    std::error_code error;
    fs::copy_file(file(kLines), file(std::string(kLines) + ".damaged"), fs::copy_options::overwrite_existing,
                  error);
    if (error) throw OutputError("cannot be kept: " + error.message(), {}, file(kLines));
    mended.commit();
}

bool ResultsFolder::has_tasks() const {
    std::error_code error;
    return fs::exists(tasks_folder(path_) / "list", error);
}

std::vector<std::string> ResultsFolder::put_aside() const {
    std::vector<std::string> put;
    const auto move = [&](const std::string& name) {
        const std::string from = file(name), aside = from + ".old";
        std::error_code error;
        if (fs::is_directory(aside, error)) fs::remove_all(aside, error);
        fs::rename(from, aside, error);
        if (error) throw InputError("cannot be put aside: " + error.message(), {}, from);
        io::sync_folder_of(aside);
        put.push_back(aside);
    };
    if (has_tasks()) {
        const TaskLocks locks(path_);
        if (!locks.lock_all()) {
            throw InputError(
                "tasks of the run in this folder are running (tutti batch --task); --resume goes on "
                "with that run",
                {}, path_);
        }
        move("tasks");
    }
    std::error_code error;
    if (const auto size = fs::file_size(file(kLines), error); !error && size > 0) move(kLines);
    return put;
}

void ResultsFolder::sweep() const {
    std::optional<TaskLocks> locks;
    if (has_tasks() && !locks.emplace(path_).lock_all()) return;
    std::vector<fs::path> left;
    const auto look_at = [&](const fs::directory_entry& entry) {
        const std::string name = entry.path().filename().string();
        std::error_code ignored;
        if (name.starts_with(".tutti-") && name.ends_with(".tmp") && entry.is_regular_file(ignored))
            left.push_back(entry.path());
    };
    std::error_code error;
    fs::directory_iterator top(path_, error);
    for (; !error && top != fs::directory_iterator(); top.increment(error)) look_at(*top);
    for (const char* folder : {"schedules", "tasks"}) {
        fs::recursive_directory_iterator below(file(folder), error);
        for (; !error && below != fs::recursive_directory_iterator(); below.increment(error)) look_at(*below);
    }
    for (const fs::path& path : left) fs::remove(path, error);
}

}  // namespace tutti::batch

#include "run/kernel_cache.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

extern char** environ;  // NOLINT: POSIX

namespace tutti::run {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Makes the folder if it is not there. Whether it is this user's, and nobody else can write to it.
bool is_own_folder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
    struct stat about {};
    return lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
           (about.st_mode & (S_IWGRP | S_IWOTH)) == 0 && access(path.c_str(), W_OK | X_OK) == 0;
}

std::string cache_folder() {
    std::string base = environment("XDG_CACHE_HOME");
    if (!base.starts_with('/')) {
        base = environment("HOME");
        if (!base.starts_with('/')) return "";
        base += "/.cache";
    }
    return base + "/tutti";
}

}  // namespace

KernelFolder::KernelFolder() {
    const std::string cache = cache_folder();
    if (!cache.empty() && is_own_folder(cache) && is_own_folder(cache + "/kernels")) {
        path_ = cache + "/kernels";
        return;
    }
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    if (error) return;
    std::string name = (temporary / "tutti-kernels-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return;
    path_ = name;
    is_temporary_ = true;
}

KernelFolder::~KernelFolder() {
    std::error_code error;
    if (is_temporary_) fs::remove_all(path_, error);
}

bool run_quietly(const std::vector<std::string>& command, const std::string& output) {
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0) return false;
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int failure = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failure != 0) return false;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    int status = 0;
    while (true) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (ended < 0 && errno != EINTR) return false;
        if (std::chrono::steady_clock::now() > deadline) {
            kill(child, SIGKILL);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
            }
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::optional<std::string> program_on_path(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        if (access(name.c_str(), X_OK) == 0) return name;
        return std::nullopt;
    }
    std::istringstream folders(environment("PATH"));
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string path = folder + "/" + name;
        if (folder.starts_with('/') && access(path.c_str(), X_OK) == 0) return path;
    }
    return std::nullopt;
}

std::optional<std::string> file_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
}

bool write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    return !out.fail();
}

}  // namespace tutti::run

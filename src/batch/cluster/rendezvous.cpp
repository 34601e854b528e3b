// Ranks that the launcher started together know their numbers, but not where rank 0 is. The folder of the
// results is on a file system that all of them see, since the schedules go there too, so rank 0 leaves a note
// in it. The note's name has the job in it: one that a killed job left is never looked at by the next.
//
// A job that ends before everybody has come leaves a note that says so, or the late ones would wait for
// nothing, and their launcher for them. It is a few bytes, and the next job a day later removes it.

#include "batch/cluster/rendezvous.hpp"

#include "batch/fnv.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>

namespace tutti::batch::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".ranks-";
constexpr std::size_t kLongest = 65'536;
constexpr auto kOld = std::chrono::hours(24);

std::string name_for(const std::string& job) { return fmt::format("{}{:016x}", kPrefix, fnv(job)); }

void remove_old_notes(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (!entry->path().filename().string().starts_with(kPrefix)) continue;
        std::error_code gone;
        const auto written = entry->last_write_time(gone);
        if (!gone && fs::file_time_type::clock::now() - written > kOld) fs::remove(entry->path(), gone);
    }
}

/// A network's file system may believe for a minute that there is no such file, unless the folder is opened.
void refresh(const std::string& folder) {
    if (DIR* open = ::opendir(folder.c_str())) ::closedir(open);
}

/// The whole of a small file that is ours alone.
std::optional<std::string> private_text(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return std::nullopt;
    struct stat status {};
    std::optional<std::string> text;
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
        (status.st_mode & 077U) == 0) {
        std::string bytes(kLongest, '\0');
        const ssize_t count = ::read(file, bytes.data(), bytes.size());
        if (count > 0) text = bytes.substr(0, static_cast<std::size_t>(count));
    }
    ::close(file);
    return text;
}

Address address_in(const io::JsonView& view) {
    Address address;
    for (const io::JsonView& host : view.at("hosts").elements()) address.hosts.push_back(host.string());
    address.port = static_cast<std::uint16_t>(view.at("port").integer(1, 65'535));
    address.secret = view.at("secret").string();
    address.boot = view.at("boot").string();
    return address;
}

}  // namespace

Rendezvous::Rendezvous(const std::string& results, const std::string& job)
    : folder_(results), path_((fs::path(results) / name_for(job)).string()), has_job_(!job.empty()) {}

void Rendezvous::write(const std::string& text) const {
    const mode_t before = ::umask(077);
    try {
        io::AtomicFile file(path_);
        file.write(text);
        file.commit();
    } catch (...) {
        ::umask(before);
        throw;
    }
    ::umask(before);
}

void Rendezvous::publish(const Address& address) const {
    std::error_code error;
    fs::create_directories(folder_, error);
    remove_old_notes(folder_);
    fs::remove(path_, error);  // else the new one would get its mode
    write(io::json_line({{"hosts", address.hosts},
                         {"port", address.port},
                         {"secret", address.secret},
                         {"boot", address.boot}}));
}

void Rendezvous::call_off() const noexcept {
    remove();
    if (!has_job_) return;  // the next job would believe it
    try {
        write(R"({"over":true})");
    } catch (const std::exception&) {
        // Then the late ones wait in vain for a while.
    }
}

void Rendezvous::remove() const noexcept {
    std::error_code error;
    fs::remove(path_, error);
}

Rendezvous::Answer Rendezvous::look() const {
    refresh(folder_);
    const auto text = private_text(path_);
    if (!text) return {};
    try {
        io::Source source = io::Source::of_text(*text, path_);
        const io::Json json = io::parse_json(source);
        const io::JsonView view(json);
        if (view.find("over")) return {.over = true};
        return {.over = false, .address = address_in(view)};
    } catch (const InputError&) {
        return {};
    }
}

std::string new_secret() {
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw std::system_error(errno, std::generic_category(), "random numbers");
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    (void)std::getline(file, id);
    return id;
}

}  // namespace tutti::batch::cluster

#include "batch/variant_instance.hpp"

#include "batch/fnv.hpp"
#include "core/error.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tutti::batch {
namespace {

std::string_view kind_of_file(const struct stat& status) {
    if (S_ISFIFO(status.st_mode)) return "a pipe";
    if (S_ISSOCK(status.st_mode)) return "a socket";
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return "a device";
    return "something else";
}

/// Opening a pipe would wait until somebody writes into it.
void check_regular(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
        throw InputError("cannot be opened: " + std::generic_category().message(errno), {}, path);
    if (S_ISREG(status.st_mode)) return;
    if (!S_ISDIR(status.st_mode))
        throw InputError(fmt::format("expected a file, found {}", kind_of_file(status)), {}, path);
    if (::access(path.c_str(), R_OK | X_OK) != 0)
        throw InputError("cannot be searched: " + std::generic_category().message(errno), {}, path);
    throw InputError("expected a file, found a folder", {}, path);
}

}  // namespace

Instance instance_of(const Task& task) {
    const std::string path = task.job.path.string();
    check_regular(path);
    return io::read_instance(path, task.variant.variation());
}

std::string digest_of(const std::filesystem::path& path) {
    try {
        check_regular(path.string());
        io::Source source(path.string());
        source.limit(io::JsonLimits().bytes);
        std::uint64_t hash = fnv({});
        for (auto bytes = source.block(); !bytes.empty(); bytes = source.block()) hash = fnv(bytes, hash);
        return fmt::format("{:016x}", hash);
    } catch (const InputError&) {
        return {};
    }
}

}  // namespace tutti::batch

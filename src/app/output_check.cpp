#include "app/output_check.hpp"

#include "core/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace tutti::app {

void check_output(const std::string& target, const std::string& input_file, std::string_view what,
                  std::string_view input) {
    namespace fs = std::filesystem;
    if (target == "-") return;
    std::error_code error;
    const fs::path path(target);
    if (input_file != "-" && fs::equivalent(path, input_file, error)) {
        throw InputError(fmt::format("is the {}; {} would replace it (choose another --output)", input, what),
                         {}, target);
    }
    if (fs::is_directory(path, error)) throw InputError("is a folder; expected a file", {}, target);
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (::access(folder.c_str(), W_OK) != 0) {
        throw InputError("cannot be written: " + std::generic_category().message(errno), {}, target);
    }
}

}  // namespace tutti::app

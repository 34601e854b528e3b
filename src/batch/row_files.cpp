#include "batch/row_files.hpp"

#include "batch/fnv.hpp"
#include "batch/result_line.hpp"
#include "batch/results_folder.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

#include <charconv>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRowSuffix = ".json";
constexpr std::size_t kNameDigits = 16;

/// The hash that a file is named by.
std::optional<std::uint64_t> hash_in(const std::string& name) {
    if (name.size() != kNameDigits + kRowSuffix.size() || !name.ends_with(kRowSuffix)) return std::nullopt;
    std::uint64_t hash = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + kNameDigits, hash, 16);
    return error == std::errc() && end == name.data() + kNameDigits ? std::optional(hash) : std::nullopt;
}

bool lies_below_schedules(const fs::path& path) {
    const fs::path normal = path.lexically_normal();
    return normal.is_relative() && normal.has_filename() && *normal.begin() == "schedules";
}

}  // namespace

fs::path tasks_folder(const std::string& results) { return fs::path(results) / "tasks"; }

RowFiles::RowFiles(const std::string& results) : results_(results) {
    std::error_code error;
    whole_ = fs::weakly_canonical(results_, error);
    if (error) whole_ = results_;
}

std::uint64_t RowFiles::hash_of(const std::string& key) { return fnv(key); }

fs::path RowFiles::path_of(std::uint64_t hash) const {
    return tasks_folder(results_.string()) / fmt::format("{:02x}", hash >> 56U) /
           fmt::format("{:016x}{}", hash, kRowSuffix);
}

std::optional<io::ResultLine> RowFiles::find(const std::string& key) const {
    auto line = read(hash_of(key));
    return line && line->key == key ? line : std::nullopt;
}

std::optional<io::ResultLine> RowFiles::read(std::uint64_t hash) const {
    const fs::path path = path_of(hash);
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    try {
        io::Source source(path.string());
        io::ResultLine line = io::parse_result(io::parse_json(source));
        if (hash_of(line.key) != hash) return std::nullopt;
        if (!line.schedule.empty()) {
            if (!lies_below_schedules(line.schedule)) return std::nullopt;
            line.schedule = (results_ / line.schedule).string();
        }
        if (fs::path(line.file).is_relative()) {
            const fs::path file = (whole_ / line.file).lexically_normal();
            rename_file(line, file.lexically_proximate(fs::current_path(error)).string());
        }
        return line;
    } catch (const InputError&) {
        return std::nullopt;  // what cannot be read is done again
    }
}

void RowFiles::write(io::ResultLine line) const {
    if (!line.schedule.empty()) line.schedule = fs::path(line.schedule).lexically_relative(results_).string();
    if (line.file.starts_with((results_ / "").string()))  // as task_list has it; others are absolute
        rename_file(line, fs::path(line.file).lexically_relative(results_).string());
    const fs::path path = path_of(hash_of(line.key));
    make_folder(path.parent_path());
    io::AtomicFile file(path.string());
    file.write(io::json_line(io::result_json(line)) + "\n");
    file.commit();
}

void RowFiles::remove(const std::string& key) const {
    std::error_code ignored;
    fs::remove(path_of(hash_of(key)), ignored);
}

void RowFiles::each(const std::function<bool(std::uint64_t)>& wanted,
                    const std::function<void(io::ResultLine)>& take) const {
    std::error_code error;
    fs::directory_iterator folder(tasks_folder(results_.string()), error);
    for (const fs::directory_iterator end; !error && folder != end; folder.increment(error)) {
        std::error_code inner;
        fs::directory_iterator file(folder->path(), inner);
        for (; !inner && file != end; file.increment(inner)) {
            const auto hash = hash_in(file->path().filename().string());
            if (!hash || path_of(*hash) != file->path() || !wanted(*hash)) continue;
            if (auto line = read(*hash)) take(std::move(*line));
        }
    }
}

}  // namespace tutti::batch

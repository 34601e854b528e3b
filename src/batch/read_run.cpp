#include "batch/read_run.hpp"

#include "core/error.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <unordered_map>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;

/// "ring/a" of "instances/ring/a.json", as batch/expand names it.
std::string label_of_file(const std::string& file) {
    const fs::path path(file);
    const std::string family = path.parent_path().filename().string();
    const std::string name = path.stem().string();
    return family.empty() || family == "." || family == ".." ? name : family + "/" + name;
}

void complete(io::ResultLine& line) {
    if (line.label.empty()) line.label = line.file.empty() ? line.instance : label_of_file(line.file);
    if (line.key.empty()) line.key = line.label;
}

std::vector<io::ResultLine> last_of_each_key(std::vector<io::ResultLine> lines) {
    std::unordered_map<std::string, std::size_t> places;
    std::vector<io::ResultLine> last;
    for (io::ResultLine& line : lines) {
        complete(line);
        const auto [place, is_new] = places.emplace(line.key, last.size());
        if (is_new) {
            last.push_back(std::move(line));
        } else {
            last[place->second] = std::move(line);
        }
    }
    return last;
}

std::string journal_in(const std::string& path) {
    if (path == "-" || !fs::is_directory(path)) return path;
    const std::string journal = (fs::path(path) / "results.jsonl").string();
    if (!fs::exists(journal)) {
        throw InputError("expected a folder with results.jsonl, as tutti batch leaves it", {}, path);
    }
    return journal;
}

/// More shards than this are a slip of the finger.
constexpr std::int64_t kMostShards = 1'000'000;

ShardNumber shard_in_fields(const io::JsonView& shard) {
    const std::int64_t count = shard.at("count").integer(1, kMostShards);
    const std::int64_t index = shard.at("index").integer(0, count);
    return {static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(count)};
}

ShardNumber shard_in_text(const io::JsonView& shard) {
    const std::string text = shard.string();
    std::int64_t index = -1, count = -1;
    const char* const last = text.data() + text.size();
    const auto first = std::from_chars(text.data(), last, index);
    const bool fine = first.ec == std::errc() && first.ptr != last && *first.ptr == '/' &&
                      std::from_chars(first.ptr + 1, last, count).ptr == last;
    if (!fine || index < 0 || index > count || count < 1 || count > kMostShards)
        shard.fail_expecting("a part of a run, like \"2/8\"");
    return {static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(count)};
}

}  // namespace

Run read_run(const std::string& path) {
    const std::string journal = journal_in(path);
    const fs::path folder = path == "-" ? fs::path() : fs::path(journal).parent_path();
    return {path, folder.string(), last_of_each_key(io::read_results(journal))};
}

std::optional<ShardNumber> shard_of(const Run& run) {
    const std::string path = (fs::path(run.folder) / "run.json").string();
    if (!fs::exists(path)) return std::nullopt;
    io::Source source(path);
    const io::Json json = io::parse_json(source);
    try {
        const auto shard = io::JsonView(json).find("shard");
        if (!shard || shard->json().is_null()) return std::nullopt;
        return shard->is_string() ? shard_in_text(*shard) : shard_in_fields(*shard);
    } catch (const InputError& error) {
        throw error.in_file(path);
    }
}

bool has_failed(const io::ResultLine& line) {
    if (line.failure != io::Failure::None) return true;
    // Before lines had a field for it, an error meant failure; but "infeasible" can be the right answer.
    if (!line.error.empty() && line.status != Status::Infeasible) return true;
    return line.makespan && !line.verified;
}

std::string failure_text(const io::ResultLine& line) {
    const std::string why = line.error.empty() ? "no reason is given" : line.error;
    if (line.failure != io::Failure::None) return fmt::format("{}: {}", name_of(line.failure), why);
    return line.error.empty() ? "its schedule was not verified" : line.error;
}

std::string task_name(const io::ResultLine& line) {
    return line.key.starts_with(line.label) ? line.key : line.label + " " + line.key;
}

Units units_of(const io::ResultLine& line) {
    return line.units == "physical" ? Units::Physical : Units::Abstract;
}

}  // namespace tutti::batch

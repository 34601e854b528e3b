#include "batch/run_file.hpp"

#include "core/call.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"
#include "synth/synthesize.hpp"
#include "text/size.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;
using io::Json;
using io::JsonView;

constexpr std::int64_t kMostChunks = std::int64_t{1} << 26;

/// The name of a folder within a pattern.
std::string escaped(const fs::path& folder) {
    std::string text;
    for (const char c : folder.string()) {
        if (std::string_view("*?[]{}\\~,").find(c) != std::string_view::npos) text += '\\';
        text += c;
    }
    return text;
}

/// The path that an entry means. In a pattern only what the entry itself says is a pattern.
std::string below(const fs::path& folder, const std::string& entry) {
    const fs::path plain = folder / entry;
    std::error_code error;
    if (folder.empty() || fs::path(entry).is_absolute() || fs::exists(plain, error))
        return tidied(plain).string();
    return escaped(folder) + "/" + entry;
}

/// The path as it is to stand in a file of that folder.
std::string seen_from(const fs::path& folder, const std::string& path) {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    const fs::path base = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
    if (error) return path;
    if (path != "." && !fs::exists(path, error)) return escaped(here.lexically_proximate(base)) + "/" + path;
    const fs::path whole = tidied(path == "." ? here : here / path);
    return whole.lexically_proximate(base).generic_string();
}

/// Paths that mean the same may be written in several ways.
std::string plain(const std::string& path) {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    std::string text = (here / path).lexically_normal().lexically_proximate(here).string();
    std::erase(text, '\\');
    return text;
}

Bytes read_call_size(const JsonView& view) { return {view.bytes(1, kMaxCallBytes.count)}; }

std::string read_method(const JsonView& view) {
    std::vector<std::string_view> names;
    for (const synth::Method& method : synth::methods()) names.push_back(method.name);
    return std::string(names[view.choice(names)]);
}

std::string read_heuristic(const JsonView& view) {
    const auto all = synth::heuristics();
    std::vector<std::string_view> names;
    for (const synth::Method& heuristic : all) names.push_back(heuristic.name);
    return std::string(names[view.choice(names)]);
}

std::uint64_t read_seed(const JsonView& view) {
    if (view.json().is_number_unsigned()) return view.json().get<std::uint64_t>();
    return static_cast<std::uint64_t>(view.integer(0, std::numeric_limits<std::int64_t>::max()));
}

/// A list, or one value in place of a list of one.
template <class Read>
auto read_list(const JsonView& view, std::string_view field, const Read& read) {
    std::vector<decltype(read(view))> values;
    const auto found = view.find(field);
    if (!found) return values;
    if (!found->is_array()) {
        values.push_back(read(*found));
        return values;
    }
    for (const JsonView& element : found->elements()) values.push_back(read(element));
    return values;
}

std::optional<unsigned> read_threads(const JsonView& view, std::string_view field) {
    const auto found = view.find(field);
    if (!found) return std::nullopt;
    return static_cast<unsigned>(found->integer(1, kMostThreads));
}

RunFile run_in(const JsonView& view, const fs::path& folder) {
    view.only({"about", "instances", "set", "methods", "heuristics", "options", "chunks", "bytes", "seeds",
               "threads", "jobs", "time_limit", "memory_limit", "shard", "tasks", "from"});
    RunFile run;
    // What only people and readers of results look at.
    for (const char* field : {"about", "from"}) {
        if (const auto found = view.find(field)) (void)found->string();
    }
    run.instances =
        read_list(view, "instances", [&](const JsonView& entry) { return below(folder, entry.string()); });
    if (const auto set = view.find("set")) run.set = tidied(folder / set->string()).string();
    run.matrix.methods = read_list(view, "methods", read_method);
    run.matrix.heuristics = read_list(view, "heuristics", read_heuristic);
    if (const auto options = view.find("options")) run.matrix.options = read_search_options(*options);
    run.matrix.chunks = read_list(view, "chunks", [](const JsonView& entry) {
        return static_cast<std::uint64_t>(entry.integer(1, kMostChunks));
    });
    run.matrix.bytes = read_list(view, "bytes", read_call_size);
    run.matrix.seeds = read_list(view, "seeds", read_seed);
    run.matrix.threads = read_threads(view, "threads").value_or(1);
    run.jobs = read_threads(view, "jobs");
    if (const auto time = view.find("time_limit")) {
        run.limits.time = time->number(0, kMostSeconds);
        if (*run.limits.time <= 0) time->fail_expecting("a positive number of seconds");
    }
    if (const auto memory = view.find("memory_limit"))
        run.limits.memory =
            static_cast<std::uint64_t>(memory->bytes(text::kLeastMemoryLimit, kMaxCallBytes.count));
    if (const auto tasks = view.find("tasks"))
        run.tasks = static_cast<std::uint64_t>(tasks->integer(0, std::numeric_limits<std::int64_t>::max()));
    if (const auto shard = view.find("shard")) {
        run.shard = shard_in(shard->string());
        if (!run.shard) shard->fail_expecting("a part of a run, like \"1/8\"");
    }
    return run;
}

Json json_of(const RunFile& run, const std::function<std::string(const std::string&)>& path) {
    Json json = Json::object();
    Json& instances = json["instances"] = Json::array();
    for (const std::string& entry : run.instances) {
        // Braces may hold whole paths, each of which is to be seen from elsewhere.
        std::error_code error;
        const bool is_path = fs::exists(entry, error);
        for (const std::string& one : is_path ? std::vector{entry} : alternatives_in(entry))
            instances.push_back(path(one));
    }
    if (!run.set.empty()) json["set"] = path(run.set);
    if (!run.matrix.methods.empty()) json["methods"] = run.matrix.methods;
    if (!run.matrix.heuristics.empty()) json["heuristics"] = run.matrix.heuristics;
    for (const auto& [name, value] : changed_options(run.matrix.options))
        json["options"][name] = io::number_json(value);
    if (!run.matrix.chunks.empty()) json["chunks"] = run.matrix.chunks;
    for (const Bytes bytes : run.matrix.bytes) json["bytes"].push_back(bytes.count);
    if (!run.matrix.seeds.empty()) json["seeds"] = run.matrix.seeds;
    json["threads"] = run.matrix.threads;
    if (run.jobs) json["jobs"] = *run.jobs;
    if (run.limits.time) json["time_limit"] = *run.limits.time;
    if (run.limits.memory) json["memory_limit"] = *run.limits.memory;
    if (run.tasks) json["tasks"] = *run.tasks;
    if (run.shard) json["shard"] = fmt::format("{}/{}", run.shard->part, run.shard->of);
    return json;
}

}  // namespace

RunFile read_run_file(const std::string& path) {
    io::Source source(path);
    const Json json = io::parse_json(source);
    try {
        const JsonView view(json);
        if (!view.is_object()) view.fail_expecting("a run, which is an object");
        return run_in(view, fs::path(path).parent_path());
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

void write_run_file(const std::string& path, const RunFile& run) {
    const fs::path folder = fs::path(path).parent_path();
    io::Json json = json_of(run, [&](const std::string& entry) {
        return fs::path(entry).is_absolute() ? tidied(entry).generic_string() : seen_from(folder, entry);
    });
    json["from"] = seen_from(folder, ".");
    io::AtomicFile file(path);
    file.write(io::json_page(json));
    file.commit();
}

std::vector<std::string> differences(const RunFile& before, const RunFile& now) {
    const Json a = json_of(before, plain), b = json_of(now, plain);
    std::vector<std::string> lines;
    for (const char* field : {"instances", "set", "methods", "heuristics", "options", "chunks", "bytes",
                              "seeds", "threads", "time_limit", "memory_limit", "shard"}) {
        const auto text = [field](const Json& json) {
            return json.contains(field) ? io::json_line(json[field]) : std::string("not given");
        };
        if (text(a) != text(b)) lines.push_back(fmt::format("{} is {}, was {}", field, text(b), text(a)));
    }
    return lines;
}

SearchOptions read_search_options(const JsonView& view) {
    std::vector<std::string_view> names;
    for (const SearchOption& option : search_option_table()) names.push_back(option.name);
    view.only(names);
    SearchOptions options;
    for (const auto& [name, value] : view.fields()) {
        const SearchOption& option = *find_search_option(name);
        const double number = value.json().is_number() ? value.json().get<double>() : option.least - 1;
        if (!option.allows(number)) value.fail_expecting(option.range());
        option.set(options, number);
    }
    return options;
}

std::optional<Shard> shard_in(std::string_view text) {
    Shard shard;
    const char* const last = text.data() + text.size();
    const auto part = std::from_chars(text.data(), last, shard.part);
    if (part.ec != std::errc() || part.ptr == last || *part.ptr != '/') return std::nullopt;
    const auto of = std::from_chars(part.ptr + 1, last, shard.of);
    if (of.ec != std::errc() || of.ptr != last || shard.of == 0 || shard.part > shard.of) return std::nullopt;
    return shard;
}

}  // namespace tutti::batch

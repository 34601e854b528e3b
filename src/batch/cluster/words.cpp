#include "batch/cluster/words.hpp"

#include "batch/run_file.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace tutti::batch::cluster {
namespace {

using io::Json;
using io::JsonView;

/// Raised when any message changes its meaning: ranks of different versions must not work together.
constexpr int kProtocol = 2;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostCores = 1 << 20;

Json parsed(std::string_view text) {
    io::Source source = io::Source::of_text(std::string(text), "a message");
    return io::parse_json(source, {.bytes = std::uint64_t{1} << 22, .values = 10'000});
}

/// Paths may hold bytes that JSON cannot.
std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

std::string unhex(const JsonView& view) {
    const std::string text = view.string();
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        unsigned char byte = 0;
        const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
        if (error != std::errc() || end != text.data() + i + 2) view.fail_expecting("bytes in hex");
        bytes += static_cast<char>(byte);
    }
    if (text.size() % 2 != 0) view.fail_expecting("bytes in hex");
    return bytes;
}

/// All 64 bits, of which JSON numbers have 53 that everybody agrees on.
std::uint64_t wide_in(const JsonView& view) {
    const std::string text = view.string();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) view.fail_expecting("a number");
    return value;
}

unsigned small_in(const JsonView& view, std::int64_t least) {
    return static_cast<unsigned>(view.integer(least, kMostCores));
}

Json json_of(const Task& task) {
    const Variant& variant = task.variant;
    Json json{{"path", hex(task.job.path.native())},
              {"family", hex(task.job.family)},
              {"name", hex(task.job.name)},
              {"solu", hex(task.job.solu.native())},
              {"key", hex(task.key)},
              {"stem", hex(task.stem)},
              {"method", variant.method},
              {"seed", std::to_string(variant.seed)},
              {"threads", variant.threads}};
    if (variant.chunks) json["chunks"] = std::to_string(*variant.chunks);
    if (variant.bytes) json["bytes"] = variant.bytes->count;
    if (!variant.heuristic.empty()) json["heuristic"] = variant.heuristic;
    for (const auto& [name, value] : changed_options(variant.options))
        json["options"][name] = io::number_json(value);
    return json;
}

Task task_in(const JsonView& view) {
    Task task;
    task.job.path = unhex(view.at("path"));
    task.job.family = unhex(view.at("family"));
    task.job.name = unhex(view.at("name"));
    task.job.solu = unhex(view.at("solu"));
    task.key = unhex(view.at("key"));
    task.stem = unhex(view.at("stem"));
    task.variant.method = view.at("method").string();
    task.variant.seed = wide_in(view.at("seed"));
    task.variant.threads = small_in(view.at("threads"), 1);
    if (const auto chunks = view.find("chunks")) task.variant.chunks = wide_in(*chunks);
    if (const auto bytes = view.find("bytes")) task.variant.bytes = Bytes{bytes->integer(0, kMost)};
    if (const auto heuristic = view.find("heuristic")) task.variant.heuristic = heuristic->string();
    if (const auto options = view.find("options")) task.variant.options = read_search_options(*options);
    return task;
}

}  // namespace

std::string text_of(const Hello& hello) {
    return io::json_line({{"protocol", kProtocol},
                          {"secret", hello.secret},
                          {"rank", hello.rank},
                          {"cores", hello.cores},
                          {"host", hello.host}});
}

Hello hello_in(std::string_view text) {
    const Json json = parsed(text);
    const JsonView view(json);
    (void)view.at("protocol").integer(kProtocol, kProtocol);
    return {view.at("secret").string(), small_in(view.at("rank"), 0), small_in(view.at("cores"), 1),
            view.at("host").string()};
}

std::string text_of(const Welcome& welcome) {
    Json json{{"welcome", kProtocol}, {"folder", hex(welcome.folder)}};
    if (welcome.cores) json["cores"] = *welcome.cores;
    if (welcome.limits.time) json["time"] = *welcome.limits.time;
    if (welcome.limits.memory) json["memory"] = std::to_string(*welcome.limits.memory);
    return io::json_line(json);
}

Welcome welcome_in(std::string_view text) {
    const Json json = parsed(text);
    const JsonView view(json);
    (void)view.at("welcome").integer(kProtocol, kProtocol);
    Welcome welcome{unhex(view.at("folder"))};
    if (const auto cores = view.find("cores")) welcome.cores = small_in(*cores, 1);
    if (const auto time = view.find("time"))
        welcome.limits.time = time->number(0, std::numeric_limits<double>::max());
    if (const auto memory = view.find("memory")) welcome.limits.memory = wide_in(*memory);
    return welcome;
}

std::string text_of(const Begin& begin) {
    return io::json_line({{"begin", begin.number}, {"task", json_of(begin.task)}});
}

Begin begin_in(std::string_view text) {
    const Json json = parsed(text);
    const JsonView view(json);
    return {static_cast<std::size_t>(view.at("begin").integer(0, kMost)), task_in(view.at("task"))};
}

}  // namespace tutti::batch::cluster

#include "io/result_jsonl.hpp"

#include "io/atomic_file.hpp"
#include "io/bound_json.hpp"
#include "io/collective_result_json.hpp"
#include "io/json_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace tutti::io {
namespace {

constexpr std::array kStatuses{Status::Optimal, Status::Feasible, Status::Infeasible, Status::Unknown};
constexpr std::uint64_t kMaxJournal = std::uint64_t{1} << 36;

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}
Json or_null(const std::optional<Ticks>& value) { return value ? Json(value->count()) : Json(nullptr); }
Json or_null(const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); }

/// The field, unless it is missing or null.
std::optional<JsonView> given(const JsonView& view, std::string_view field) {
    auto found = view.find(field);
    return found && !found->json().is_null() ? found : std::nullopt;
}

std::string read_string(const JsonView& view, std::string_view field) {
    const auto found = given(view, field);
    return found ? found->string() : std::string();
}

std::optional<Ticks> read_ticks(const JsonView& view, std::string_view field) {
    const auto found = given(view, field);
    if (!found) return std::nullopt;
    return Ticks(found->integer(0, std::numeric_limits<std::int64_t>::max()));
}

std::optional<std::uint64_t> read_count(const JsonView& view, std::string_view field) {
    const auto found = given(view, field);
    if (!found) return std::nullopt;
    if (found->json().is_number_unsigned()) return found->json().get<std::uint64_t>();
    return static_cast<std::uint64_t>(found->integer(0, std::numeric_limits<std::int64_t>::max()));
}

Status read_status(const JsonView& view) {
    std::vector<std::string_view> names;
    for (const Status status : kStatuses) names.push_back(name_of(status));
    return kStatuses[view.choice(names)];
}

const std::vector<std::string_view> kFailures{"none", "input",         "infeasible", "limit",
                                              "time", "memory",        "crash",      "bug",
                                              "lost", "contradiction", "output"};

Json candidates_json(const std::vector<Candidate>& candidates) {
    Json list = Json::array();
    for (const Candidate& candidate : candidates) {
        Json json{{"heuristic", candidate.heuristic}};
        if (!candidate.part.empty()) json["part"] = candidate.part;
        json["makespan"] = or_null(candidate.makespan);
        if (!candidate.makespan) json["why_none"] = candidate.why_none;
        json["seconds"] = candidate.seconds;
        json["sends"] = candidate.sends;
        list.push_back(std::move(json));
    }
    return list;
}

void add_variation(Json& json, const ResultLine& result) {
    json["asked_chunks"] = or_null(result.asked_chunks);
    json["asked_bytes"] = or_null(result.asked_bytes);
}

/// What a batch asked of this task.
void add_task(Json& json, const ResultLine& result) {
    json["key"] = result.key;
    json["label"] = result.label;
    json["digest"] = or_null(result.digest);
    json["asked"] = result.asked;
    if (!result.asked_heuristic.empty()) json["asked_heuristic"] = result.asked_heuristic;
    add_variation(json, result);
    json["threads"] = result.threads;
    json["time_limit"] = or_null(result.time_limit);
}

/// The instance in numbers, and bandwidths.
void add_call(Json& json, const ResultLine& result) {
    json["collective"] = or_null(result.collective);
    // Unknown if the instance could not be read.
    const auto known = [&](std::uint64_t count) { return result.nodes == 0 ? Json(nullptr) : Json(count); };
    json["npus"] = known(result.npus);
    json["nodes"] = known(result.nodes);
    json["links"] = known(result.links);
    json["groups"] = known(result.groups);
    json["ranks"] = known(result.ranks);
    json["chunks"] = known(result.chunks);
    json["units"] = or_null(result.units);
    json["bytes"] = or_null(result.bytes);
    json["algbw_GBps"] = or_null(result.algbw_GBps);
    json["busbw_GBps"] = or_null(result.busbw_GBps);
    json["collectives"] =
        result.collectives.empty() ? Json(nullptr) : collective_results_json(result.collectives);
}

/// How a task of a run ended.
void add_end(Json& json, const ResultLine& result) {
    json["failure"] = result.failure == Failure::None ? Json(nullptr) : Json(name_of(result.failure));
    json["finished"] = or_null(result.finished);
    json["host"] = or_null(result.host);
}

std::optional<double> read_number(const JsonView& view, std::string_view field) {
    const auto found = given(view, field);
    return found ? std::optional(found->number(0, 1e18)) : std::nullopt;
}

std::uint32_t read_small_count(const JsonView& view, std::string_view field, std::uint32_t otherwise) {
    const auto found = given(view, field);
    if (!found) return otherwise;
    return static_cast<std::uint32_t>(found->integer(0, std::numeric_limits<std::uint32_t>::max()));
}

Candidate read_candidate(const JsonView& view) {
    Candidate candidate;
    candidate.heuristic = read_string(view, "heuristic");
    candidate.part = read_string(view, "part");
    candidate.makespan = read_ticks(view, "makespan");
    candidate.why_none = read_string(view, "why_none");
    candidate.seconds = read_number(view, "seconds").value_or(0);
    candidate.sends = read_count(view, "sends").value_or(0);
    return candidate;
}

void read_task(const JsonView& view, ResultLine& result) {
    result.key = read_string(view, "key");
    result.label = read_string(view, "label");
    result.digest = read_string(view, "digest");
    result.asked = read_string(view, "asked");
    result.asked_heuristic = read_string(view, "asked_heuristic");
    result.asked_chunks = read_count(view, "asked_chunks");
    result.asked_bytes = read_count(view, "asked_bytes");
    result.threads = read_small_count(view, "threads", 1);
    result.time_limit = read_number(view, "time_limit");
    result.collective = read_string(view, "collective");
    result.npus = read_count(view, "npus").value_or(0);
    result.nodes = read_count(view, "nodes").value_or(0);
    result.links = read_count(view, "links").value_or(0);
    result.groups = read_count(view, "groups").value_or(0);
    result.ranks = read_count(view, "ranks").value_or(0);
    result.chunks = read_count(view, "chunks").value_or(0);
    result.units = read_string(view, "units");
    result.bytes = read_count(view, "bytes");
    result.algbw_GBps = read_number(view, "algbw_GBps");
    result.busbw_GBps = read_number(view, "busbw_GBps");
    if (const auto collectives = given(view, "collectives"))
        result.collectives = read_collective_results(*collectives);
    if (const auto failure = given(view, "failure"))
        result.failure = static_cast<Failure>(failure->choice(kFailures));
    result.finished = read_string(view, "finished");
    result.host = read_string(view, "host");
}

}  // namespace

std::string_view name_of(Failure failure) { return kFailures[static_cast<std::size_t>(failure)]; }

std::optional<double> ResultLine::gap() const {
    return makespan && lower_bound ? tutti::gap(*makespan, *lower_bound) : std::nullopt;
}

Json result_json(const ResultLine& result) {
    Json json{{"instance", result.instance},
              {"method", result.method},
              {"status", name_of(result.status)},
              {"makespan", or_null(result.makespan)},
              {"lower_bound", or_null(result.lower_bound)},
              {"bound_kind", or_null(result.bound_kind)},
              {"gap", or_null(result.gap())},
              {"seconds", result.seconds},
              {"peak_memory_bytes", or_null(result.peak_memory_bytes)},
              {"sends", result.sends},
              {"verified", result.verified},
              {"seed", result.seed},
              {"schedule", or_null(result.schedule)},
              {"file", or_null(result.file)},
              {"stopped", result.stopped},
              {"proof", or_null(result.proof)},
              {"heuristic", or_null(result.heuristic)},
              {"candidates", candidates_json(result.candidates)},
              {"skipped", skipped_json(result.skipped)}};
    for (const auto& [name, value] : result.options) json["options"][name] = number_json(value);
    if (result.composed) json["composed_optimum"] = result.composed->count();
    if (!result.error.empty()) json["error"] = result.error;
    if (!result.solver_versions.empty()) {
        Json& versions = json["solver_versions"] = Json::object();
        for (const auto& [solver, version] : result.solver_versions) versions[solver] = version;
    }
    const bool is_task = !result.key.empty();
    if (is_task) {
        add_task(json, result);
    } else if (result.nodes > 0) {
        add_variation(json, result);
    }
    if (is_task || result.nodes > 0) add_call(json, result);
    if (is_task) add_end(json, result);
    return json;
}

ResultLine parse_result(const Json& json) {
    const JsonView view(json);
    ResultLine result;
    result.instance = view.at("instance").string();
    result.method = read_string(view, "method");
    result.status = read_status(view.at("status"));
    result.makespan = read_ticks(view, "makespan");
    result.lower_bound = read_ticks(view, "lower_bound");
    result.bound_kind = read_string(view, "bound_kind");
    if (const auto skipped = given(view, "skipped")) result.skipped = read_skipped(*skipped);
    if (const auto seconds = given(view, "seconds")) result.seconds = seconds->number(0, 1e18);
    result.peak_memory_bytes = read_count(view, "peak_memory_bytes");
    result.sends = read_count(view, "sends").value_or(0);
    if (const auto verified = given(view, "verified")) result.verified = verified->boolean();
    result.seed = read_count(view, "seed").value_or(0);
    result.schedule = read_string(view, "schedule");
    result.file = read_string(view, "file");
    if (const auto stopped = given(view, "stopped")) result.stopped = stopped->boolean();
    result.proof = read_string(view, "proof");
    result.composed = read_ticks(view, "composed_optimum");
    result.error = read_string(view, "error");
    result.heuristic = read_string(view, "heuristic");
    if (const auto candidates = given(view, "candidates")) {
        for (const JsonView& candidate : candidates->elements())
            result.candidates.push_back(read_candidate(candidate));
    }
    if (const auto options = given(view, "options")) {
        for (const auto& [name, value] : options->fields()) result.options[name] = value.number(-1e18, 1e18);
    }
    if (const auto versions = given(view, "solver_versions")) {
        for (const auto& [solver, version] : versions->fields())
            result.solver_versions[solver] = version.string();
    }
    read_task(view, result);
    return result;
}

ResultJournal::ResultJournal(const std::string& path) : path_(path) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail();
    end_last_line();
    sync();
    sync_folder_of(path);
}

ResultJournal::~ResultJournal() { ::close(descriptor_); }

void ResultJournal::append(const ResultLine& result) { write(json_line(result_json(result)) + "\n"); }

void ResultJournal::sync() {
    // A pipe cannot be synced, and need not be.
    if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail();
}

/// Completes a last line that lacks only its newline; removes half a line.
void ResultJournal::end_last_line() {
    const off_t size = ::lseek(descriptor_, 0, SEEK_END);
    off_t end = size;
    std::array<char, 4096> block{};
    while (end > 0) {
        const auto count = static_cast<std::size_t>(std::min<off_t>(end, block.size()));
        const off_t begin = end - static_cast<off_t>(count);
        if (::pread(descriptor_, block.data(), count, begin) != static_cast<ssize_t>(count)) fail();
        const std::size_t newline = std::string_view(block.data(), count).rfind('\n');
        end = newline == std::string_view::npos ? begin : begin + static_cast<off_t>(newline) + 1;
        if (newline != std::string_view::npos) break;
    }
    if (end == size) return;
    std::string tail(static_cast<std::size_t>(size - end), '\0');
    if (::pread(descriptor_, tail.data(), tail.size(), end) != static_cast<ssize_t>(tail.size())) fail();
    try {
        Source source = Source::of_text(tail, path_);
        (void)parse_result(parse_json(source));
        write("\n");
    } catch (const OutputError&) {
        throw;
    } catch (const InputError&) {
        if (::ftruncate(descriptor_, end) != 0) fail();
    }
}

void ResultJournal::fail() const {
    throw OutputError("cannot be written: " + std::generic_category().message(errno), {}, path_);
}

void ResultJournal::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor_, text.data(), text.size());
        if (count < 0 && errno != EINTR) fail();
        if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
}

std::vector<ResultLine> read_results(const std::string& path, std::size_t* damaged) {
    Source source(path);
    source.limit(kMaxJournal);
    std::vector<ResultLine> results;
    std::size_t number = 0;
    const auto read_line = [&](std::string line, bool ended) {
        ++number;
        if (line.empty()) return;
        try {
            Source line_source = Source::of_text(std::move(line), source.name());
            results.push_back(parse_result(parse_json(line_source)));
        } catch (const InputError& error) {
            if (!ended) return;
            if (damaged == nullptr)
                throw InputError(error.message(), fmt::format("line {}, {}", number, error.place()),
                                 source.name());
            ++*damaged;
        }
    };
    std::string rest;
    for (std::string_view block = source.block(); !block.empty(); block = source.block()) {
        for (std::size_t end = block.find('\n'); end != block.npos; end = block.find('\n')) {
            read_line(std::exchange(rest, {}).append(block.substr(0, end)), true);
            block.remove_prefix(end + 1);
        }
        rest += block;
    }
    read_line(std::move(rest), false);
    return results;
}

}  // namespace tutti::io

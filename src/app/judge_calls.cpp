#include "app/judge_calls.hpp"

#include "core/error.hpp"
#include "io/call_list_json.hpp"
#include "io/chakra_calls.hpp"
#include "io/source.hpp"
#include "text/format.hpp"
#include "verify/calls/call_matching.hpp"
#include "verify/calls/call_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

/// The traces in a folder: .et or .json, in the order of their numbers.
std::vector<std::string> traces_in(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string suffix = entry.path().extension().string();
        if (entry.is_regular_file() && (suffix == ".et" || suffix == ".json"))
            files.push_back(entry.path().string());
    }
    std::ranges::sort(files, text::natural_before);
    if (files.empty())
        throw InputError("expected a folder with traces (.et or .json), found none", {}, folder);
    return files;
}

bool is_own_format(const std::string& file) {
    constexpr std::size_t kEnough = 4096;
    io::Source source(file);
    return source.peek(kEnough).find("\"tutti_calls\"") != std::string_view::npos;
}

plan::CallList read_calls(const CallOptions& options, const Stop& stop) {
    const std::string& first = options.files.front();
    if (first == "-") {
        io::Source source(first, stop);
        return io::read_call_list_json(source);
    }
    std::vector<std::string> files;
    for (const std::string& file : options.files) {
        std::error_code ignored;
        if (fs::is_directory(file, ignored)) {
            const auto inside = traces_in(file);
            files.insert(files.end(), inside.begin(), inside.end());
        } else {
            files.push_back(file);
        }
    }
    if (!is_own_format(files.front())) return io::read_chakra_calls(files, stop);
    if (files.size() > 1)
        throw InputError("this file has the calls of all ranks; expected no other", {}, files.front());
    io::Source source(files.front(), stop);
    return io::read_call_list_json(source);
}

io::Json call_json(const plan::CallList& list, verify::CallPlace at) {
    const plan::Call& call = list.ranks[at.rank].calls[at.call];
    return io::Json{{"rank", at.rank},
                    {"call", call.place},
                    {"what", verify::words_of(list, at)},
                    {"place", list.place_of(at.rank, at.call)}};
}

io::Json findings_json(const plan::CallList& list, const std::vector<verify::CallFinding>& findings) {
    io::Json all = io::Json::array();
    for (const verify::CallFinding& finding : findings) {
        io::Json json{{"code", finding.code}, {"message", finding.message}};
        io::Json places = io::Json::array();
        for (const verify::CallPlace place : finding.places) places.push_back(call_json(list, place));
        json["calls"] = std::move(places);
        if (!finding.circle.empty()) {
            io::Json circle = io::Json::array();
            for (const verify::CallOrder& order : finding.circle)
                circle.push_back(
                    {{"earlier", call_json(list, order.earlier)}, {"later", call_json(list, order.later)}});
            json["circle"] = std::move(circle);
        }
        all.push_back(std::move(json));
    }
    return all;
}

}  // namespace

JudgedCalls judge_calls(const CallOptions& options, const Watch& watch) {
    JudgedCalls judged;
    judged.file = options.files.front();
    judged.list = read_calls(options, watch.stop());
    judged.verdict = verify::judge_calls(judged.list, options.max_violations);
    return judged;
}

std::string_view name_of(verify::CallClass verdict) {
    switch (verdict) {
        case verify::CallClass::Valid:
            return "valid";
        case verify::CallClass::ValidIfConcurrent:
            return "valid-if-concurrent";
        case verify::CallClass::Invalid:
            break;
    }
    return "invalid";
}

std::string call_text(const plan::CallList& list, verify::CallPlace at) {
    return fmt::format("{} ({})", verify::words_of(list, at), list.place_of(at.rank, at.call));
}

io::Json json_of(const JudgedCalls& judged) {
    return io::Json{{"file", judged.file},
                    {"verdict", name_of(judged.verdict.verdict)},
                    {"violations", findings_json(judged.list, judged.verdict.violations)},
                    {"violation_count", judged.verdict.violation_count},
                    {"warnings", findings_json(judged.list, judged.verdict.warnings)},
                    {"warning_count", judged.verdict.warning_count},
                    {"notes", judged.list.notes},
                    {"format", judged.list.format},
                    {"ranks", judged.list.ranks.size()},
                    {"groups", judged.list.groups.size()},
                    {"calls", judged.verdict.calls}};
}

}  // namespace tutti::app

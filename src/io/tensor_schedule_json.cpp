#include "io/tensor_schedule_json.hpp"

#include "io/atomic_file.hpp"
#include "io/json_text.hpp"
#include "io/tensor_schedule_text.hpp"
#include "tensor/refusal.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tutti::io {
namespace {

using tensor::Refusal;
using tensor::Schedule;
using tensor::Step;

constexpr std::int64_t kTensorScheduleFormat = 1;
constexpr std::uint64_t kMostScheduleBytes = std::uint64_t{1} << 24;
const std::vector<std::string_view> kIntoNames{"rs_ag", "reduce_broadcast", "axes"};
/// Where a step of a schedule does not say.
constexpr std::int64_t kDefaultPieces = 4;

std::vector<std::string> names_in(const JsonView& view) {
    std::vector<std::string> names;
    for (const JsonView& name : view.elements()) names.push_back(name.string());
    return names;
}

std::int64_t integer_or(const JsonView& view, const char* field, std::int64_t otherwise) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const auto found = view.find(field);
    return found ? found->integer(-kMost, kMost) : otherwise;
}

Step split_in(const JsonView& view) {
    view.only({"do", "op", "into", "dim", "root", "axes"});
    tensor::Split step{.op = view.at("op").string()};
    if (const auto into = view.find("into"))
        step.into = static_cast<tensor::Split::Into>(into->choice(kIntoNames));
    step.dim = integer_or(view, "dim", 0);
    step.root = integer_or(view, "root", 0);
    if (const auto axes = view.find("axes")) step.axes = names_in(*axes);
    return step;
}

Step reorder_in(const JsonView& view) {
    view.only({"do", "gather", "ops"});
    tensor::Reorder step{.gather = view.at("gather").string()};
    const JsonView ops = view.at("ops");
    if (!ops.is_string()) {
        step.ops = names_in(ops);
    } else if (ops.string() != "all") {
        ops.fail_expecting("\"all\" or a list of values");
    }
    return step;
}

Step as_slice_in(const JsonView& view) {
    view.only({"do", "tensor", "dim", "axes"});
    tensor::AsSlice step{.tensor = view.at("tensor").string()};
    if (view.find("dim")) step.dim = integer_or(view, "dim", 0);
    if (const auto axes = view.find("axes")) step.axes = names_in(*axes);
    return step;
}

Step step_in(const JsonView& view) {
    const std::string verb = view.at("do").string();
    const auto name = [&] {
        const auto found = view.find("name");
        return found ? found->string() : std::string();
    };
    if (verb == "split") return split_in(view);
    if (verb == "reorder") return reorder_in(view);
    if (verb == "as_slice") return as_slice_in(view);
    if (verb == "distribute") {
        view.only({"do", "value", "dim", "axes"});
        return tensor::Distribute{view.at("value").string(), integer_or(view, "dim", 0),
                                  names_in(view.at("axes"))};
    }
    if (verb == "fuse" || verb == "coalesce") {
        view.only({"do", "ops", "name"});
        if (verb == "fuse") return tensor::Fuse{names_in(view.at("ops")), name()};
        return tensor::Coalesce{names_in(view.at("ops")), name()};
    }
    if (verb == "overlap") {
        view.only({"do", "chain", "pieces"});
        return tensor::OverlapStep{names_in(view.at("chain")), integer_or(view, "pieces", kDefaultPieces)};
    }
    throw Refusal("transformation",
                  fmt::format("there is no step '{}'; there are split, reorder, distribute, as_slice, fuse, "
                              "coalesce and overlap",
                              verb.size() > 60 ? verb.substr(0, 57) + "..." : verb),
                  {}, view.path());
}

template <class Reader>
auto without_input_errors(Reader&& reader) {
    try {
        return reader();
    } catch (const Refusal&) {
        throw;
    } catch (const InputError& error) {
        throw Refusal("malformed", error.message(), {}, error.place());
    }
}

struct StepJson {
    Json operator()(const tensor::Split& step) const {
        Json json{
            {"do", "split"}, {"op", step.op}, {"into", kIntoNames[static_cast<std::size_t>(step.into)]}};
        switch (step.into) {
            case tensor::Split::Into::ReduceScatterGather:
                json["dim"] = step.dim;
                break;
            case tensor::Split::Into::ReduceBroadcast:
                json["root"] = step.root;
                break;
            case tensor::Split::Into::Axes:
                json["axes"] = step.axes;
                break;
        }
        return json;
    }
    Json operator()(const tensor::Reorder& step) const {
        return {
            {"do", "reorder"}, {"gather", step.gather}, {"ops", step.ops ? Json(*step.ops) : Json("all")}};
    }
    Json operator()(const tensor::Distribute& step) const {
        return {{"do", "distribute"}, {"value", step.value}, {"dim", step.dim}, {"axes", step.axes}};
    }
    Json operator()(const tensor::AsSlice& step) const {
        Json json{{"do", "as_slice"}, {"tensor", step.tensor}};
        if (step.dim) json["dim"] = *step.dim;
        if (step.axes) json["axes"] = *step.axes;
        return json;
    }
    Json operator()(const tensor::Fuse& step) const { return grouped("fuse", step.ops, step.name); }
    Json operator()(const tensor::Coalesce& step) const { return grouped("coalesce", step.ops, step.name); }
    Json operator()(const tensor::OverlapStep& step) const {
        return {{"do", "overlap"}, {"chain", step.chain}, {"pieces", step.pieces}};
    }

  private:
    static Json grouped(const char* verb, const std::vector<std::string>& ops, const std::string& name) {
        Json json{{"do", verb}, {"ops", ops}};
        if (!name.empty()) json["name"] = name;
        return json;
    }
};

}  // namespace

Step parse_tensor_step(const Json& json) {
    return without_input_errors([&] { return step_in(JsonView(json)); });
}

Schedule parse_tensor_schedule(const Json& json) {
    return without_input_errors([&] {
        const JsonView view(json);
        if (!view.is_object()) view.fail_expecting("a schedule of a tensor program, which is an object");
        (void)view.at("tutti_tensor_schedule").integer(kTensorScheduleFormat, kTensorScheduleFormat);
        view.only({"tutti_tensor_schedule", "program", "steps", "predicted_us"});
        Schedule schedule{.program = view.at("program").string()};
        for (const JsonView& step : view.at("steps").elements()) schedule.steps.push_back(step_in(step));
        if (const auto time = view.find("predicted_us"))
            schedule.predicted_us = time->number(0, std::numeric_limits<double>::max());
        return schedule;
    });
}

Schedule read_tensor_schedule(const std::string& path, const Stop& stop) {
    Source source(path, stop);
    source.limit(kMostScheduleBytes);
    try {
        const std::string text = read_text(source, kMostScheduleBytes);
        const std::size_t begin = text.find_first_not_of(" \t\r\n");
        if (begin == std::string::npos || (text[begin] != '{' && text[begin] != '['))
            return parse_tensor_schedule_text(text);
        Source json = Source::of_text(text, source.name());
        return parse_tensor_schedule(parse_json(json));
    } catch (const Refusal& refusal) {
        throw refusal.of_file(source.name());
    }
}

Json write_tensor_step(const Step& step) { return std::visit(StepJson{}, step); }

Json write_tensor_schedule(const Schedule& schedule) {
    Json json{{"tutti_tensor_schedule", kTensorScheduleFormat}, {"program", schedule.program}};
    Json& steps = json["steps"] = Json::array();
    for (const Step& step : schedule.steps) steps.push_back(write_tensor_step(step));
    if (schedule.predicted_us) json["predicted_us"] = number_json(*schedule.predicted_us);
    return json;
}

void save_tensor_schedule(const std::string& path, const Schedule& schedule) {
    AtomicFile file(path);
    file.write(json_page(write_tensor_schedule(schedule)));
    file.commit();
}

}  // namespace tutti::io

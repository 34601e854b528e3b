#include "app/algorithms.hpp"

#include "app/compile_trace.hpp"
#include "core/error.hpp"
#include "lang/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::app {
namespace {

std::vector<const lang::Algorithm*> chosen(const std::string& name) {
    if (!name.empty()) return {&lang::algorithm_named(name)};
    std::vector<const lang::Algorithm*> all;
    for (const lang::Algorithm& algorithm : lang::algorithms()) all.push_back(&algorithm);
    return all;
}

std::vector<std::string_view> kinds_of(const lang::Algorithm& algorithm) {
    std::vector<std::string_view> kinds;
    for (const CollectiveKind kind : algorithm.kinds) kinds.push_back(name_of(kind));
    return kinds;
}

/// "ring", "ring directions=2": the default, and what may be better on large data or other machines.
std::vector<lang::AlgorithmRequest> tuned(const lang::Algorithm& algorithm,
                                          const lang::AlgorithmRequest& request) {
    std::vector<lang::AlgorithmRequest> all{request};
    const auto with = [&](std::string_view name, std::int64_t value) {
        const auto known = std::ranges::find(algorithm.parameters, name, &lang::Parameter::name);
        if (known == algorithm.parameters.end() || value < known->least || value > known->most) return;
        if (value == known->normal) return;
        all.push_back(request);
        all.back().parameters[std::string(name)] = value;
    };
    with("directions", 2);
    with("gpus", 4);
    // Pipelines want many chunks, other programs send them in one step.
    const bool pipelined = algorithm.name == "binomial-tree" || algorithm.name == "two-trees";
    if (pipelined) with("chunks", 32);
    return all;
}

std::string label_of(const lang::Algorithm& algorithm, const lang::AlgorithmRequest& request) {
    std::string label(algorithm.name);
    for (const auto& [name, value] : request.parameters) label += fmt::format(" {}={}", name, value);
    return label;
}

}  // namespace

io::Json library_json(const std::string& name) {
    io::Json all = io::Json::array();
    for (const lang::Algorithm* algorithm : chosen(name)) {
        io::Json parameters = io::Json::array();
        for (const lang::Parameter& parameter : algorithm->parameters) {
            parameters.push_back({{"name", parameter.name},
                                  {"about", parameter.about},
                                  {"default", parameter.normal},
                                  {"least", parameter.least},
                                  {"most", parameter.most}});
        }
        all.push_back({{"name", algorithm->name},
                       {"about", algorithm->about},
                       {"source", algorithm->source},
                       {"collectives", kinds_of(*algorithm)},
                       {"parameters", std::move(parameters)}});
    }
    return all;
}

std::string library_text(const std::string& name) {
    std::string text;
    for (const lang::Algorithm* algorithm : chosen(name)) {
        text += fmt::format("{}\n  {}\n  collectives  {}\n", algorithm->name, algorithm->about,
                            fmt::join(kinds_of(*algorithm), ", "));
        for (const lang::Parameter& parameter : algorithm->parameters) {
            text += fmt::format("  --set {}={}  {} ({} to {})\n", parameter.name, parameter.normal,
                                parameter.about, parameter.least, parameter.most);
        }
        text += fmt::format("  source       {}\n", algorithm->source);
    }
    return text;
}

ComparedAlgorithms compare_algorithms(const AlgorithmsOptions& options, const Watch& watch) {
    PlanOptions network_options;
    network_options.topology = options.topology;
    network_options.sizes = options.sizes;
    auto network = network_of(network_options);
    if (!network) throw InputError("expected a topology");
    ComparedAlgorithms compared{.network = std::move(*network)};
    const auto ranks = static_cast<std::uint32_t>(compared.network.topology.npus());
    for (const lang::Algorithm* algorithm : chosen(options.name)) {
        lang::AlgorithmRequest request{.kind = options.kind, .ranks = ranks, .in_place = options.in_place};
        if (std::ranges::find(algorithm->kinds, options.kind) == algorithm->kinds.end()) continue;
        for (const lang::AlgorithmRequest& asked : tuned(*algorithm, request)) {
            if (const std::string reason = lang::why_not(*algorithm, asked); !reason.empty()) {
                compared.left_out.push_back(fmt::format("{}: {}", label_of(*algorithm, asked), reason));
                continue;
            }
            CompiledTrace made = compile_verified(lang::program_of(*algorithm, asked), {});
            JudgedPlan judged;
            judged.file = label_of(*algorithm, asked);
            judged.verdict = std::move(made.verdict);
            judged.plan = std::move(made.result.plan);
            time_at_sizes(judged, compared.network, {}, watch.stop());
            compared.plans.compared.push_back(std::move(judged));
        }
    }
    if (compared.plans.compared.empty()) {
        throw InputError(fmt::format("no algorithm serves {} among {} ranks{}{}", name_of(options.kind),
                                     ranks, compared.left_out.empty() ? "" : ": ",
                                     fmt::join(compared.left_out, "; ")));
    }
    compared.plans.files = compared.plans.judged = compared.plans.compared.size();
    compared.plans.comparisons =
        compare_plans(compared.plans.compared, compared.network, network_options, watch.stop());
    compared.plans.complete = true;
    return compared;
}

io::Json json_of(const ComparedAlgorithms& compared) {
    io::Json algorithms = io::Json::array(), comparisons = io::Json::array();
    for (const JudgedPlan& judged : compared.plans.compared) {
        io::Json sizes = io::Json::array();
        for (const SizedCost& at : judged.sizes) {
            io::Json row{
                {"bytes", at.bytes.count}, {"makespan", nullptr}, {"lower_bound", nullptr}, {"gap", nullptr}};
            if (at.cost) row["makespan"] = at.cost->timing.makespan.count();
            if (at.cost && at.cost->bound) row["lower_bound"] = at.cost->bound->value.count();
            if (at.cost && at.cost->gap) row["gap"] = *at.cost->gap;
            sizes.push_back(std::move(row));
        }
        algorithms.push_back({{"name", judged.file},
                              {"verdict", plan::name_of(judged.verdict.verdict)},
                              {"steps", judged.verdict.steps},
                              {"sizes", std::move(sizes)}});
    }
    for (const PlanComparison& comparison : compared.plans.comparisons) {
        comparisons.push_back(json_of(comparison, compared.plans.compared, compared.network));
    }
    return {{"algorithms", std::move(algorithms)},
            {"comparisons", std::move(comparisons)},
            {"left_out", compared.left_out}};
}

}  // namespace tutti::app

// Which algorithm of the library is the best on a network? Each that serves the collective there is compiled,
// verified and timed. Its parameters are tuned one after the other: for each setting that is the best at some
// size so far, the other values that the parameter is worth trying at. That is a descent along coordinates,
// which finds the best of what interacts little (node size, then how levels are done, then channels) without
// compiling all products.
//
// The bound of a size is the least of those for the sizes of chunks that the best programs cut the data into
// (docs/plan-costs.md): it holds for each of them, and so the gaps of different algorithms compare.

#include "app/compare_algorithms.hpp"

#include "app/compile_trace.hpp"
#include "core/error.hpp"
#include "lang/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace tutti::app {
namespace {

/// Programs of more verbs are not tried when parameters are tuned: chunks times the ranks that each has to
/// reach, about.
constexpr std::uint64_t kMostTuned = std::uint64_t{1} << 16;

using Parameters = std::map<std::string, std::int64_t>;

/// An algorithm with parameters, compiled and timed at every size.
struct Variant {
    Parameters parameters{};
    JudgedPlan judged{};
    std::vector<Ticks> times{};
};

class Tuning {
  public:
    Tuning(const lang::Algorithm& algorithm, const lang::AlgorithmRequest& request,
           const PlanNetwork& network, const Stop& stop)
        : algorithm_(algorithm), request_(request), network_(network), stop_(stop) {}

    /// All that were tried, and why not, if none could be.
    std::vector<Variant> run() {
        try_with({});
        for (const lang::Parameter& parameter : algorithm_.parameters) {
            for (const Parameters& base : best_settings()) {
                for (const std::int64_t value : parameter.worth_trying(request_.ranks)) {
                    Parameters changed = base;
                    changed[std::string(parameter.name)] = value;
                    try_with(changed);
                }
            }
        }
        return std::move(variants_);
    }
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

  private:
    /// Those that take least at some size; before anything could be timed, the defaults.
    [[nodiscard]] std::set<Parameters> best_settings() const {
        std::set<Parameters> best;
        for (std::size_t s = 0; s < network_.sizes.size() && !variants_.empty(); ++s) {
            best.insert(std::ranges::min_element(variants_, {}, [&](const Variant& v) {
                            return v.times[s];
                        })->parameters);
        }
        if (best.empty()) best.insert(Parameters{});
        return best;
    }

    void try_with(const Parameters& parameters) {
        if (stop_.requested()) throw LimitError("interrupted");
        if (!tried_.insert(parameters).second) return;
        lang::AlgorithmRequest asked = request_;
        asked.parameters = parameters;
        if (std::string reason = lang::why_not(algorithm_, asked); !reason.empty()) {
            if (why_not_.empty()) why_not_ = std::move(reason);
            return;
        }
        const std::uint64_t chunks =
            lang::input_chunks(lang::shape_of(algorithm_, asked)) * std::uint64_t{asked.ranks};
        if (!parameters.empty() && chunks > kMostTuned) return;
        Variant variant{parameters};
        variant.judged.file = label_of(algorithm_.name, parameters);
        CompiledTrace made = compile_verified(lang::program_of(algorithm_, asked), {});
        variant.judged.verdict = std::move(made.verdict);
        variant.judged.plan = std::move(made.result.plan);
        try {
            for (const Bytes bytes : network_.sizes)
                variant.times.push_back(makespan_of(variant.judged, network_, bytes, {}, stop_));
        } catch (const InputError& error) {
            if (why_not_.empty()) why_not_ = error.message();
            return;
        }
        variants_.push_back(std::move(variant));
    }

    static std::string label_of(std::string_view name, const Parameters& parameters) {
        std::string label(name);
        for (const auto& [parameter, value] : parameters) label += fmt::format(" {}={}", parameter, value);
        return label;
    }

    const lang::Algorithm& algorithm_;
    const lang::AlgorithmRequest& request_;
    const PlanNetwork& network_;
    const Stop& stop_;
    std::vector<Variant> variants_;
    std::set<Parameters> tried_;
    std::string why_not_;
};

/// Times the plans again, with all that is said of a cost, and holds them against the bound of each size.
void enter_costs(ComparedAlgorithms& compared, const Stop& stop) {
    auto& plans = compared.plans.compared;
    KnownBounds known;
    for (JudgedPlan& judged : plans) time_at_sizes(judged, compared.network, {}, stop, &known);
    for (std::size_t s = 0; s < compared.network.sizes.size(); ++s) {
        std::optional<Bound> least;
        for (const JudgedPlan& judged : plans) {
            const auto& cost = judged.sizes[s].cost;
            if (cost && cost->bound && (!least || cost->bound->value < least->value)) least = cost->bound;
        }
        for (JudgedPlan& judged : plans) {
            auto& cost = judged.sizes[s].cost;
            if (!cost || !least) continue;
            cost->bound = least;
            const auto bound = static_cast<double>(least->value.count());
            if (bound > 0)
                cost->gap = static_cast<double>(cost->timing.makespan.count() - least->value.count()) / bound;
        }
    }
}

}  // namespace

ComparedAlgorithms compare_algorithms(const AlgorithmsOptions& options, const Watch& watch) {
    PlanOptions network_options;
    network_options.topology = options.topology;
    network_options.sizes = options.sizes;
    const auto network = network_of(network_options);
    if (!network) throw InputError("expected a topology");
    if (network->sizes.empty()) throw InputError("expected sizes of the call (--bytes LIST)");
    ComparedAlgorithms compared{.network = *network};
    const lang::AlgorithmRequest request{.kind = options.kind,
                                         .ranks = static_cast<std::uint32_t>(network->topology.npus()),
                                         .in_place = options.in_place};
    const Stop stop = watch.stop();
    for (const lang::Algorithm* const one : lang::all_algorithms()) {
        const lang::Algorithm& algorithm = *one;
        if (!options.name.empty() && lang::algorithm_named(options.name).name != algorithm.name) continue;
        if (std::ranges::find(algorithm.kinds, options.kind) == algorithm.kinds.end()) {
            if (!options.name.empty()) throw InputError(lang::why_not(algorithm, request));
            continue;
        }
        if (algorithm.plan != nullptr) {
            compared.left_out.push_back(
                {std::string(algorithm.name),
                 "sums and copies in switches are not modelled (docs/plan-costs.md)"});
            continue;
        }
        Tuning tuning(algorithm, request, compared.network, stop);
        std::vector<Variant> variants = tuning.run();
        if (variants.empty()) {
            compared.left_out.push_back({std::string(algorithm.name), tuning.why_not()});
            continue;
        }
        // The best at each size; what is never the best is not shown.
        ComparedAlgorithms::Choice choice{std::string(algorithm.name), {}, variants.size()};
        std::map<std::size_t, std::size_t> position;
        for (std::size_t s = 0; s < compared.network.sizes.size(); ++s) {
            const auto best = static_cast<std::size_t>(
                std::ranges::min_element(variants, {}, [&](const Variant& v) { return v.times[s]; }) -
                variants.begin());
            const auto [known, fresh] = position.try_emplace(best, compared.plans.compared.size());
            if (fresh) {
                compared.plans.compared.push_back(std::move(variants[best].judged));
                compared.parameters.push_back(variants[best].parameters);
            }
            choice.best.push_back(known->second);
        }
        compared.choices.push_back(std::move(choice));
    }
    if (compared.choices.empty()) {
        std::vector<std::string> reasons;
        for (const auto& [name, reason] : compared.left_out)
            reasons.push_back(fmt::format("{}: {}", name, reason));
        throw InputError(fmt::format("no algorithm serves {} among {} ranks{}{}", name_of(options.kind),
                                     request.ranks, reasons.empty() ? "" : ": ", fmt::join(reasons, "; ")));
    }
    enter_costs(compared, stop);
    compared.plans.files = compared.plans.judged = compared.plans.compared.size();
    compared.plans.comparisons =
        compare_plans(compared.plans.compared, compared.network, network_options, stop);
    compared.plans.complete = true;
    return compared;
}

io::Json json_of(const ComparedAlgorithms& compared) {
    io::Json algorithms = io::Json::array(), best = io::Json::array(), left_out = io::Json::array();
    const auto sizes_of = [](const JudgedPlan& judged) {
        io::Json sizes = io::Json::array();
        for (const SizedCost& at : judged.sizes) {
            io::Json row{
                {"bytes", at.bytes.count}, {"makespan", nullptr}, {"lower_bound", nullptr}, {"gap", nullptr}};
            if (at.cost) row["makespan"] = at.cost->timing.makespan.count();
            if (at.cost && at.cost->bound) row["lower_bound"] = at.cost->bound->value.count();
            if (at.cost && at.cost->gap) row["gap"] = *at.cost->gap;
            sizes.push_back(std::move(row));
        }
        return sizes;
    };
    for (const ComparedAlgorithms::Choice& choice : compared.choices) {
        const std::set<std::size_t> plans(choice.best.begin(), choice.best.end());
        for (const std::size_t plan : plans) {
            const JudgedPlan& judged = compared.plans.compared[plan];
            const auto& first = judged.sizes.front().cost;
            algorithms.push_back(
                {{"name", judged.file},
                 {"algorithm", choice.algorithm},
                 {"parameters", compared.parameters[plan]},
                 {"verdict", plan::name_of(judged.verdict.verdict)},
                 {"steps", judged.verdict.steps},
                 {"chunks", first ? io::Json(first->timing.jobs.front().chunks) : io::Json(nullptr)},
                 {"sizes", sizes_of(judged)}});
        }
    }
    for (std::size_t s = 0; s < compared.network.sizes.size(); ++s) {
        const std::size_t plan = compared.fastest_at(s);
        io::Json row = sizes_of(compared.plans.compared[plan])[s];
        row["name"] = compared.plans.compared[plan].file;
        best.push_back(std::move(row));
    }
    for (const auto& [name, reason] : compared.left_out)
        left_out.push_back({{"algorithm", name}, {"reason", reason}});
    io::Json comparisons = io::Json::array();
    for (const PlanComparison& comparison : compared.plans.comparisons)
        comparisons.push_back(json_of(comparison, compared.plans.compared, compared.network));
    return {{"algorithms", std::move(algorithms)},
            {"best", std::move(best)},
            {"comparisons", std::move(comparisons)},
            {"left_out", std::move(left_out)}};
}

std::size_t ComparedAlgorithms::fastest_at(std::size_t size) const {
    std::size_t fastest = choices.front().best[size];
    for (const Choice& choice : choices) {
        const auto time = [&](std::size_t plan) {
            return plans.compared[plan].sizes[size].cost->timing.makespan;
        };
        if (time(choice.best[size]) < time(fastest)) fastest = choice.best[size];
    }
    return fastest;
}

}  // namespace tutti::app

#include "app/bench_plan.hpp"

#include "app/bench_memory.hpp"
#include "app/bench_mpi.hpp"

namespace tutti::app {
namespace {

io::Json json_of(const Quartiles& quartiles) {
    return {{"q1", quartiles.low}, {"median", quartiles.median}, {"q3", quartiles.high}};
}

}  // namespace

BenchResult bench_plans(const BenchOptions& options, const Watch& watch,
                        const std::function<void(const BenchRow&)>& row) {
    return options.against == BenchOptions::Against::Mpi ? bench_against_mpi(options, watch, row)
                                                         : bench_against_memory(options, watch, row);
}

io::Json json_of(const BenchResult& result, const BenchOptions& options) {
    const bool mpi = options.against == BenchOptions::Against::Mpi;
    io::Json json{{"against", mpi ? "mpi" : "memory"},
                  {"yardstick", result.yardstick},
                  {"rounds", options.rounds},
                  {"rows", io::Json::array()}};
    for (const BenchRow& row : result.rows) {
        io::Json variants = io::Json::object();
        for (const BenchVariant& variant : row.variants)
            variants[variant.name] = {{"median_us", variant.median_us}, {"ratio", json_of(variant.ratio)}};
        json["rows"].push_back({{"file", row.file},
                                {"collective", row.collective},
                                {"ranks", row.ranks},
                                {"bytes", row.bytes},
                                {"count", row.count},
                                {"type", run::name_of(options.type)},
                                {"operator", run::name_of(options.op)},
                                {"steps", row.steps},
                                {"yardstick_us", row.yardstick_us},
                                {"variants", std::move(variants)},
                                {"compared", row.compared},
                                {"wrong", row.wrong}});
    }
    return json;
}

}  // namespace tutti::app

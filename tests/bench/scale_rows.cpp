#include "tests/bench/scale_rows.hpp"

#include "core/rng.hpp"
#include "io/instance_json.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <system_error>

namespace tutti::bench {
namespace {

constexpr double kTicksPerMicrosecond = 1e6;

std::size_t npus_of(const io::Json& instance) {
    std::size_t npus = 1;
    for (const io::Json& size : instance.at("topology").at("generate").at("dims")) {
        npus *= size.get<std::size_t>();
    }
    return npus;
}

/// Groups of NPUs drawn by lot, an all-gather in each.
std::vector<io::Json> scattered(const io::Json& row) {
    const io::Json& scatter = row.at("scatter");
    std::vector<std::size_t> npus(npus_of(row.at("instance")));
    std::iota(npus.begin(), npus.end(), std::size_t{0});
    Rng rng(scatter.at("seed").get<std::uint64_t>());
    rng.shuffle(npus);
    const bool apart = row.value("one_by_one", false);
    const auto groups = scatter.at("groups").get<std::size_t>(), size = scatter.at("size").get<std::size_t>();
    std::vector<io::Json> instances;
    for (std::size_t g = 0; g < groups; ++g) {
        if (g == 0 || apart) instances.push_back(row.at("instance"));
        const std::string name = fmt::format("g{}", g);
        io::Json members = io::Json::array();
        for (std::size_t i = 0; i < size; ++i) members.push_back(npus.at(g * size + i));
        instances.back()["groups"][name] = std::move(members);
        io::Json collective{{"id", name}, {"kind", "all_gather"}, {"group", name}};
        if (scatter.contains("forwarding")) collective["forwarding"] = scatter.at("forwarding");
        instances.back()["collectives"].push_back(std::move(collective));
    }
    return instances;
}

std::optional<Recorded> recorded_in(const io::Json& json) {
    if (json.contains("tacos")) {
        const io::Json& tacos = json.at("tacos");
        return Recorded{"TACOS", tacos.at("makespan").get<double>(), tacos.at("cpu_seconds"), "measured"};
    }
    if (json.contains("claim")) {
        const io::Json& claim = json.at("claim");
        return Recorded{claim.at("who"), std::nullopt, claim.at("cpu_seconds"), claim.at("source")};
    }
    return std::nullopt;
}

ScaleRow row_of(const io::Json& json) {
    ScaleRow row;
    row.name = json.at("name");
    row.instances = json.contains("scatter") ? scattered(json) : std::vector<io::Json>{json.at("instance")};
    for (io::Json& instance : row.instances) instance["tutti"] = io::kInstanceFormat;
    if (json.contains("step_us")) row.step_us = json.at("step_us").get<double>();
    row.recorded = recorded_in(json);
    if (json.contains("live")) row.live = json.at("live").get<std::vector<std::string>>();
    if (json.contains("goal")) row.goal = json.at("goal").get<std::int64_t>();
    if (json.contains("seconds")) row.seconds = json.at("seconds").get<double>();
    row.physical = row.instances.front().at("collectives").at(0).contains("chunk_bytes");
    return row;
}

}  // namespace

std::string ScaleRow::text(double ticks) const {
    if (!physical) return fmt::format("{:.0f}", ticks);
    const double us = ticks / kTicksPerMicrosecond;
    return step_us ? fmt::format("{:g}", us / *step_us) : fmt::format("{:.1f}", us);
}

std::string ScaleRow::unit() const { return !physical ? "ticks" : step_us ? "steps" : "us"; }

std::vector<ScaleRow> scale_rows(const io::Json& tables, const std::string& table, const std::string& only) {
    std::vector<ScaleRow> rows;
    for (const io::Json& json : tables.at(table)) {
        const std::string name = json.at("name");
        const bool chosen =
            only.empty() ? !json.value("slow", false) : (table + " " + name).find(only) != std::string::npos;
        if (chosen) rows.push_back(row_of(json));
    }
    return rows;
}

ScratchFolder::ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "tutti-bench-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    folder_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string ScratchFolder::write(const io::Json& instance, const std::string& name) const {
    std::string file = path(name);
    std::ofstream(file) << io::json_line(instance) << '\n';
    return file;
}

}  // namespace tutti::bench

#include "app/plan_network.hpp"

#include "core/expects.hpp"
#include "io/topology_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

namespace tutti::app {
namespace {

std::vector<NodeId> nodes_of(std::span<const std::int32_t> group) {
    std::vector<NodeId> nodes;
    for (const std::int32_t npu : group) nodes.emplace_back(static_cast<std::size_t>(npu));
    return nodes;
}

CostJob job_of(const JudgedPlan& judged, Bytes bytes, std::span<const std::int32_t> group) {
    const auto plan = timed(*judged.plan);
    if (!plan) throw InputError("plans of this format cannot be timed", {}, judged.file);
    return {*plan, judged.verdict, bytes, nodes_of(group), judged.condition.condition};
}

/// What plans are called beside each other: their files' names, with the folder if two are the same, and
/// with a number if two are one file.
std::vector<std::string> labels_of(std::span<const JudgedPlan> judged) {
    std::map<std::string, std::size_t> names, files;
    const auto name = [](const JudgedPlan& plan) {
        return std::filesystem::path(plan.file).filename().string();
    };
    for (const JudgedPlan& plan : judged) {
        ++names[name(plan)];
        ++files[plan.file];
    }
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        const std::string& file = judged[i].file;
        labels.push_back(files[file] > 1              ? fmt::format("{} ({})", file, i + 1)
                         : names[name(judged[i])] > 1 ? file
                                                      : name(judged[i]));
    }
    return labels;
}

void expect_npus_exist(const std::vector<std::vector<std::int32_t>>& groups, const Topology& topology,
                       const std::string& file) {
    for (const auto& group : groups) {
        for (const std::int32_t npu : group) {
            if (static_cast<std::uint32_t>(npu) < topology.npus()) continue;
            throw InputError(
                fmt::format("--group: expected NPUs of this topology, which are 0 to {}; found {}",
                            topology.npus() - 1, npu),
                {}, file);
        }
    }
}

}  // namespace

std::span<const std::int32_t> group_of(const PlanOptions& options, std::size_t file) {
    if (options.groups.empty()) return {};
    return options.groups[options.groups.size() == 1 ? 0 : file];
}

std::optional<PlanNetwork> network_of(const PlanOptions& options) {
    if (!options.topology) return std::nullopt;
    PlanNetwork network{io::read_topology_file(*options.topology)};
    expect_npus_exist(options.groups, network.topology, *options.topology);
    if (!options.sizes.empty()) {
        if (network.topology.units() == Units::Abstract)
            throw InputError(
                "the topology is in abstract ticks, where sizes do not matter; expected no --bytes");
        if (options.groups.size() > 1)
            throw InputError("plans with a --group each run together; expected one size (--bytes N)");
        for (const std::int64_t size : options.sizes) network.sizes.push_back(Bytes{size});
    } else if (network.topology.units() == Units::Physical) {
        if (!options.bytes)
            throw InputError("expected the size of the call (--bytes N); the topology is in physical units");
        network.bytes = Bytes{*options.bytes};
    }
    return network;
}

void time_plan(JudgedPlan& judged, const PlanNetwork& network, std::span<const std::int32_t> group,
               const Stop& stop) {
    expects(judged.plan.has_value());
    try {
        judged.cost = cost_of(job_of(judged, network.bytes, group), network.topology, stop);
    } catch (const InputError& error) {
        judged.not_timed = error.message();
    }
}

void time_at_sizes(JudgedPlan& judged, const PlanNetwork& network, std::span<const std::int32_t> group,
                   const Stop& stop, KnownBounds* known) {
    expects(judged.plan.has_value());
    for (const Bytes bytes : network.sizes) {
        SizedCost& at = judged.sizes.emplace_back(SizedCost{bytes});
        try {
            at.cost = cost_of(job_of(judged, bytes, group), network.topology, stop, known);
        } catch (const InputError& error) {
            at.not_timed = error.message();
        }
    }
}

Ticks makespan_of(const JudgedPlan& judged, const PlanNetwork& network, Bytes bytes,
                  std::span<const std::int32_t> group, const Stop& stop) {
    expects(judged.plan.has_value());
    const CostJob job = job_of(judged, bytes, group);
    return timing_of({&job, 1}, network.topology, stop).makespan;
}

PlanCost time_together(std::span<const JudgedPlan> judged, const PlanNetwork& network,
                       const std::vector<std::vector<std::int32_t>>& groups, const Stop& stop) {
    std::vector<CostJob> jobs;
    const std::vector<std::string> labels = labels_of(judged);
    for (std::size_t i = 0; i < judged.size(); ++i) {
        jobs.push_back(job_of(judged[i], network.bytes, groups[i]));
        jobs.back().label = labels[i];
    }
    return cost_of(jobs, network.topology, stop);
}

}  // namespace tutti::app

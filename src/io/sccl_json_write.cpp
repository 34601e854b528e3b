#include "core/expects.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"
#include "io/sccl_json.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

// Writes a file for msccl-tools' load_msccl_object, or for TACCL where sends have times: every object with
// its tag and all keys that the decoders require. Chunks are written undivided, and the instance says so.

namespace tutti::io {
namespace {

using plan::ScclPlan;
using plan::SendChunk;

bool is_taccl(const ScclPlan& plan) { return plan.clock == plan::SendClock::Times; }

Json tagged(const ScclPlan& plan, const char* type) {
    return Json{{is_taccl(plan) ? "sccl_type" : "msccl_type", type}};
}

std::vector<std::uint32_t> numbers_of(const std::vector<plan::PlanNode>& nodes) {
    std::vector<std::uint32_t> numbers;
    for (const plan::PlanNode node : nodes) numbers.push_back(node.value());
    return numbers;
}

Json map_of(const ScclPlan& plan, std::vector<plan::PlanNode> SendChunk::*nodes) {
    std::map<plan::PlanNode, std::set<std::int64_t>> map;
    for (const SendChunk& chunk : plan.chunks) {
        for (const plan::PlanNode node : chunk.*nodes) map[node].insert(chunk.address);
    }
    Json json = Json::object();
    for (const auto& [node, addresses] : map) json[std::to_string(node.value())] = addresses;
    return json;
}

Json instance_of(const ScclPlan& plan) {
    const std::int64_t steps = static_cast<std::int64_t>(plan.rounds.size());
    Json json = tagged(plan, "instance");
    json["steps"] = steps;
    // TACCL's rounds are times; it counts no extra ones.
    json["extra_rounds"] =
        is_taccl(plan) ? 0 : std::accumulate(plan.rounds.begin(), plan.rounds.end(), std::int64_t{0}) - steps;
    json["chunks"] = 1;
    json["pipeline"] = plan.pipeline ? Json(*plan.pipeline) : Json(nullptr);
    json["extra_memory"] = nullptr;
    json["allow_exchange"] = false;
    return json;
}

Json steps_of(const ScclPlan& plan) {
    Json steps = Json::array();
    for (const std::int64_t rounds : plan.rounds) {
        Json step = tagged(plan, "step");
        step["rounds"] = rounds;
        step["sends"] = Json::array();
        steps.push_back(std::move(step));
    }
    for (const plan::NodeSend& send : plan.sends) {
        Json entry{send.address, send.src.value(), send.dst.value()};
        if (is_taccl(plan)) {
            entry.push_back(send.when);
            entry.push_back(send.lane);
            entry.push_back(send.replaces ? Json(nullptr) : Json("rrc"));
        }
        steps[static_cast<std::size_t>(send.list)]["sends"].push_back(std::move(entry));
    }
    return steps;
}

/// TACCL lists for each rank the positions of its chunks.
Json ranks_of(const ScclPlan& plan) {
    const auto nodes = static_cast<std::size_t>(plan.nodes);
    std::vector<std::vector<std::size_t>> before(nodes), after(nodes);
    for (std::size_t i = 0; i < plan.chunks.size(); ++i) {
        for (const plan::PlanNode node : plan.chunks[i].pre) before[node.index()].push_back(i);
        for (const plan::PlanNode node : plan.chunks[i].post) after[node.index()].push_back(i);
    }
    Json ranks = Json::array();
    for (std::size_t node = 0; node < nodes; ++node) {
        Json rank = tagged(plan, "rank");
        rank["pre"] = before[node];
        rank["post"] = after[node];
        rank["id"] = node;
        ranks.push_back(std::move(rank));
    }
    return ranks;
}

Json collective_of(const ScclPlan& plan) {
    Json json = tagged(plan, "collective");
    json["name"] = plan.collective;
    json["nodes"] = plan.nodes;
    json["chunks"] = Json::array();
    for (const SendChunk& chunk : plan.chunks) {
        Json entry = tagged(plan, "chunk");
        entry["pre"] = numbers_of(chunk.pre);
        entry["post"] = numbers_of(chunk.post);
        entry["addr"] = chunk.address;
        json["chunks"].push_back(std::move(entry));
    }
    if (is_taccl(plan)) json["ranks"] = ranks_of(plan);
    json["triggers"] = Json::object();
    if (!is_taccl(plan)) json["runtime_name"] = plan.runtime.empty() ? "custom" : plan.runtime;
    return json;
}

/// A square matrix [destination][source] of `entry` for each link.
template <typename Entry>
Json matrix_of(const ScclPlan& plan, Entry entry) {
    const auto nodes = static_cast<std::size_t>(plan.nodes);
    std::vector<std::vector<std::int64_t>> matrix(nodes, std::vector<std::int64_t>(nodes));
    for (const plan::ScclLink& link : plan.links) matrix[link.dst.index()][link.src.index()] = entry(link);
    return matrix;
}

/// TACCL's description of one machine without links between machines.
Json machine_of(const ScclPlan& plan) {
    constexpr std::int64_t kScale = 10 * plan::kFinePerTime;
    Json json = tagged(plan, "topology");
    json["name"] = plan.network;
    json["copies"] = 1;
    json["ngpus_per_node"] = plan.nodes;
    json["node_links"] = matrix_of(plan, [](const plan::ScclLink& link) { return link.capacity; });
    json["node_invbws"] = matrix_of(plan, [](const plan::ScclLink& link) { return link.beta / kScale; });
    for (const char* key : {"remote_invbw", "remote_alpha", "remote_beta"}) json[key] = nullptr;
    json["internode_conn"] = Json::object();
    json["local_switches"] = Json::array();
    return json;
}

Json topology_of(const ScclPlan& plan) {
    Json json = tagged(plan, "topology");
    json["name"] = plan.network;
    json["switches"] = Json::array();
    for (const plan::ScclSwitch& limit : plan.switches) {
        json["switches"].push_back(
            Json::array({numbers_of(limit.srcs), numbers_of(limit.dsts), limit.capacity, limit.name}));
    }
    json["links"] = matrix_of(plan, [](const plan::ScclLink& link) { return link.capacity; });
    return json;
}

}  // namespace

std::string sccl_json_text(const ScclPlan& plan) {
    expects(plan.clock == plan::SendClock::Steps || plan.clock == plan::SendClock::Times);
    Json json = tagged(plan, "algorithm");
    json["name"] = plan.name;
    json["instance"] = instance_of(plan);
    json["input_map"] = map_of(plan, &SendChunk::pre);
    json["output_map"] = map_of(plan, &SendChunk::post);
    json["steps"] = steps_of(plan);
    json["collective"] = collective_of(plan);
    json["topology"] = is_taccl(plan) ? machine_of(plan) : topology_of(plan);
    return json_page(json);
}

void write_sccl_json(const std::string& path, const ScclPlan& plan) {
    AtomicFile file(path);
    file.write(sccl_json_text(plan));
    file.commit();
}

}  // namespace tutti::io

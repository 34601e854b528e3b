#include "io/atomic_file.hpp"
#include "io/json_text.hpp"
#include "io/sccl_json.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

// The file that msccl-tools' own load_msccl_object takes: every object with its tag and all keys that the
// decoder asks for. Chunks are written as they are, so the instance says that none was cut.

namespace tutti::io {
namespace {

using plan::SendChunk;
using plan::SendPlan;

Json tagged(const char* type) { return Json{{"msccl_type", type}}; }

Json map_of(const SendPlan& plan, std::vector<std::int32_t> SendChunk::*nodes) {
    std::map<std::int32_t, std::set<std::int64_t>> map;
    for (const SendChunk& chunk : plan.chunks) {
        for (const std::int32_t node : chunk.*nodes) map[node].insert(chunk.address);
    }
    Json json = Json::object();
    for (const auto& [node, addresses] : map) json[std::to_string(node)] = addresses;
    return json;
}

Json instance_of(const SendPlan& plan) {
    const std::int64_t steps = static_cast<std::int64_t>(plan.rounds.size());
    Json json = tagged("instance");
    json["steps"] = steps;
    json["extra_rounds"] = std::accumulate(plan.rounds.begin(), plan.rounds.end(), std::int64_t{0}) - steps;
    json["chunks"] = 1;
    json["pipeline"] = plan.pipeline > 0 ? Json(plan.pipeline) : Json(nullptr);
    json["extra_memory"] = nullptr;
    json["allow_exchange"] = false;
    return json;
}

Json steps_of(const SendPlan& plan) {
    Json steps = Json::array();
    for (const std::int64_t rounds : plan.rounds) {
        Json step = tagged("step");
        step["rounds"] = rounds;
        step["sends"] = Json::array();
        steps.push_back(std::move(step));
    }
    for (const plan::NodeSend& send : plan.sends) {
        steps[static_cast<std::size_t>(send.list)]["sends"].push_back({send.address, send.src, send.dst});
    }
    return steps;
}

Json collective_of(const SendPlan& plan) {
    Json json = tagged("collective");
    json["name"] = plan.collective;
    json["nodes"] = plan.nodes;
    json["chunks"] = Json::array();
    for (const SendChunk& chunk : plan.chunks) {
        Json entry = tagged("chunk");
        entry["pre"] = chunk.pre;
        entry["post"] = chunk.post;
        entry["addr"] = chunk.address;
        json["chunks"].push_back(std::move(entry));
    }
    json["triggers"] = Json::object();
    json["runtime_name"] = plan.runtime.empty() ? "custom" : plan.runtime;
    return json;
}

Json topology_of(const SendPlan& plan) {
    Json json = tagged("topology");
    json["name"] = plan.network;
    json["switches"] = Json::array();
    for (const plan::NodeSwitch& limit : plan.switches) {
        json["switches"].push_back(Json::array({limit.srcs, limit.dsts, limit.capacity, limit.name}));
    }
    const auto nodes = static_cast<std::size_t>(plan.nodes);
    std::vector<std::vector<std::int64_t>> links(nodes, std::vector<std::int64_t>(nodes));
    for (const plan::NodeLink& link : plan.links) {
        links[static_cast<std::size_t>(link.dst)][static_cast<std::size_t>(link.src)] = link.capacity;
    }
    json["links"] = links;
    return json;
}

}  // namespace

std::string sccl_json_text(const SendPlan& plan) {
    Json json = tagged("algorithm");
    json["name"] = plan.name;
    json["instance"] = instance_of(plan);
    json["input_map"] = map_of(plan, &SendChunk::pre);
    json["output_map"] = map_of(plan, &SendChunk::post);
    json["steps"] = steps_of(plan);
    json["collective"] = collective_of(plan);
    json["topology"] = topology_of(plan);
    return json_page(json);
}

void write_sccl_json(const std::string& path, const SendPlan& plan) {
    AtomicFile file(path);
    file.write(sccl_json_text(plan));
    file.commit();
}

}  // namespace tutti::io

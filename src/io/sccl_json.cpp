#include "io/sccl_json.hpp"

#include "io/plan_field.hpp"
#include "io/sccl_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

// A tree of objects, each tagged by its type. One trap: msccl-tools divides every chunk of the collective
// into `chunks` (of the instance) before it solves, numbers addresses accordingly, and then writes the
// undivided collective; TACCL writes the divided one. The maps of input and output addresses show which it
// is: they always belong to the divided collective. (Facts from microsoft/msccl-tools, msccl/algorithm.py and
// serialization.py, and microsoft/taccl, taccl/cli/solve.py.)

namespace tutti::io {
namespace {

using plan::NodeSend;
using plan::ScclPlan;
using plan::SendChunk;

constexpr std::int64_t kMostAddress = std::int64_t{1} << 40U;
constexpr std::int64_t kMostTime = std::int64_t{1} << 40U;
constexpr std::int64_t kMostRounds = std::int64_t{1} << 40U;
/// Limits on the chunks after dividing, and on the nodes that they name in total.
constexpr std::size_t kMostChunks = std::size_t{1} << 22U, kMostNamed = std::size_t{1} << 24U;

/// Pairs of node and address, sorted.
using AddressMap = std::vector<std::pair<plan::PlanNode, std::int64_t>>;

AddressMap sorted(AddressMap map) {
    std::ranges::sort(map);
    const auto rest = std::ranges::unique(map);
    map.erase(rest.begin(), rest.end());
    return map;
}

/// The parts of a file before they are combined.
struct Parts {
    ScclPlan plan{};
    std::int64_t cut = 1;  ///< the instance's chunks
    std::optional<std::int64_t> steps{};
    std::optional<AddressMap> inputs{}, outputs{};
    bool machines = false;  ///< TACCL's kind of topology
};

std::string tag_of(const PlanField& object) {
    for (const char* tag : {"msccl_type", "sccl_type"}) {
        if (const auto found = object.find(tag)) return found->string();
    }
    object.fail("missing-key", "expected a field 'msccl_type' or 'sccl_type', found none");
}

std::vector<plan::PlanNode> nodes_of(const PlanField& list, std::int32_t nodes) {
    std::vector<plan::PlanNode> result;
    const std::size_t size = list.size();
    result.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        result.push_back(plan::id_of<plan::PlanNode>(list.integer_at(i, 0, nodes - 1)));
    }
    std::ranges::sort(result);
    const auto rest = std::ranges::unique(result);
    result.erase(rest.begin(), rest.end());
    return result;
}

void read_collective(const PlanField& collective, ScclPlan& plan) {
    if (const auto name = collective.find("name")) plan.collective = name->string();
    if (const auto runtime = collective.find("runtime_name")) plan.runtime = runtime->string();
    plan.nodes = static_cast<std::int32_t>(collective.at("nodes").integer(1));
    const PlanField chunks = collective.at("chunks");
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        const PlanField chunk = chunks[i];
        plan.chunks.push_back({nodes_of(chunk.at("pre"), plan.nodes), nodes_of(chunk.at("post"), plan.nodes),
                               chunk.at("addr").integer(0, kMostAddress)});
    }
}

/// [address, src, dst], and TACCL's [… , time], [… , time, lane], [… , time, lane, null or "rrc"].
NodeSend read_send(const PlanField& send) {
    constexpr std::int64_t kMostNode = std::numeric_limits<std::int32_t>::max();
    const std::size_t size = send.size();
    if (size < 3 || size > 6) {
        send.fail("bad-value", fmt::format("expected [address, source, destination], with TACCL also a time, "
                                           "a link and an operation; found {} elements",
                                           size));
    }
    NodeSend result;
    result.address = send.integer_at(0, 0, kMostAddress);
    result.src = plan::id_of<plan::PlanNode>(send.integer_at(1, 0, kMostNode));
    result.dst = plan::id_of<plan::PlanNode>(send.integer_at(2, 0, kMostNode));
    if (size > 3) {
        result.when = send.integer_at(3, 0, kMostTime);
        result.replaces = true;
    }
    if (size > 4) result.lane = static_cast<std::int32_t>(send.integer_at(4, 0, kMostNode));
    if (size > 5 && !send.json()[5].is_null()) {
        const PlanField operation = send[5];
        if (operation.string() != "rrc") operation.fail("bad-value", "expected \"rrc\" or null");
        result.replaces = false;
    }
    return result;
}

void read_steps(const PlanField& steps, ScclPlan& plan) {
    std::array<std::size_t, 2> of_kind{};  // without and with times
    for (std::size_t s = 0; s < steps.size(); ++s) {
        const PlanField step = steps[s];
        plan.rounds.push_back(step.at("rounds").integer(0, kMostRounds));
        const PlanField sends = step.at("sends");
        const std::size_t size = sends.size();
        for (std::size_t i = 0; i < size; ++i) {
            const PlanField entry = sends[i];
            NodeSend send = read_send(entry);
            const bool timed = entry.size() > 3;
            if (++of_kind[timed ? 1 : 0] == 1 && of_kind[timed ? 0 : 1] > 0) {
                entry.fail("bad-value", "some sends have a time and some have none");
            }
            send.list = static_cast<std::int32_t>(s);
            send.position = static_cast<std::int32_t>(i);
            if (!timed) send.when = send.list;
            plan.sends.push_back(send);
        }
    }
    plan.clock = of_kind[1] > 0 ? plan::SendClock::Times : plan::SendClock::Steps;
}

void read_instance(const PlanField& instance, Parts& parts) {
    if (const auto chunks = instance.find("chunks")) parts.cut = chunks->integer(1);
    if (const auto steps = instance.find("steps")) parts.steps = steps->integer(0);
    if (const auto pipeline = instance.find("pipeline")) parts.plan.pipeline = pipeline->integer(1);
    if (const auto extra = instance.find("extra_rounds"))
        parts.plan.extra_rounds = extra->integer(0, kMostRounds);
}

std::optional<AddressMap> read_map(const PlanField& root, const char* name) {
    const auto field = root.find(name);
    if (!field) return std::nullopt;
    AddressMap map;
    for (const auto& [key, list] : field->fields()) {
        std::int32_t node = -1;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), node);
        if (error != std::errc{} || end != key.data() + key.size() || node < 0) {
            list.fail("bad-integer", "expected the key to be a node");
        }
        const std::size_t size = list.size();
        for (std::size_t i = 0; i < size; ++i)
            map.emplace_back(plan::id_of<plan::PlanNode>(node), list.integer_at(i, 0, kMostAddress));
    }
    return sorted(std::move(map));
}

/// The addresses that each node has before, or must have after, with each chunk divided into `cut`.
AddressMap map_of(const ScclPlan& plan, std::vector<plan::PlanNode> SendChunk::*nodes, std::int64_t cut) {
    AddressMap map;
    for (const SendChunk& chunk : plan.chunks) {
        for (const plan::PlanNode node : chunk.*nodes) {
            for (std::int64_t i = 0; i < cut; ++i) map.emplace_back(node, chunk.address * cut + i);
        }
    }
    return sorted(std::move(map));
}

void expect_room(const PlanField& root, const Parts& parts) {
    std::size_t named = 0;
    for (const SendChunk& chunk : parts.plan.chunks) named += chunk.pre.size() + chunk.post.size();
    const auto cut = static_cast<std::uint64_t>(parts.cut);
    if (cut <= kMostChunks / std::max<std::size_t>(1, parts.plan.chunks.size()) &&
        cut <= kMostNamed / std::max<std::size_t>(1, named)) {
        return;
    }
    root.at("instance")
        .at("chunks")
        .fail("too-large", fmt::format("{} chunks cut into {} each; at most {} are judged",
                                       parts.plan.chunks.size(), parts.cut, kMostChunks));
}

bool agree(const Parts& parts, std::int64_t cut) {
    return (!parts.inputs || *parts.inputs == map_of(parts.plan, &SendChunk::pre, cut)) &&
           (!parts.outputs || *parts.outputs == map_of(parts.plan, &SendChunk::post, cut));
}

void cut_chunks(ScclPlan& plan, std::int64_t cut) {
    std::vector<SendChunk> pieces;
    pieces.reserve(plan.chunks.size() * static_cast<std::size_t>(cut));
    for (const SendChunk& chunk : plan.chunks) {
        for (std::int64_t i = 0; i < cut; ++i) {
            pieces.push_back({chunk.pre, chunk.post, chunk.address * cut + i});
        }
    }
    plan.chunks = std::move(pieces);
}

/// Divides the collective's chunks where the file's addresses are divided but its collective is not.
void settle_chunks(const PlanField& root, Parts& parts) {
    const bool has_maps = parts.inputs || parts.outputs;
    const bool whole = parts.cut == 1 || (has_maps ? agree(parts, 1) : parts.machines);
    if (!whole) expect_room(root, parts);
    if (has_maps && !agree(parts, whole ? 1 : parts.cut)) {
        parts.plan.remarks.push_back(
            "input_map or output_map is not what the collective's chunks make; the chunks are judged");
    }
    if (!whole) cut_chunks(parts.plan, parts.cut);
}

ScclPlan read_algorithm(const PlanField& root) {
    if (const std::string tag = tag_of(root); tag != "algorithm") {
        root.fail("bad-value", fmt::format("expected an algorithm, found one of type '{}'", tag));
    }
    Parts parts;
    if (const auto name = root.find("name")) parts.plan.name = name->string();
    read_collective(root.at("collective"), parts.plan);
    if (parts.plan.nodes > kMostStepNodes) {
        root.fail("too-large",
                  fmt::format("expected at most {} nodes, found {}", kMostStepNodes, parts.plan.nodes));
    }
    if (const auto instance = root.find("instance")) read_instance(*instance, parts);
    if (const auto topology = root.find("topology")) {
        parts.machines = topology->find("node_links").has_value();
        read_sccl_topology(*topology, parts.plan);
    }
    parts.inputs = read_map(root, "input_map");
    parts.outputs = read_map(root, "output_map");
    read_steps(root.at("steps"), parts.plan);
    settle_chunks(root, parts);
    if (parts.steps && static_cast<std::size_t>(*parts.steps) != parts.plan.rounds.size()) {
        parts.plan.remarks.push_back(
            fmt::format("the instance says {} steps, there are {}", *parts.steps, parts.plan.rounds.size()));
    }
    // TACCL's rounds are times, which the instance's number of extra rounds does not count.
    if (parts.plan.clock == plan::SendClock::Times) parts.plan.extra_rounds.reset();
    return std::move(parts.plan);
}

}  // namespace

ScclPlan read_sccl_json(Source& source) { return read_plan_json(source, read_algorithm); }

}  // namespace tutti::io

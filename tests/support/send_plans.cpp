#include "tests/support/send_plans.hpp"

#include "source_dir.hpp"

namespace tutti::test {

plan::ScclPlan step_plan(std::int32_t nodes, std::vector<plan::SendChunk> chunks,
                         const std::vector<std::vector<std::vector<std::int64_t>>>& steps) {
    plan::ScclPlan plan;
    plan.nodes = nodes;
    plan.chunks = std::move(chunks);
    plan.has_links = true;
    for (const plan::PlanNode src : plan::nodes_below(nodes)) {
        for (const plan::PlanNode dst : plan::nodes_below(nodes)) {
            if (src != dst) plan.links.push_back({src, dst, 1, 0, 0});
        }
    }
    for (const auto& sends : steps) {
        plan::NodeSend send;
        send.list = static_cast<std::int32_t>(plan.rounds.size());
        send.when = send.list;
        plan.rounds.push_back(1);
        for (const auto& each : sends) {
            send.address = each[0];
            send.src = id<plan::PlanNode>(each[1]);
            send.dst = id<plan::PlanNode>(each[2]);
            plan.sends.push_back(send);
            ++*send.position;
        }
    }
    return plan;
}

std::vector<plan::PlanNode> all_nodes(std::int32_t nodes) {
    const auto all = plan::nodes_below(nodes);
    return {all.begin(), all.end()};
}

std::vector<plan::SendChunk> all_gather_chunks(std::int32_t nodes) {
    std::vector<plan::SendChunk> chunks;
    for (const plan::PlanNode node : plan::nodes_below(nodes))
        chunks.push_back({{node}, all_nodes(nodes), node.value()});
    return chunks;
}

std::vector<plan::SendChunk> all_reduce_chunks(std::int32_t nodes, std::int64_t addresses) {
    std::vector<plan::SendChunk> chunks;
    for (std::int64_t address = 0; address < addresses; ++address) {
        for (const plan::PlanNode node : plan::nodes_below(nodes))
            chunks.push_back({{node}, all_nodes(nodes), address});
    }
    return chunks;
}

std::string told(const plan::PlanVerdict& verdict) {
    std::string text(name_of(verdict.verdict));
    if (!verdict.violations.empty()) text += ":";
    for (const plan::PlanFinding& finding : verdict.violations) text += " " + finding.code;
    return text;
}

std::string warned(const plan::PlanVerdict& verdict) {
    std::string text;
    for (const plan::PlanFinding& finding : verdict.warnings)
        text += (text.empty() ? "" : " ") + finding.code;
    return text;
}

verify::PlanReading as(CollectiveKind goal) {
    verify::PlanReading reading;
    reading.goal = goal;
    return reading;
}

std::string step_file(const std::string& name) {
    return std::string(TUTTI_SOURCE_DIR) + "/tests/data/steps/" + name;
}

}  // namespace tutti::test

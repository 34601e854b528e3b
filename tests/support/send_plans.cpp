#include "tests/support/send_plans.hpp"

#include "source_dir.hpp"

#include <numeric>

namespace tutti::test {

plan::ScclPlan step_plan(std::int32_t nodes, std::vector<plan::SendChunk> chunks,
                         const std::vector<std::vector<std::vector<std::int64_t>>>& steps) {
    plan::ScclPlan plan;
    plan.nodes = nodes;
    plan.chunks = std::move(chunks);
    plan.has_links = true;
    for (std::int32_t src = 0; src < nodes; ++src) {
        for (std::int32_t dst = 0; dst < nodes; ++dst) {
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
            send.src = static_cast<std::int32_t>(each[1]);
            send.dst = static_cast<std::int32_t>(each[2]);
            plan.sends.push_back(send);
            ++*send.position;
        }
    }
    return plan;
}

std::vector<std::int32_t> all_nodes(std::int32_t nodes) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(nodes));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<plan::SendChunk> all_gather_chunks(std::int32_t nodes) {
    std::vector<plan::SendChunk> chunks;
    for (std::int32_t node = 0; node < nodes; ++node) chunks.push_back({{node}, all_nodes(nodes), node});
    return chunks;
}

std::vector<plan::SendChunk> all_reduce_chunks(std::int32_t nodes, std::int64_t addresses) {
    std::vector<plan::SendChunk> chunks;
    for (std::int64_t address = 0; address < addresses; ++address) {
        for (std::int32_t node = 0; node < nodes; ++node)
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

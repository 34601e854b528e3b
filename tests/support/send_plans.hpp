#pragma once

#include "plan/sccl_plan.hpp"
#include "tests/support/plan_ids.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <string>
#include <vector>

namespace tutti::test {

/// A plan in steps, on a network where every node has a link of capacity 1 to every other.
[[nodiscard]] plan::ScclPlan step_plan(std::int32_t nodes, std::vector<plan::SendChunk> chunks,
                                       const std::vector<std::vector<std::vector<std::int64_t>>>& steps);
/// Its chunks for the usual collectives, one per rank (or pair) and address.
[[nodiscard]] std::vector<plan::SendChunk> all_gather_chunks(std::int32_t nodes);
[[nodiscard]] std::vector<plan::SendChunk> all_reduce_chunks(std::int32_t nodes, std::int64_t addresses = 1);
[[nodiscard]] std::vector<plan::PlanNode> all_nodes(std::int32_t nodes);

/// Of a plan of any format.
template <class Plan>
[[nodiscard]] plan::PlanVerdict judged(const Plan& plan, const verify::PlanReading& reading = {}) {
    return verify::verify(plan, reading);
}

/// "valid", or "invalid: not-held value value": the verdict with the codes of its violations.
[[nodiscard]] std::string told(const plan::PlanVerdict& verdict);
template <class Plan>
[[nodiscard]] std::string told(const Plan& plan, const verify::PlanReading& reading = {}) {
    return told(judged(plan, reading));
}
/// The codes of its warnings, with spaces between.
[[nodiscard]] std::string warned(const plan::PlanVerdict& verdict);
/// A reading that judges as that collective.
[[nodiscard]] verify::PlanReading as(CollectiveKind goal);
/// The path of a file of tests/data/steps.
[[nodiscard]] std::string step_file(const std::string& name);

}  // namespace tutti::test

#pragma once

#include "io/source.hpp"
#include "plan/msccl_plan.hpp"

#include <string>

namespace tutti::io {

/// Reads MSCCL-IR XML (docs/msccl-xml.md). Throws PlanError for files that are no plan, with the place
/// (line:column) and one of the codes xml, dtd, root, missing-attribute, bad-integer, proto, type, buffer,
/// too-large. Wrong plans are accepted here and judged by the verifier. Unknown attributes are ignored,
/// unknown elements too, with a remark.
[[nodiscard]] plan::MscclPlan read_msccl_xml(Source& source);

/// The plan as MSCCL-IR XML: every attribute of every step, in the order of msccl-tools. Remarks are left
/// out.
[[nodiscard]] std::string msccl_xml_text(const plan::MscclPlan& plan);
void write_msccl_xml(const std::string& path, const plan::MscclPlan& plan);

/// More chunks per loop, or more ranks, are refused as too-large: runtimes count far fewer.
inline constexpr std::int32_t kMostChunksPerLoop = 1 << 24;
inline constexpr std::int32_t kMostRanks = 1 << 20;

}  // namespace tutti::io

#include "cli/plan_kinds.hpp"

#include "io/msccl_xml.hpp"
#include "io/mscclpp_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace tutti::cli {
namespace {

/// Any XML that no row before takes, topologies of NCCL aside: what is wrong with it is best said by the
/// reader of the commonest kind. So is a file without a word.
bool begins_msccl_xml(const Beginning& beginning) {
    const bool is_xml = beginning.shape == Beginning::Shape::Xml && beginning.root != "system";
    return is_xml || beginning.shape == Beginning::Shape::Empty;
}
AnyPlan read_msccl(io::Source& source) { return io::read_msccl_xml(source); }

bool begins_mscclpp_json(const Beginning& beginning) { return beginning.has_field("gpus"); }
AnyPlan read_mscclpp(io::Source& source) { return io::read_mscclpp_json(source); }

constexpr std::array<PlanKind, 2> kKinds{{
    {"mscclpp-json", "MSCCL++ JSON", "json", begins_mscclpp_json, read_mscclpp},
    {"msccl-xml", "MSCCL XML", "xml", begins_msccl_xml, read_msccl},
}};

}  // namespace

std::span<const PlanKind> plan_kinds() { return kKinds; }

const PlanKind* plan_kind(const Beginning& beginning) {
    const auto found =
        std::ranges::find_if(kKinds, [&](const PlanKind& kind) { return kind.begins(beginning); });
    return found == kKinds.end() ? nullptr : &*found;
}

std::string plan_kind_labels() {
    std::string labels;
    for (const PlanKind& kind : kKinds) labels += fmt::format("{}{}", labels.empty() ? "" : ", ", kind.label);
    return labels;
}

std::string_view label_of_format(std::string_view format) {
    const auto found = std::ranges::find(kKinds, format, &PlanKind::format);
    return found == kKinds.end() ? format : found->label;
}

plan::PlanVerdict judge(const AnyPlan& plan, const verify::PlanReading& reading) {
    return std::visit([&](const auto& any) { return verify::verify(any, reading); }, plan);
}

std::optional<TimedPlan> timed(const AnyPlan& plan) {
    return std::visit(
        [](const auto& any) -> std::optional<TimedPlan> {
            if constexpr (std::is_constructible_v<TimedPlan, decltype(&any)>) return TimedPlan(&any);
            return std::nullopt;
        },
        plan);
}

}  // namespace tutti::cli

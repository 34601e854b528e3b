#include "app/plan_kinds.hpp"

#include "io/forestcoll_xml.hpp"
#include "io/msccl_xml.hpp"
#include "io/mscclpp_json.hpp"
#include "io/sccl_json.hpp"
#include "io/tacos_csv.hpp"
#include "io/teccl_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace tutti::app {
namespace {

/// Any XML that no earlier row matches, except NCCL topologies: the reader of the most common kind gives the
/// best error message. An empty file too.
bool is_msccl_xml(const Sniffed& sniffed) {
    const bool is_xml = sniffed.shape == Sniffed::Shape::Xml && sniffed.root != "system";
    return is_xml || sniffed.shape == Sniffed::Shape::Empty;
}
AnyPlan read_msccl(io::Source& source) { return io::read_msccl_xml(source); }

/// Also the old camelCase plans: the reader rejects them with their own message.
bool is_mscclpp_json(const Sniffed& sniffed) { return sniffed.has_field("gpus"); }
AnyPlan read_mscclpp(io::Source& source) { return io::read_mscclpp_json(source); }

bool is_sccl_json(const Sniffed& sniffed) {
    return sniffed.has_field("msccl_type") || sniffed.has_field("sccl_type");
}
AnyPlan read_sccl(io::Source& source) { return io::read_sccl_json(source); }

/// Its keys begin with numbers that changed between versions.
bool is_teccl_json(const Sniffed& sniffed) {
    return std::ranges::any_of(sniffed.fields, [](const std::string& field) {
        return field == "1-Epoch_Duration" || field.ends_with("-Flows");
    });
}
AnyPlan read_teccl(io::Source& source) { return io::read_teccl_json(source); }

bool is_tacos_csv(const Sniffed& sniffed) {
    return sniffed.shape == Sniffed::Shape::Text && sniffed.line.starts_with("NPUs Count,");
}
AnyPlan read_tacos(io::Source& source) { return io::read_tacos_csv(source); }

/// The upper case distinguishes it from MSCCL's <algo>.
bool is_forestcoll_xml(const Sniffed& sniffed) {
    return sniffed.shape == Sniffed::Shape::Xml && sniffed.root == "Algo";
}
AnyPlan read_forestcoll(io::Source& source) { return io::read_forestcoll_xml(source); }

constexpr std::array kKinds{
    PlanKind{"mscclpp-json", "MSCCL++ JSON", "json", is_mscclpp_json, read_mscclpp},
    PlanKind{"sccl-json", "SCCL JSON", "json", is_sccl_json, read_sccl},
    PlanKind{"teccl-json", "TE-CCL JSON", "json", is_teccl_json, read_teccl},
    PlanKind{"tacos-csv", "TACOS CSV", "bad-line", is_tacos_csv, read_tacos},
    PlanKind{"forestcoll-xml", "ForestColl XML", "xml", is_forestcoll_xml, read_forestcoll},
    PlanKind{"msccl-xml", "MSCCL XML", "xml", is_msccl_xml, read_msccl},
};

}  // namespace

const PlanKind* plan_kind(const Sniffed& sniffed) {
    const auto found =
        std::ranges::find_if(kKinds, [&](const PlanKind& kind) { return kind.matches(sniffed); });
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

}  // namespace tutti::app

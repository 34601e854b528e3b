#include "io/bound_json.hpp"

namespace tutti::io {
namespace {

Json certificate_json(std::monostate) { return nullptr; }

template <class Id>
Json numbers(const std::vector<Id>& ids) {
    Json json = Json::array();
    for (const Id id : ids) json.push_back(id.value());
    return json;
}

Json certificate_json(const PathCertificate& path) {
    Json potential = Json::array();
    for (const Ticks time : path.potential) {
        potential.push_back(time == Ticks::max() ? Json(nullptr) : Json(time.count()));
    }
    return Json{{"type", "path"},
                {"chunk", path.chunk.value()},
                {"holder", path.holder.value()},
                {"receiver", path.receiver.value()},
                {"links", numbers(path.links)},
                {"release", path.release.count()},
                {"potential", std::move(potential)}};
}

Json certificate_json(const CutCertificate& cut) {
    return Json{{"type", "cut"},
                {cut.complement ? "outside" : "inside", numbers(cut.inside)},
                {"backwards", cut.backwards},
                {"transfers", cut.transfers},
                {"earliest", cut.earliest.count()},
                {"bytes", cut.bytes.count}};
}

Json certificate_json(const VolumeCertificate& volume) {
    return Json{{"type", "volume"}, {"transfers", volume.transfers}, {"bytes", volume.bytes.count}};
}

Json certificate_json(const LengthsCertificate& lengths) {
    return Json{{"type", "lengths"}, {"length", lengths.length}};
}

Json certificate_json(const TimedLengthsCertificate& timed) {
    Json weights = Json::array();
    for (const TimedLengthsCertificate::Weight& weight : timed.weights) {
        weights.push_back(
            {{"link", weight.link.value()}, {"window", weight.window.count()}, {"weight", weight.weight}});
    }
    Json json{{"type", "timed_lengths"}, {"horizon", timed.horizon.count()}};
    if (timed.target) json["target"] = timed.target->value();
    if (timed.messages) json["messages"] = true;
    json["weights"] = std::move(weights);
    return json;
}

Json certificate_json(const SmallTimesCertificate& small) {
    Json times = Json::array();
    for (const SmallTimesCertificate::Times& each : small.times) {
        times.push_back({{"alpha", each.alpha.count()},
                         {"beta", each.beta.count()},
                         {"small_alpha", each.small_alpha.count()},
                         {"small_beta", each.small_beta.count()}});
    }
    return Json{
        {"type", "small_times"}, {"times", std::move(times)}, {"timed", certificate_json(small.timed)}};
}

Json certificate_json(const WaveCertificate& wave) {
    return Json{{"type", "wave"},
                {"inside", numbers(wave.inside)},
                {"backwards", wave.backwards},
                {"split", wave.split.count()},
                {"bytes", wave.bytes.count}};
}

Json certificate_json(const TreesCertificate& trees) {
    return Json{{"type", "trees"}, {"length", trees.length}};
}

Json certificate_json(const GrowthCertificate& growth) {
    Json result{{"type", "growth"},           {"root", growth.root.value()},
                {"part", growth.part},        {"backwards", growth.backwards},
                {"nested", growth.nested},    {"last_chunk", growth.last_chunk},
                {"bytes", growth.bytes.count}};
    if (!growth.prices.empty()) {
        result["prices"] = growth.prices;
        result["unit"] = growth.unit.count();
    }
    return result;
}

Json certificate_json(const SumCertificate& sum) { return Json{{"type", "sum"}, {"bytes", sum.bytes.count}}; }

Json certificate_json(const ContributionsCertificate& contributions) {
    return Json{{"type", "contributions"},
                {"receiver", contributions.receiver.value()},
                {"bytes", contributions.bytes.count}};
}

Json certificate_json(const SharedContributionsCertificate& shared) {
    return Json{
        {"type", "shared-contributions"}, {"split", shared.split.count()}, {"bytes", shared.bytes.count}};
}

Json certificate_json(const PairsCertificate& pairs) {
    return Json{{"type", "pairs"},
                {"inside", numbers(pairs.inside)},
                {"reductions", pairs.reductions},
                {"bytes", pairs.bytes.count}};
}

Json certificate_json(const ExitsCertificate& exits) {
    return Json{{"type", "exits"}, {"part", exits.part}, {"chunk", exits.chunk.value()}};
}

Json certificate_json(const DeadlinesCertificate& deadlines) {
    return Json{{"type", "deadlines"},
                {"backwards", deadlines.backwards},
                {"window", deadlines.window.count()},
                {"bytes", deadlines.bytes.count}};
}

Json certificate_json(const SolverProof& proof) {
    return Json{{"type", "solver"},
                {"solver", proof.solver},
                {"parameters", proof.parameters},
                {"encoding", proof.encoding},
                {"horizon", proof.horizon.count()}};
}

}  // namespace

Json bound_json(const Bound& bound, std::optional<double> seconds) {
    Json json{{"kind", bound.kind}, {"value", bound.value.count()}};
    if (seconds) json["seconds"] = *seconds;
    json["certificate"] =
        std::visit([](const auto& certificate) { return certificate_json(certificate); }, bound.certificate);
    return json;
}

Json skipped_json(std::span<const SkippedBound> skipped) {
    Json list = Json::array();
    for (const auto& [kind, why] : skipped) list.push_back({{"kind", kind}, {"why", why}});
    return list;
}

std::vector<SkippedBound> read_skipped(const JsonView& view) {
    std::vector<SkippedBound> skipped;
    for (const JsonView& element : view.elements())
        skipped.push_back({element.at("kind").string(), element.at("why").string()});
    return skipped;
}

}  // namespace tutti::io

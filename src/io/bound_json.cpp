#include "io/bound_json.hpp"

namespace tutti::io {
namespace {

Json certificate_json(std::monostate) { return nullptr; }

Json certificate_json(const PathCertificate& path) {
    Json links = Json::array();
    for (const LinkId link : path.links) links.push_back(link.value());
    return Json{{"type", "path"},
                {"chunk", path.chunk.value()},
                {"links", std::move(links)},
                {"release", path.release.count()}};
}

Json certificate_json(const PortCertificate& port) {
    return Json{{"type", "port"},
                {"node", port.node.value()},
                {"direction", port.ingress ? "ingress" : "egress"},
                {"transfers", port.transfers},
                {"earliest", port.earliest.count()},
                {"bytes", port.bytes.count}};
}

Json certificate_json(const VolumeCertificate& volume) {
    return Json{{"type", "volume"}, {"transfers", volume.transfers}, {"bytes", volume.bytes.count}};
}

}  // namespace

Json bound_json(const Bound& bound, std::optional<double> seconds) {
    Json json{{"kind", bound.kind}, {"value", bound.value.count()}};
    if (seconds) json["seconds"] = *seconds;
    json["certificate"] =
        std::visit([](const auto& certificate) { return certificate_json(certificate); }, bound.certificate);
    return json;
}

}  // namespace tutti::io

#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <string>
#include <variant>
#include <vector>

namespace tutti {

/// "The chunk must travel at least this path": its links, the release before it, and no waiting.
struct PathCertificate {
    ChunkId chunk;
    std::vector<LinkId> links;
    Ticks release;
};

/// "So many transfers must end on (or start from) these links of one node, and by the bound they just can."
/// At least `transfers` chunks must pass through the node's links, none of which can be there before
/// `earliest` (ingress: arrive; egress: counted back from the end), each keeping its link busy as the
/// topology says.
struct PortCertificate {
    NodeId node;
    bool ingress = true;
    std::uint64_t transfers = 0;
    Ticks earliest;
    Bytes bytes;  ///< the smallest of these chunks, by which the links' times are taken
};

/// "All demands together need at least this much link time, and all links together have this much by the
/// bound."
struct VolumeCertificate {
    std::uint64_t transfers = 0;
    Bytes bytes;
};

struct Bound {
    std::string kind;  ///< "latency", "ingress", "egress", "volume", "trivial"
    Ticks value;
    std::variant<std::monostate, PathCertificate, PortCertificate, VolumeCertificate> certificate;
};

}  // namespace tutti

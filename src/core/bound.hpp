#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tutti {

// What proves a lower bound. Every certificate can be checked from the instance and this data alone
// (verify/certificate; src/verify/README.md says how), with integers only.

/// "From `from` this chunk cannot be at node v before potential[v]": potentials (per node, release included)
/// that no link can beat, 0-cost at the holder named, and a receiver whose potential is the bound.
struct PathCertificate {
    ChunkId chunk;
    NodeId holder;  ///< of a reduction: whose contribution; else any holder
    NodeId receiver;
    std::vector<LinkId> links;     ///< a fastest way, for people; proves nothing
    std::vector<Ticks> potential;  ///< per node; Ticks::max() where the chunk cannot get
    Ticks release;
};

/// "So many chunks must enter the set `inside`, none of them before `earliest`, and by the bound the links
/// into it just can." One NPU alone is the ingress of a port, all but one the egress of that one. At least
/// `transfers` chunks have no holder inside and a receiver inside (of a reduction: a holder outside and a
/// receiver inside). Forwards, none of these can have arrived inside before `earliest`. Backwards, time is
/// counted from the end: after having started on a link into the set, each still needs `earliest` (transit of
/// that link included) to be where it must be.
struct CutCertificate {
    std::vector<NodeId> inside;  ///< sorted; or, when `complement`, the nodes outside
    bool complement = false;
    bool backwards = false;
    std::uint64_t transfers = 0;
    Ticks earliest;
    Bytes bytes;  ///< the smallest of these chunks, by which the links' times are taken
};

/// "All demands together need at least so many transfers, and all links together manage so many by the
/// bound."
struct VolumeCertificate {
    std::uint64_t transfers = 0;
    Bytes bytes;
};

/// The dual of a multicommodity flow: a length for every link. Each chunk travels at least the least length
/// of a way from a holder to its target, and link e carries at most so many transfers by the bound, each of
/// that length; all together must not exceed what the links can carry.
struct LengthsCertificate {
    std::vector<std::int64_t> length;  ///< per link, >= 0
};

/// The dual of the time-expanded linear program for one horizon: weights on "link e starts at most one
/// transfer in the `busy` ticks from w on". Each chunk pays, on its cheapest way through time to its target,
/// more than the weights allow in sum; so no schedule has makespan <= horizon.
struct TimedLengthsCertificate {
    struct Weight {
        LinkId link;
        Ticks window;  ///< its first tick
        std::int64_t weight = 0;
    };
    Ticks horizon;  ///< the bound is horizon + 1
    std::vector<Weight> weights;
    std::optional<NodeId>
        target;  ///< only what this node must receive is counted; none: every chunk's dearest receiver
};

/// A solver's word that there is no schedule of makespan <= horizon. Can be checked by solving again.
struct SolverProof {
    std::string solver;      ///< "OR-Tools CP-SAT 9.15.6755"
    std::string parameters;  ///< "seed 1, threads 1"
    std::string encoding;    ///< "time-indexed"
    Ticks horizon;
};

using Certificate = std::variant<std::monostate, PathCertificate, CutCertificate, VolumeCertificate,
                                 LengthsCertificate, TimedLengthsCertificate, SolverProof>;

struct Bound {
    std::string kind;  ///< "latency", "ingress", "egress", "cut", "volume", "flow", "time-expanded",
                       ///< "solver", "trivial"
    Ticks value;
    Certificate certificate;
    double seconds = 0;  ///< what finding it took
};

}  // namespace tutti

#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tutti {

// What proves a lower bound. Every certificate can be checked from the instance and this data alone
// (verify/certificate; src/verify/README.md says how), with integers only.

/// Shortest-path potentials: a chunk that starts at `from` cannot be at node v before potential[v] (release
/// included). No link improves on them, the holder has potential 0 (plus release), and the potential of a
/// receiver is the bound.
struct PathCertificate {
    ChunkId chunk;
    NodeId holder;  ///< of a reduction: whose contribution; else any holder
    NodeId receiver;
    std::vector<LinkId> links;     ///< a fastest way, for people; proves nothing
    std::vector<Ticks> potential;  ///< per node; Ticks::max() where the chunk cannot get
    Ticks release;
};

/// A cut: at least `transfers` chunks must enter the node set `inside`, none before `earliest`, and the links
/// into the set cannot carry them all before the bound. A set of one NPU gives that NPU's ingress bound, all
/// nodes but one the egress bound of that one. A chunk counts when it has a receiver but no holder inside (a
/// reduction: a receiver inside and a holder outside). Forwards, no such chunk can arrive inside before
/// `earliest`. Backwards, time is counted from the end: after it starts on a link into the set, each still
/// needs `earliest` (that link's transit included) to reach its receivers.
struct CutCertificate {
    std::vector<NodeId> inside;  ///< sorted; or, when `complement`, the nodes outside
    bool complement = false;
    bool backwards = false;
    std::uint64_t transfers = 0;
    Ticks earliest;
    Bytes bytes;  ///< the smallest of these chunks, by which the links' times are taken
};

/// All demands together need at least this many transfers, and all links together cannot carry more by the
/// bound.
struct VolumeCertificate {
    std::uint64_t transfers = 0;
    Bytes bytes;
};

/// The dual of a multicommodity flow: a length for every link. Each chunk travels at least the shortest
/// length from a holder to its target. Link e carries a limited number of transfers by the bound, each of its
/// length. The sum over chunks cannot exceed the sum over links.
struct LengthsCertificate {
    std::vector<std::int64_t> length;  ///< per link, >= 0
};

/// The dual of the time-expanded linear program for one horizon: weights on "link e starts at most one
/// transfer in the `busy` ticks from w on". The chunks' cheapest time-expanded paths to their targets cost
/// more in sum than the weights allow, so no schedule has makespan <= horizon.
struct TimedLengthsCertificate {
    struct Weight {
        LinkId link;
        Ticks window;  ///< its first tick
        std::int64_t weight = 0;
    };
    Ticks horizon;  ///< the bound is horizon + 1
    std::vector<Weight> weights;
    std::optional<NodeId>
        target;  ///< only what this node must receive is counted; none: every chunk's most expensive receiver
    /// Every receiver of a plain chunk pays for the last message that brings it, and every contribution to a
    /// sum that one node wants for its first message. Without a target.
    bool messages = false;
};

/// Lengths through time for small times: links of a latency and beta take others in their place, so that a
/// horizon is a small number. What does not fit into the small horizon takes at least so many ticks as the
/// least sum of real times that is longer in small ones.
struct SmallTimesCertificate {
    struct Times {
        Ticks alpha, beta;              ///< of links, for the chunks of the instance
        Ticks small_alpha, small_beta;  ///< what they take instead
    };
    std::vector<Times> times;
    TimedLengthsCertificate timed;  ///< in small times
};

/// Two waves over the border of a set of NPUs. Forwards: the chunks that are not inside before `split` must
/// still get to all their receivers inside. Backwards, in time left to the end: the contributions of chunks
/// that have left the set for the last time at `split` before the end must have been collected by then.
struct WaveCertificate {
    std::vector<NodeId> inside;  ///< sorted: the NPUs, and the switches on their side of the border
    bool backwards = false;
    Ticks split;
    Bytes bytes;  ///< chunks of at least that size count
};

/// A length for every link, as LengthsCertificate, but per busy tick, and a chunk pays for all messages that
/// its receivers (of a reduction: and its contributions) need, not for one path.
struct TreesCertificate {
    std::vector<std::int64_t> length;  ///< per link, >= 0
};

/// What one NPU alone has cannot be everywhere at once: the number of parts (or NPUs in parts) that know of
/// it grows only as fast as those that know can send. Backwards: sums that one NPU alone wants.
struct GrowthCertificate {
    NodeId root;
    std::vector<std::uint32_t> part;  ///< of each NPU
    bool backwards = false;
    bool nested = false;      ///< parts are informed NPU by NPU, not at once
    bool last_chunk = false;  ///< only the chunk that leaves the root last is followed
    Bytes bytes;              ///< chunks of at least that size count
    /// Prices, if a start counts for one message only: inside its part or to another one. Each for one unit
    /// of time, from 0 on: of starts by those who know something, of starts by all, of arrivals inside parts.
    std::vector<std::array<std::int64_t, 3>> prices = {};
    Ticks unit = {};  ///< of these prices: times are rounded down to its multiples
};

/// Chunks from one NPU to one other: the start, the time on the way and the time left after the arrival of
/// each add up to at most the makespan. The sums over all chunks are bounded from below.
struct SumCertificate {
    Bytes bytes;  ///< chunks of at least that size count
};

/// A message of a reduction carries no more contributions than its sender can have received before.
struct ContributionsCertificate {
    NodeId receiver;
    Bytes bytes;  ///< chunks of at least that size count
};

/// The same about all receivers together: messages that start at `split` or later pass on what their senders
/// have received, which is all of one chunk or parts of several, and to everybody only once.
struct SharedContributionsCertificate {
    Ticks split;
    Bytes bytes;  ///< chunks of at least that size count
};

/// Every pair of a contribution from outside the set and a receiver inside is joined by a send into it, and
/// the links into the set cannot join all pairs before the bound: a send carries no more than can have been
/// collected before it, and reaches no more than can still be told after it.
struct PairsCertificate {
    std::vector<NodeId> inside;  ///< sorted
    bool reductions = false;     ///< which chunks count: reductions, or the others
    Bytes bytes;                 ///< of at least that size
};

/// Sums leave each part at least once; those that leave it only once leave it as the sum of the whole part,
/// and the links between parts have no room for all others to leave twice.
struct ExitsCertificate {
    std::vector<std::uint32_t> part;  ///< of each NPU
    ChunkId chunk;                    ///< reductions like this one count: holders, receivers, size
};

/// What sources must start, each for one sink, against what can end at the sinks: what cannot start early
/// enough at its source ends in the last ticks, and then in a message of its own. Forwards: sources hold,
/// and sinks want. Backwards, in time left to the end: sources are receivers, sinks the only holders.
struct DeadlinesCertificate {
    bool backwards = false;
    Ticks window;  ///< how many ticks are the last ones
    Bytes bytes;   ///< chunks of at least that size count
};

/// A solver's claim that no schedule has makespan <= horizon. Solving again is the only check.
struct SolverProof {
    std::string solver;      ///< "OR-Tools CP-SAT 9.15.6755"
    std::string parameters;  ///< "seed 1, threads 1"
    std::string encoding;    ///< "time-indexed"
    Ticks horizon;
};

using Certificate =
    std::variant<std::monostate, PathCertificate, CutCertificate, VolumeCertificate, LengthsCertificate,
                 TimedLengthsCertificate, WaveCertificate, TreesCertificate, GrowthCertificate,
                 SumCertificate, ContributionsCertificate, SharedContributionsCertificate, PairsCertificate,
                 ExitsCertificate, DeadlinesCertificate, SmallTimesCertificate, SolverProof>;

struct Bound {
    std::string kind;  ///< "latency", "ingress", "egress", "cut", "volume", "flow", "time-expanded",
                       ///< "wave", "trees", "growth", "sum", "contributions", "pairs",
                       ///< "exits", "deadlines", "solver", "trivial"
    Ticks value;
    Certificate certificate;
    double seconds = 0;  ///< what finding it took
};

/// A bound that was not computed, or not to its end.
struct SkippedBound {
    std::string kind;
    std::string why;  ///< "not needed: …", "too large: …", "no time: …", "no solver: …"
    friend bool operator==(const SkippedBound&, const SkippedBound&) = default;
};

}  // namespace tutti

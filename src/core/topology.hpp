#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// How long a transfer keeps its link: beta (a pipelined wire) or alpha + beta (one message in flight).
enum class Busy { Beta, AlphaPlusBeta };

/// Whether times are given directly, or follow from latency, bandwidth and chunk size (ticks of 1 ps).
enum class Units { Abstract, Physical };

/// The speed of a link. In abstract units `beta` counts and `bandwidth` is zero; in physical units the
/// reverse.
struct Wire {
    Ticks alpha;
    Ticks beta;
    Decimal bandwidth;  ///< in GB/s (10^9 bytes per second)

    [[nodiscard]] Units units() const { return bandwidth.mantissa > 0 ? Units::Physical : Units::Abstract; }
    friend constexpr auto operator<=>(const Wire&, const Wire&) = default;
};

struct Link {
    NodeId src;
    NodeId dst;
    Wire wire;
    friend constexpr auto operator<=>(const Link&, const Link&) = default;
};

/// What a switch may do besides forwarding each copy once. See instances/topologies.md.
struct SwitchRule {
    bool copy = false;
    bool reduce = false;
    bool cut_through = false;
    std::optional<std::uint32_t> buffer = {};  ///< at most this many chunks held; none: without limit
    friend bool operator==(const SwitchRule&, const SwitchRule&) = default;
};

/// A topology under construction: generators return it and edits change it. Any content is allowed here;
/// Topology's constructor checks it.
struct TopologyParts {
    std::uint32_t npus = 0;
    std::vector<SwitchRule> switches;
    Busy busy = Busy::Beta;
    std::vector<Link> links;

    [[nodiscard]] std::size_t nodes() const { return npus + switches.size(); }
    /// Those of the first link, which the others must share.
    [[nodiscard]] Units units() const { return links.empty() ? Units::Abstract : links.front().wire.units(); }
};

inline constexpr std::size_t kMaxNodes = std::size_t{1} << 24;
inline constexpr std::size_t kMaxLinks = std::size_t{1} << 25;

/// A directed multigraph of NPUs and switches. Validated once, then immutable.
class Topology {
  public:
    /// Throws InputError (place "/links/3/…", relative to the topology) when there is no NPU, a link names an
    /// unknown node, joins a node to itself, has a negative alpha, a beta below 1, or another unit than the
    /// first link.
    explicit Topology(TopologyParts parts);

    [[nodiscard]] std::uint32_t npus() const { return parts_.npus; }
    [[nodiscard]] std::size_t switches() const { return parts_.switches.size(); }
    [[nodiscard]] std::size_t nodes() const { return parts_.nodes(); }
    [[nodiscard]] Busy busy() const { return parts_.busy; }
    [[nodiscard]] Units units() const { return units_; }

    [[nodiscard]] bool is_npu(NodeId node) const { return node.value() < parts_.npus; }
    [[nodiscard]] bool is_switch(NodeId node) const { return !is_npu(node); }
    /// Precondition: is_switch(node).
    [[nodiscard]] const SwitchRule& rule(NodeId node) const {
        return parts_.switches[node.index() - parts_.npus];
    }
    [[nodiscard]] bool is_cut_through(NodeId node) const { return is_switch(node) && rule(node).cut_through; }

    [[nodiscard]] const std::vector<Link>& links() const { return parts_.links; }
    [[nodiscard]] const Link& link(LinkId id) const { return parts_.links[id.index()]; }
    [[nodiscard]] std::span<const LinkId> out_links(NodeId node) const { return row(out_, out_begin_, node); }
    [[nodiscard]] std::span<const LinkId> in_links(NodeId node) const { return row(in_, in_begin_, node); }

    /// The beta of a chunk of that size on that link.
    [[nodiscard]] Ticks beta(LinkId id, Bytes bytes) const;
    /// The same for every link. O(links), one division per kind of wire.
    [[nodiscard]] std::vector<Ticks> betas(Bytes bytes) const;

    [[nodiscard]] const TopologyParts& parts() const { return parts_; }

  private:
    static std::span<const LinkId> row(const std::vector<LinkId>& ids,
                                       const std::vector<std::uint32_t>& begin, NodeId node) {
        return std::span(ids).subspan(begin[node.index()], begin[node.index() + 1] - begin[node.index()]);
    }
    TopologyParts parts_;
    Units units_ = Units::Abstract;
    std::vector<LinkId> out_, in_;
    std::vector<std::uint32_t> out_begin_, in_begin_;
};

/// "NPU 3" or "switch 9": a node's name in messages.
[[nodiscard]] std::string name_of(const Topology& topology, NodeId node);
/// "link 7 (0 -> 1)".
[[nodiscard]] std::string name_of(const Topology& topology, LinkId link);

}  // namespace tutti

#pragma once

#include "core/instance.hpp"
#include "core/stop.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// How chunks go from one NPU to another through switches only, or over one link between them: messages.
/// Times are those of one sample chunk.
class MessageRoutes {
  public:
    /// The instance must outlive this. O(kinds of ports * links of the switches they reach * log).
    MessageRoutes(const Instance& instance, ChunkId sample);

    /// The least time of a message; none if there is no path.
    [[nodiscard]] std::optional<Ticks> time(NodeId from, NodeId to) const;

    /// The first and the last link of a quickest path, of several the least loaded ones. Equal: one link is
    /// the path. None if there is no path.
    struct Ends {
        LinkId out, in;
        Ticks time;
    };
    [[nodiscard]] std::optional<Ends> ends(NodeId from, NodeId to, std::span<const Ticks> loads) const;

    /// Appends the links of a quickest path between such ends, of several one whose fullest link is the
    /// emptiest.
    void append_path(const Ends& ends, std::span<const Ticks> loads, std::vector<LinkId>& links);

    /// The time of a message over these links, from NPU to NPU.
    [[nodiscard]] Ticks time_along(std::span<const LinkId> links) const;
    /// Of the sample chunk.
    [[nodiscard]] Ticks beta(LinkId link) const { return betas_[link.index()]; }

    /// Calls `take` with the time from all NPUs of one kind of port to all NPUs of another, and with the
    /// lists of them; also for single links between NPUs.
    template <class Take>
    void each_pair_of_ports(Take take) const {
        const std::vector<Arrivals> arrivals = find_arrivals();
        for (std::uint32_t port = 0; port < ports_.size(); ++port) {
            for (const Arrivals& to : arrivals) {
                const Label& known = label(port, to.at);
                if (known.is_reached())
                    take(Ticks(after(known, to.link).end()), std::span<const NodeId>(members_[port]),
                         std::span<const NodeId>(to.members));
            }
        }
        for (std::size_t l = 0; l < betas_.size(); ++l) {
            const Link& link = topology_.link(LinkId(l));
            if (topology_.is_npu(link.src) && topology_.is_npu(link.dst))
                take(link.wire.alpha + betas_[l], std::span(&link.src, 1), std::span(&link.dst, 1));
        }
    }

  private:
    /// NPUs whose first link is of the same kind and leads to the same switch.
    struct Port {
        NodeId at;  ///< the switch
        Ticks alpha, beta;
        friend auto operator<=>(const Port&, const Port&) = default;
    };
    /// NPUs that a switch reaches by links of the same kind, and one of these links.
    struct Arrivals {
        NodeId at;
        LinkId link;
        std::vector<NodeId> members;
    };
    [[nodiscard]] std::vector<Arrivals> find_arrivals() const;
    /// The quickest way to a switch: when its last link is left behind, without the pace, and the pace.
    struct Label {
        std::int64_t offset = -1;  ///< negative: no way
        std::int64_t pace = 0;
        std::uint32_t links = 0;
        [[nodiscard]] bool is_reached() const { return offset >= 0; }
        [[nodiscard]] std::int64_t end() const { return offset + pace; }
        friend bool operator==(const Label&, const Label&) = default;
    };
    [[nodiscard]] const Label& label(std::uint32_t port, NodeId at) const {
        return labels_[port * switches_ + (at.index() - npus_)];
    }
    [[nodiscard]] Label after(const Label& label, LinkId link) const;
    void find_ports();
    void search(std::uint32_t port);
    void find_paths(std::uint32_t port, NodeId from, LinkId last, std::span<const Ticks> loads);

    const Instance& instance_;
    const Topology& topology_;
    std::size_t npus_, switches_;
    std::vector<Ticks> betas_;  ///< by link
    std::vector<Port> ports_;
    std::vector<std::vector<NodeId>> members_;  ///< by port
    std::vector<std::uint32_t> port_of_;        ///< by link that leaves an NPU towards a switch
    std::vector<Label> labels_;                 ///< by port, then switch
    // Of append_path.
    std::vector<LinkId> path_, best_;
    Ticks best_load_, best_sum_;
    std::size_t paths_left_ = 0;
};

}  // namespace tutti::heuristics

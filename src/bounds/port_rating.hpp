#pragma once

#include "bounds/crossing.hpp"

namespace tutti::bounds {

enum class Port { Ingress, Egress };

/// Whether the chunks must pass through that port of the NPU.
[[nodiscard]] bool must_pass(const Demand& demand, Port port, NodeId npu);

/// Rates the cut around one NPU as CutRater does, but asks only for the distances of its neighbours, so that
/// one NPU of a large network can be rated alone.
class PortRater {
  public:
    PortRater(Traffic& traffic, Port port) : traffic_(&traffic), port_(port) {}

    /// The most that the port proves, if it is more than `above`. `passing` are the classes that must pass.
    /// O(neighbours * links + classes * (neighbours + holders or receivers)).
    [[nodiscard]] std::optional<Rating> exact(NodeId npu, std::span<const ChunkClass* const> passing,
                                              Ticks above);
    /// How much work that is, about.
    [[nodiscard]] std::size_t work(NodeId npu, std::size_t classes) const;

  private:
    [[nodiscard]] std::span<const LinkId> links(NodeId npu) const;
    void find_tables(const ChunkClass& c, std::span<const LinkId> links);
    void find_heads(const ChunkClass& c, NodeId npu, const Crossing& crossing);
    void find_rests(const ChunkClass& c, NodeId npu);

    Traffic* traffic_;
    Port port_;
    std::vector<const std::vector<Ticks>*> tables_;  ///< per link of the port: to or from its other end
    std::vector<std::vector<Ticks>> scratch_;        ///< where Traffic does not keep them
    std::vector<Ticks> trial_, head_, rest_;         ///< per link of the port
};

}  // namespace tutti::bounds

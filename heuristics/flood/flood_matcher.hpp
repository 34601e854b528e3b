#pragma once

#include "heuristics/flood/cluster_detours.hpp"
#include "heuristics/flood/flood_heights.hpp"

#include <memory>

namespace tutti::heuristics {

/// How the matcher chooses.
struct FloodOptions {
    /// Slow links into a cluster carry only chunks that no member has claimed, while the chunks that it still
    /// lacks would take at least this share of the time left until the target. 0: always; above 1 hardly
    /// ever. See flood_matcher.cpp.
    double tightness = 0.98;
    /// The number of levels of clusters with that rule, from the slowest links on. 0: the rule is off.
    std::size_t levels = kMaxLevels;
    /// Among equally rare chunks, take the one with the longest remaining path instead of any.
    bool by_height = false;
    /// No transfer that would arrive later is started, so that slow links leave the last chunks to fast ones.
    /// Chunks that miss it follow without a deadline. 0: none.
    Ticks deadline = {};
};

/// Event by event, matches free links to chunks that their source has and their destination still wants.
/// For networks of NPUs alone, where each chunk can reach its targets through targets; starts after all links
/// are free. Prepared once, then run with any options and seeds.
class FloodMatcher {
  public:
    /// The problem must outlive this. O(hops log hops + spreads).
    explicit FloodMatcher(const SpreadProblem& problem);

    /// Whether it can solve the problem; false: run() returns none.
    [[nodiscard]] bool is_supported() const { return problem_.graph.is_direct(); }
    /// The options worth trying on this problem, the most promising first, without duplicates.
    [[nodiscard]] std::vector<FloodOptions> variants() const;
    /// Whether deadlines can make a difference: on links of different speeds.
    [[nodiscard]] bool has_several_speeds() const { return network_.ranks > 1; }
    /// An estimate that hardly any schedule beats (not proven), or the problem's target if that is larger.
    [[nodiscard]] Ticks least() const { return least_; }

    /// The transfers come in order of start. None: stopped, or a chunk cannot reach its targets through
    /// targets. O(sends * chunks/64 * degree), at most kWindowWords words and RowList::kMax neighbours a
    /// send as long as there is something to send; O(nodes * chunks) bits.
    [[nodiscard]] std::optional<SpreadSolution> run(const FloodOptions& options, Rng& rng, const Stop& stop);

  private:
    [[nodiscard]] Ticks least_by_ingress() const;

    const SpreadProblem& problem_;
    FloodNetwork network_;
    Ticks least_;
    std::vector<ClusterLevel> levels_;
    std::vector<ClusterDetours> detours_;  ///< per level; made when first asked for
    std::unique_ptr<Heights> heights_;     ///< made when first asked for
};

/// One run of the most promising variant.
[[nodiscard]] std::optional<SpreadSolution> flood(const SpreadProblem& problem, Rng& rng, const Stop& stop);

}  // namespace tutti::heuristics

#pragma once

#include "core/schedule.hpp"
#include "heuristics/paths/list_schedule.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::heuristics {

/// About how many sends an all-to-all or the like takes at the least: the links of a shortest path for every
/// chunk. 0 where a chunk has several holders or receivers. O(NPUs * links + chunks).
[[nodiscard]] std::uint64_t sends_of_shortest_paths(const Instance& instance);

/// Priced paths with list scheduling (priced_paths.cpp) as a schedule that is generated while it is read and
/// never held. For chunks from one NPU to one other, where all links are between nodes that store without
/// limit. Memory: 20 bytes per send.
class PathStream final : public SendSource {
  public:
    /// Plans the paths. The instance must outlive this. No schedule is shorter than `target`.
    PathStream(const Instance& instance, Ticks target, const SearchOptions& options, std::uint64_t seed,
               const Stop& stop);

    /// Why there is no such schedule; empty if there is one.
    [[nodiscard]] const std::string& why_none() const { return why_none_; }

    [[nodiscard]] std::span<const Send> next() override;
    [[nodiscard]] Ticks makespan() const override { return list_ ? list_->makespan() : Ticks(0); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return given_ + i; }
    [[nodiscard]] bool consecutive() const override { return true; }

    /// After next() returned none: whether that was the end, and not the stop.
    [[nodiscard]] bool is_complete() const { return list_ && list_->is_complete(); }

  private:
    const Stop stop_;
    HopGraph graph_;
    SpreadProblem problem_;
    std::optional<TreePlan> plan_;
    std::optional<ListStream> list_;
    std::string why_none_;
    std::vector<Send> sends_;
    std::uint64_t given_ = 0;
};

}  // namespace tutti::heuristics

#pragma once

#include "core/collective.hpp"
#include "plan/send_program.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti::verify {

/// Recognises the collective that chunks with their initial and final nodes form, whatever their numbers. An
/// initial holder need not be listed among the final nodes.
class ChunkShape {
  public:
    ChunkShape(std::span<const plan::SendChunk> chunks, std::int32_t nodes);

    /// Whether they form that collective on all nodes: each rank with the same number of chunks.
    [[nodiscard]] bool makes(CollectiveKind goal) const;
    /// The first collective that they form; None: none that has a name.
    [[nodiscard]] CollectiveKind goal() const;
    /// The root, if they form that collective and it has one.
    [[nodiscard]] std::optional<Rank> root(CollectiveKind goal) const;

  private:
    struct Ends {
        plan::PlanNode from{}, to{};
        friend auto operator<=>(const Ends&, const Ends&) = default;
    };
    void add_sums(std::span<const plan::SendChunk> chunks);
    [[nodiscard]] bool makes_pairs(CollectiveKind goal) const;

    std::size_t nodes_;
    bool sums_ = false;         ///< several chunks have one address
    bool one_holder_ = true;    ///< every chunk starts on one node
    bool all_receive_ = true;   ///< every chunk goes to all nodes
    bool one_receives_ = true;  ///< every chunk goes to one node
    bool whole_sums_ = true;    ///< every address has one contribution of each node, for the same receivers
    std::vector<std::size_t> from_, to_;  ///< chunks (or sums) by holder and by only receiver
    std::vector<Ends> pairs_;             ///< sorted
};

}  // namespace tutti::verify

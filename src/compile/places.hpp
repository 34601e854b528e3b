#pragma once

#include "compile/part.hpp"

#include "core/collective.hpp"

#include <optional>
#include <unordered_map>

namespace tutti::compile {

/// Input chunks that a rank's own output repeats, of which the schedule knows nothing because nothing is sent
/// (an all-to-all's block to itself).
struct OwnBlock {
    std::uint32_t rank = 0;
    std::int64_t input = 0;
    std::int64_t output = 0;
    std::int64_t count = 0;
};

/// Where each chunk of a collective lies in the input and output buffers of the ranks, in chunks, as the
/// runtimes cut them (docs/msccl-xml.md, "Buffers"; b = the field `chunks`, n = ranks; chunk numbers are
/// those of the contract):
///
/// | kind           | input                               | output                                |
/// | broadcast      | i[c] at the root                    | o[c]                                  |
/// | reduce         | i[c]                                | o[c] at the root                      |
/// | gather         | i[k]                                | o[r*b + k] at the root                |
/// | scatter        | i[r*b + k] at the root              | o[k]                                  |
/// | all_gather     | i[k]                                | o[r*b + k]                            |
/// | reduce_scatter | i[r*b + k]                          | o[k] at rank r                        |
/// | all_reduce     | i[r*b + k]                          | o[r*b + k]                            |
/// | all_to_all     | i[to*b + k]                         | o[from*b + k]                         |
/// | all_to_next    | i[k]                                | o[k]                                  |
/// | all_to_all_v   | by destination, own block too       | by source, own block too              |
/// | permute        | in the order of the pairs from here | in the order of the pairs to here     |
/// | custom         | in the order of the demands         | in the order of the demands           |
///
/// Relays (Part) have neither input nor output. With relays the plan is for no collective that runtimes have
/// a name for, whatever its kind: only the ranks of the group contribute and get results.
class Places {
  public:
    /// The instance must outlive this.
    Places(const Instance& instance, CollectiveId collective, std::span<const NodeId> relays = {});
    /// The part's group and relays.
    Places(const Instance& instance, const Part& part)
        : Places(instance, part.collective, std::span(part.npus).subspan(part.members)) {}

    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(inputs_.size()); }
    /// Those of the group; the others are relays.
    [[nodiscard]] std::uint32_t members() const { return group_size_; }
    [[nodiscard]] bool has_relays() const { return members() < ranks(); }
    /// What the plan is called: CollectiveKind::Custom for all_to_all_v, permute and custom, and where there
    /// are relays; these need a condition.
    [[nodiscard]] CollectiveKind goal() const { return goal_; }
    [[nodiscard]] std::optional<std::uint32_t> root() const { return root_; }

    /// Where the chunk (counted from the collective's first) lies in that rank's input at the start: only
    /// where the rank is a holder. O(log holders).
    [[nodiscard]] std::optional<std::int64_t> input(std::uint32_t rank, std::uint32_t chunk) const;
    /// Where it must lie in that rank's output at the end: only where the rank is a receiver.
    [[nodiscard]] std::optional<std::int64_t> output(std::uint32_t rank, std::uint32_t chunk) const;
    [[nodiscard]] const std::vector<OwnBlock>& own_blocks() const { return own_blocks_; }

    /// The sizes of a rank's buffers.
    [[nodiscard]] std::int64_t input_chunks(std::uint32_t rank) const { return inputs_[rank]; }
    [[nodiscard]] std::int64_t output_chunks(std::uint32_t rank) const { return outputs_[rank]; }
    /// What MSCCL calls nchunksperloop: the larger buffer, but a rank's share of gather and scatter.
    [[nodiscard]] std::int64_t chunks_per_loop() const { return per_loop_; }

    [[nodiscard]] Demand demand(std::uint32_t chunk) const {
        return instance_.demand(ChunkId(first_ + chunk));
    }
    [[nodiscard]] std::uint32_t chunks() const { return static_cast<std::uint32_t>(input_.size()); }
    [[nodiscard]] std::uint32_t rank_of(NodeId member) const { return rank_.at(member); }

  private:
    void place_by_share(const Collective& collective);
    void place_pairs(const Collective& collective);
    void place_custom();
    void size_buffers(const Collective& collective);
    [[nodiscard]] std::int64_t largest_buffer() const;

    const Instance& instance_;
    std::vector<NodeId> npus_;  ///< by rank
    std::uint32_t group_size_ = 0;
    std::unordered_map<NodeId, std::uint32_t> rank_;
    CollectiveKind goal_ = CollectiveKind::Custom;
    std::optional<std::uint32_t> root_;
    std::uint32_t first_ = 0;
    /// By chunk, the same at every holder and receiver; of `custom` in the tables below.
    std::vector<std::int64_t> input_, output_;
    /// By rank and chunk: custom only.
    std::vector<std::unordered_map<std::uint32_t, std::int64_t>> custom_input_, custom_output_;
    std::vector<std::int64_t> inputs_, outputs_;
    std::int64_t per_loop_ = 1;
    std::vector<OwnBlock> own_blocks_;
};

}  // namespace tutti::compile

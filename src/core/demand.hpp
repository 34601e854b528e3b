#pragma once

#include "core/collective.hpp"

#include <span>
#include <vector>

namespace tutti {

/// One chunk, its holders and its receivers. Solvers and verifier see collectives only as demands.
/// Not a reduction: every holder has the whole chunk, every receiver must end with it.
/// A reduction: every holder has one contribution, every receiver must end with all of them, each once.
struct Demand {
    CollectiveId collective;
    Bytes bytes;
    bool reduction = false;
    std::span<const NodeId> holders;    ///< sorted, not empty
    std::span<const NodeId> receivers;  ///< sorted, not empty
};

/// The demands of all collectives, chunk by chunk, in the order of instances/README.md. Equal node sets are
/// stored once and shared (an all-gather of n ranks has the same n receivers n times): memory is O(chunks +
/// distinct sets).
class DemandList {
  public:
    /// Appends what the collective demands. Throws InputError (place relative to the collective, "/root")
    /// when its fields do not fit its kind or its group, or when there would be more than kMaxChunks chunks.
    void append(const Collective& collective, CollectiveId id, const Group& group);

    [[nodiscard]] std::size_t size() const { return rows_.size(); }
    [[nodiscard]] Demand operator[](ChunkId chunk) const;
    /// The distinct chunk sizes, and which of them a chunk has.
    [[nodiscard]] const std::vector<Bytes>& sizes() const { return sizes_; }
    [[nodiscard]] std::uint32_t size_class(ChunkId chunk) const { return rows_[chunk.index()].size; }
    [[nodiscard]] CollectiveId collective(ChunkId chunk) const { return rows_[chunk.index()].collective; }

    /// The node sets that chunks name, by number. Equal sets may have several numbers.
    [[nodiscard]] std::size_t sets() const { return sets_.size(); }
    [[nodiscard]] std::span<const NodeId> set(std::uint32_t number) const { return sets_[number]; }
    [[nodiscard]] std::uint32_t holder_set(ChunkId chunk) const { return rows_[chunk.index()].holders; }
    [[nodiscard]] std::uint32_t receiver_set(ChunkId chunk) const { return rows_[chunk.index()].receivers; }
    [[nodiscard]] bool is_reduction(ChunkId chunk) const { return rows_[chunk.index()].reduction; }

    static constexpr std::size_t kMaxChunks = std::size_t{1} << 26;

  private:
    struct Row {
        std::uint32_t holders, receivers;  ///< positions in sets_
        CollectiveId collective;
        std::uint32_t size;  ///< position in sizes_
        bool reduction;
    };
    /// Throws before chunks are made if there would be too many.
    void expect_room(std::uint64_t senders, std::uint64_t receivers, std::uint64_t chunks) const;
    std::uint32_t add_set(std::vector<NodeId> nodes);
    std::uint32_t add_size(Bytes bytes);
    void add_chunks(std::uint64_t count, Row row);

    std::vector<std::vector<NodeId>> sets_;
    std::vector<Bytes> sizes_;
    std::vector<Row> rows_;
};

}  // namespace tutti

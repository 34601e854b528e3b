#pragma once

#include "core/instance.hpp"
#include "verify/value.hpp"

#include <optional>

namespace tutti::verify {

/// What each NPU has of each chunk. One bit per NPU and plain chunk; a pointer per NPU and chunk of a
/// reduction, whose sets are made only when something arrives, because a holder's own contribution goes
/// without saying.
class Holdings {
  public:
    explicit Holdings(const Instance& instance);

    /// The NPU's value now, whatever the release.
    [[nodiscard]] Value value(NodeId npu, ChunkId chunk) const;
    void set(NodeId npu, ChunkId chunk, const Value& value);
    [[nodiscard]] bool is_holder(NodeId npu, ChunkId chunk) const;
    /// The value {data} of a plain chunk.
    [[nodiscard]] const Value& data() const { return data_; }

  private:
    [[nodiscard]] std::size_t plain_bit(NodeId npu, ChunkId chunk) const {
        return npu.index() * plain_chunks_ + slot_[chunk.index()];
    }
    [[nodiscard]] std::size_t reduction_slot(NodeId npu, ChunkId chunk) const {
        return npu.index() * reduction_chunks_ + slot_[chunk.index()];
    }
    const Instance& instance_;
    Value data_;
    std::vector<std::uint32_t> slot_;  ///< position among the plain chunks, or among those of reductions
    std::vector<bool> is_reduction_;
    std::size_t plain_chunks_ = 0;
    std::size_t reduction_chunks_ = 0;
    boost::dynamic_bitset<std::uint64_t> plain_;
    std::vector<Value> reductions_;  ///< null: nothing has arrived yet
};

}  // namespace tutti::verify

#pragma once

#include "verify/tables.hpp"
#include "verify/value.hpp"

#include <vector>

namespace tutti::verify {

/// The values of reductions at each NPU, as sets of contributions. A chunk has sets only once it was opened;
/// an NPU's set is created when something arrives, because a holder's own contribution is implied.
class ExactSums {
  public:
    ExactSums(const Instance& instance, const Tables& tables)
        : instance_(instance), tables_(tables), sets_(tables.reductions()) {}

    [[nodiscard]] bool is_open(ChunkId chunk) const { return !sets_[tables_.chunk(chunk).slot].empty(); }
    void open(ChunkId chunk) { sets_[tables_.chunk(chunk).slot].resize(instance_.topology().npus()); }

    /// The NPU's value now, whatever the release. Precondition: is_open(chunk).
    [[nodiscard]] Value value(NodeId npu, ChunkId chunk) const;
    void set(NodeId npu, ChunkId chunk, const Value& value) {
        sets_[tables_.chunk(chunk).slot][npu.index()] = value;
    }

  private:
    const Instance& instance_;
    const Tables& tables_;
    std::vector<std::vector<Value>> sets_;  ///< per reduction, then NPU; null: nothing has arrived yet
};

}  // namespace tutti::verify

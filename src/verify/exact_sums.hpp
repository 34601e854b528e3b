#pragma once

#include "verify/tables.hpp"
#include "verify/value.hpp"

#include <vector>

namespace tutti::verify {

/// The values of reductions at each NPU, as sets of contributions. A chunk has sets only once it was opened;
/// an NPU's set is created when something arrives, because a holder's own contribution is implied: from its
/// release on it is in the NPU's value, unless a copy that arrived at or after the release replaced it.
class ExactSums {
  public:
    ExactSums(const Instance& instance, const Tables& tables)
        : instance_(instance), tables_(tables), sets_(tables.reductions()) {}

    [[nodiscard]] bool is_open(ChunkId chunk) const { return !sets_[tables_.chunk(chunk).slot].empty(); }
    void open(ChunkId chunk) { sets_[tables_.chunk(chunk).slot].resize(instance_.topology().npus()); }

    /// The NPU's value at `tick`. Precondition: is_open(chunk).
    [[nodiscard]] Value value(NodeId npu, ChunkId chunk, Ticks tick) const;
    /// What it is from `tick` on. Ticks of one NPU and chunk do not fall.
    void set(NodeId npu, ChunkId chunk, const Value& value, Ticks tick) {
        sets_[tables_.chunk(chunk).slot][npu.index()] = {value, tick};
    }

  private:
    struct Arrived {
        Value value;  ///< null: nothing has arrived yet
        Ticks tick;   ///< of the last arrival
    };
    const Instance& instance_;
    const Tables& tables_;
    std::vector<std::vector<Arrived>> sets_;  ///< per reduction, then NPU
};

}  // namespace tutti::verify

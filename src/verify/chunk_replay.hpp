#pragma once

#include "symmetry/symmetric_schedule.hpp"
#include "verify/report.hpp"
#include "verify/value.hpp"

#include <span>
#include <vector>

namespace tutti::verify {

/// Replays one chunk in a network of NPUs, independently of all others: V6, V7, V8, V13 to V16.
class ChunkReplay {
  public:
    ChunkReplay(const Instance& instance, const symmetry::SymmetricSchedule& schedule, Report& report);

    /// The sends of one chunk, by position, in order of start. Returns the last arrival.
    Ticks judge(std::span<const std::uint32_t> sends);

  private:
    struct Transfer {
        std::uint32_t position;
        NodeId src, dst;
        Ticks start, arrival;
        LinkId link;
        Op op;
        Value value;  ///< of a reduction: as read at its start
    };
    void complain(Rule rule, const Transfer& transfer, NodeId node, Ticks tick, const std::string& message);
    [[nodiscard]] Value value(NodeId npu, Ticks tick) const;
    [[nodiscard]] bool is_holder(NodeId npu) const;
    void set(NodeId npu, const Value& value, Ticks tick);
    void read(Transfer& transfer);
    void arrive(std::span<const std::uint32_t> together);
    void judge_demand();

    const Instance& instance_;
    const symmetry::SymmetricSchedule& schedule_;
    Report& report_;
    ChunkId chunk_;
    Demand demand_;
    Value data_;
    std::vector<Transfer> transfers_;
    std::vector<std::uint32_t> by_arrival_;
    std::vector<Value> values_;         ///< by NPU, where stamp_ is the round
    std::vector<Ticks> since_;          ///< when values_ was set
    std::vector<std::uint32_t> stamp_;  ///< the round in which values_ was set
    std::uint32_t round_ = 0;
};

}  // namespace tutti::verify

#pragma once

#include "verify/cut_through_order.hpp"
#include "verify/holdings.hpp"
#include "verify/links.hpp"
#include "verify/reduction_counts.hpp"
#include "verify/report.hpp"
#include "verify/value.hpp"

#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>

namespace tutti::verify {

/// The switches that store: queues of copies (V9) and buffers (V11). Plain chunks at switches that only
/// forward are in Holdings.
class StoringSwitches {
  public:
    StoringSwitches(const Instance& instance, const Tables& tables, Holdings& plain, Report& report)
        : instance_(instance), tables_(tables), plain_(plain), report_(report) {}

    /// A send's value reaches the switch.
    void arrive(NodeId node, const Send& send, const Value& value, Ticks tick, std::uint64_t position);
    /// The value that a send out of the switch takes, or null with a violation reported.
    [[nodiscard]] Value leave(NodeId node, const Send& send, std::uint64_t position);
    /// A copy that was counted until now, at a switch without a limited buffer. Those of one switch and chunk
    /// come in order: the one that left last, then those that wait, oldest first.
    void put(const StoredCopy& copy);
    /// Judges the buffers up to `tick`: nothing before it can change any more.
    void settle(Ticks tick);
    /// Judges the rest, when there are no more sends.
    void finish();

  private:
    struct Copy {
        Value value;
        Ticks left_at;
    };
    struct Queue {
        std::deque<Value> waiting;  ///< oldest first
        std::optional<Copy> left;   ///< the copy that left last
    };
    /// How many copies a buffered switch holds, as changes at ticks. A switch that copies may send a copy
    /// again, so how long it was held is known only at the end.
    struct Buffer {
        std::map<Ticks, std::int64_t> changes;
        std::int64_t held = 0;
    };
    [[nodiscard]] static std::uint64_t key(NodeId node, ChunkId chunk) {
        return (std::uint64_t{node.value()} << 32) | chunk.value();
    }
    [[nodiscard]] bool is_plain(NodeId node, ChunkId chunk) const {
        return !tables_.chunk(chunk).reduction && only_forwards(instance_.topology().rule(node));
    }
    [[nodiscard]] Value leave_plain(NodeId node, const Send& send, std::uint64_t position);
    void report_missing(NodeId node, const Send& send, std::uint64_t position);
    void change(NodeId node, Ticks tick, std::int64_t by);
    void judge(NodeId node, Buffer& buffer, Ticks before);

    const Instance& instance_;
    const Tables& tables_;
    Holdings& plain_;
    Report& report_;
    const Value data_ = singleton(1, 0);
    std::unordered_map<std::uint64_t, Queue> queues_;
    std::map<NodeId, Buffer> buffers_;
};

/// The switches that cut through (V12): each inbound send must be forwarded exactly alpha later.
class CutThroughSwitches {
  public:
    CutThroughSwitches(const Instance& instance, Report& report) : instance_(instance), report_(report) {}

    /// A send enters the switch; its value is null when it carries nothing.
    void enter(NodeId node, const Send& send, const Value& value, const LegPtr& leg);
    /// The value that a send out of the switch forwards; the legs that feed it are added to `feeders`. Null
    /// with a violation reported if nothing is due.
    [[nodiscard]] Value leave(NodeId node, const Send& send, std::vector<LegPtr>& feeders,
                              std::uint64_t position, const Forwards& forwards = {});
    /// A send waits for itself; likewise, and what it forwards has entered.
    void leave_cycle(NodeId node, const WaitingSend& waiting, std::vector<LegPtr>& feeders);
    [[nodiscard]] bool is_due(NodeId node, ChunkId chunk, Ticks tick) const {
        if (due_.empty()) return false;
        const auto now = due_.find(tick);
        return now != due_.end() && now->second.contains({node, chunk});
    }
    /// What has entered the switch and is due at the tick.
    [[nodiscard]] std::vector<DueInbound> due(NodeId node, ChunkId chunk, Ticks tick);
    /// Advances to `tick`: sends that were due before and were not forwarded are violations.
    void advance(Ticks tick);

  private:
    struct Passage {
        Ticks due;
        Value value;
        Op op = Op::Copy;
        std::vector<LegPtr> legs;
        bool taken = false;
    };
    struct Place {
        NodeId node;
        ChunkId chunk;
        auto operator<=>(const Place&) const = default;
    };
    /// What is due then, in order of link number; null if nothing is.
    [[nodiscard]] std::vector<Passage>* due_at(NodeId node, ChunkId chunk, Ticks tick);
    /// The first that is not taken.
    [[nodiscard]] static Passage* find(std::vector<Passage>& passages, const Forwards& forwards);

    const Instance& instance_;
    Report& report_;
    std::map<Ticks, std::map<Place, std::vector<Passage>>> due_;
};

}  // namespace tutti::verify

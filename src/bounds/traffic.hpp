#pragma once

#include "bounds/distances.hpp"
#include "core/stop.hpp"

#include <map>
#include <memory>

namespace tutti::bounds {

/// Chunks that follow each other and want the same: same holders, receivers, collective and size.
struct ChunkClass {
    ChunkId chunk;  ///< the first of them
    std::uint64_t count = 0;
    std::size_t passage = 0;  ///< of Traffic::passage()
};

/// Work that a bound may still spend, in links or receivers looked at. Asks the stop now and then.
class Effort {
  public:
    Effort(std::size_t limit, const Stop& stop) : left_(limit), stop_(&stop) {}
    /// False, from then on, when the limit or the stop has been reached.
    [[nodiscard]] bool spend(std::size_t work) {
        if (work > left_ || ended_) {
            ended_ = true;
            return false;
        }
        left_ -= work;
        since_poll_ += work;
        if (since_poll_ > kBetweenPolls) {
            since_poll_ = 0;
            ended_ = stop_->requested();
        }
        return !ended_;
    }
    [[nodiscard]] bool ended() const { return ended_; }
    [[nodiscard]] std::size_t left() const { return ended_ ? 0 : left_; }

  private:
    static constexpr std::size_t kBetweenPolls = 100'000;
    std::size_t left_;
    std::size_t since_poll_ = 0;  ///< so small instances are looked at whatever the stop says
    const Stop* stop_;
    bool ended_ = false;
};

/// What an instance asks for, in classes, and distances for it, computed when first asked for and then kept.
class Traffic {
  public:
    explicit Traffic(const Instance& instance);

    [[nodiscard]] const Instance& instance() const { return *instance_; }
    [[nodiscard]] const Topology& topology() const { return instance_->topology(); }
    [[nodiscard]] std::span<const ChunkClass> classes() const { return classes_; }
    [[nodiscard]] Demand demand(const ChunkClass& c) const { return instance_->demand(c.chunk); }
    /// The first of all holders.
    [[nodiscard]] Ticks release(const ChunkClass& c) const { return instance_->release(c.chunk); }
    /// Of one holder.
    [[nodiscard]] Ticks release(const ChunkClass& c, NodeId holder) const {
        return instance_->release(c.chunk, holder);
    }
    [[nodiscard]] const Passage& passage(const ChunkClass& c) const { return passages_[c.passage]; }
    /// Of the smallest size, over all nodes.
    [[nodiscard]] const Passage& smallest() const { return *smallest_; }
    [[nodiscard]] Ticks first_release() const { return first_release_; }

    /// Whether keeping all distances would take too much time or memory; then ask for none.
    [[nodiscard]] bool huge() const { return huge_; }

    /// From the set, or from one node, to every node. Precondition: the set is one of the demands' own.
    [[nodiscard]] const std::vector<Ticks>& from(const ChunkClass& c, std::span<const NodeId> set);
    [[nodiscard]] const std::vector<Ticks>& from(const ChunkClass& c, NodeId node);
    /// From every node to this one.
    [[nodiscard]] const std::vector<Ticks>& to(const ChunkClass& c, NodeId node);

  private:
    using Table = std::unique_ptr<const std::vector<Ticks>>;
    [[nodiscard]] Table& place(std::vector<std::vector<Table>>& tables, const ChunkClass& c,
                               NodeId node) const;

    const Instance* instance_;
    std::vector<Passage> passages_;
    std::optional<Passage> smallest_;
    std::vector<ChunkClass> classes_;
    Ticks first_release_ = kNever;
    bool huge_ = false;
    std::vector<std::vector<Table>> from_, to_;  ///< per passage and node
    std::map<std::pair<std::size_t, const NodeId*>, Table> from_sets_;
};

}  // namespace tutti::bounds

#pragma once

#include "heuristics/levels/clos_routes.hpp"
#include "heuristics/levels/levels.hpp"
#include "heuristics/levels/message_placer.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace tutti::heuristics {

/// The contributor whose part of a sum reaches the root last, and what the root can do about it: send it the
/// sum of all others before its own part has come, to be added.
struct LastContributor {
    NodeId npu;
    Ticks others;  ///< when all other contributions are at the root
    Ticks sent;    ///< when it starts to send its own
    Ticks come;    ///< when its own is at the root
};

/// A chunk to be spread over the levels. The lists belong to the instance or the caller.
struct LevelItem {
    ChunkId chunk;
    std::span<const NodeId> sources;
    Ticks ready;
    std::span<const NodeId> targets;           ///< sorted; may name sources too
    std::optional<LastContributor> last = {};  ///< at the only source
};

/// What a chunk needs to know about its way back: a message of it that ends at its only source, backwards.
struct RootMessage {
    std::uint32_t item;
    NodeId npu;  ///< the other end
    MessagePlacer::Span span;
};

/// A network with its levels, and who is where: shared by all plans of an instance.
class Cluster {
  public:
    explicit Cluster(const Instance& instance);
    [[nodiscard]] const Instance& instance() const { return instance_; }
    [[nodiscard]] const std::vector<Partition>& levels() const { return levels_; }
    [[nodiscard]] MessageRoutes& routes() { return routes_; }
    [[nodiscard]] ClosRoutes& clos() { return clos_; }
    /// Of the group of the chunk's collective.
    [[nodiscard]] const Numbering& numbering(ChunkId chunk) const {
        return numberings_[instance_.collective_of(chunk).group.index()];
    }
    /// The same as one level.
    [[nodiscard]] const Numbering& flat_numbering(ChunkId chunk) const {
        return flat_[instance_.collective_of(chunk).group.index()];
    }
    /// Whether some group has unequal parts.
    [[nodiscard]] bool is_irregular() const {
        return std::ranges::any_of(numberings_, &Numbering::is_irregular);
    }

  private:
    const Instance& instance_;
    MessageRoutes routes_;
    ClosRoutes clos_;
    std::vector<Partition> levels_;
    std::vector<Numbering> numberings_, flat_;  ///< by group
};

/// Spreads chunks over two levels: between parts first, then within them.
class LevelPlan {
  public:
    using Direction = MessagePlacer::Direction;
    /// `level` 0: every NPU is a part; else the parts are those of partition `level - 1`. With `flat`, rounds
    /// are those of one level; only at level 0.
    /// With `delays_own`, a chunk leaves for its own part only when it has reached another one: backwards
    /// that completes sums early, except for what comes from the other part.
    LevelPlan(Cluster& cluster, std::size_t level, bool flat, Direction direction, MessagePlacer& placer,
              const Stop& stop);

    /// Places messages that spread all items. A message why not, if some part cannot be reached or it was
    /// stopped; else empty.
    [[nodiscard]] std::string spread(std::span<const LevelItem> items, bool delays_own);
    /// The same, but after each wave a round within the own parts is placed: where the links between parts
    /// are slower than ports, what waits for them can be sent later.
    [[nodiscard]] std::string spread_in_turns(std::span<const LevelItem> items);
    /// The same at level 0, with near rounds between far ones (mixed_rounds.cpp). So many rounds are not made
    /// by the sources: who got the chunk in another round passes it on.
    [[nodiscard]] std::string spread_mixed(std::span<const LevelItem> items, std::size_t passed);
    /// Of all items, in the order of their placing.
    [[nodiscard]] const std::vector<RootMessage>& root_messages() const { return root_messages_; }

  private:
    using Part = std::uint32_t;
    using Slot = std::uint32_t;  ///< a chunk at an NPU: since when it is there
    static constexpr Slot kNowhere = UINT32_MAX;

    /// The targets of an item, part by part.
    struct Targets {
        struct InPart {
            Part part;
            std::uint32_t begin, end;  ///< positions in nodes
        };
        std::vector<NodeId> nodes;
        std::vector<InPart> parts;
        [[nodiscard]] std::span<const NodeId> of(const InPart& in) const {
            return std::span(nodes).subspan(in.begin, in.end - in.begin);
        }
    };
    /// A chunk has to enter a part.
    struct Entry {
        bool is_late;  ///< it needs a detour, and comes after the regular waves
        Numbering::Round round;
        std::uint32_t turn;  ///< among those of the same round and source
        std::uint32_t item;
        Part part;
        std::span<const NodeId> targets;  ///< those in the part
    };
    /// A message within a part.
    struct Inner {
        Ticks ready;
        Numbering::Round round;
        std::uint32_t item;
        Slot slot;
        NodeId from, to;
    };

    void find_parts();
    const Targets& targets_of(std::span<const NodeId> targets);
    void find_entries();
    void take_turns();
    /// Whether the source reaches the member of the part that has the same place there.
    [[nodiscard]] bool reaches_aligned(std::uint32_t item, NodeId source, Part part);
    /// A message whose path is yet to be found.
    struct Message {
        std::uint32_t item;
        NodeId from, to;
        Slot slot;
        MessageRoutes::Ends ends;
        const Entry* entry = nullptr;  ///< between parts
    };
    [[nodiscard]] std::string place_items(std::span<const LevelItem> items, bool delays_own, bool in_turns);
    void begin(std::span<const LevelItem> items);
    bool enter_parts(bool delays_own, bool in_turns);
    /// Puts entries_ into the order of mixed rounds. Returns those that are passed on, and leaves none if all
    /// are equally far away.
    [[nodiscard]] std::vector<Entry> mix_rounds(std::size_t passed);
    void pass_on(const Entry& entry);
    /// The next round of own_.
    bool place_own_round();
    /// Chooses the NPUs of a message between parts, and hands the chunk to the one that sends it.
    bool prepare(const Entry& entry);
    /// Finds paths for the messages of batch_, together, and places them.
    void place_batch(bool delays_own);
    void find_path(const Message& message, const ClosRoutes::Message* route);
    /// The NPU through which the chunk leaves its part, and the one through which it enters the other.
    struct Gates {
        NodeId exit, entrance;
    };
    [[nodiscard]] std::optional<Gates> gates(NodeId source, const Entry& entry) const;
    [[nodiscard]] std::optional<NodeId> entrance(NodeId from, const Entry& entry) const;
    void add_own_part(std::uint32_t item);
    void add_inner(std::uint32_t item, NodeId from, Slot slot, std::span<const NodeId> targets);
    bool place_inner();
    /// Adds a message to batch_. False: there is no path.
    bool add(std::uint32_t item, NodeId from, NodeId to, Slot slot, const Entry* entry = nullptr);
    /// Places a message over path_ and returns its end.
    Ticks send(const Message& message);
    /// Forwards: the way from `from` to `to`; backwards: the way that is mirrored to that.
    [[nodiscard]] std::optional<MessageRoutes::Ends> way(NodeId from, NodeId to) const;
    [[nodiscard]] bool may_carry(NodeId npu, std::uint32_t item) const;
    [[nodiscard]] const Numbering& numbering(std::uint32_t item) const;
    [[nodiscard]] NodeId source_for(std::uint32_t item, Part part) const;
    [[nodiscard]] bool is_source(NodeId npu, std::uint32_t item) const;
    Slot new_slot(Ticks since);
    [[nodiscard]] Part part_of(NodeId npu) const { return part_of_[npu.index()]; }

    Cluster& cluster_;
    const Instance& instance_;
    const std::size_t level_;
    const bool flat_;
    const Direction direction_;
    MessagePlacer& placer_;
    const Stop& stop_;
    Partition part_of_;
    std::vector<std::vector<NodeId>> members_;  ///< by part
    std::map<std::pair<const NodeId*, std::size_t>, Targets> known_targets_;
    std::span<const LevelItem> items_;
    std::vector<Entry> entries_;
    std::map<std::tuple<GroupId, NodeId, Part>, bool> aligned_;  ///< answers of reaches_aligned
    std::vector<Slot> source_slot_;                              ///< by item
    std::vector<Ticks> own_ready_;                          ///< by item: when it may leave for its own part
    std::map<std::pair<std::uint32_t, NodeId>, Slot> fed_;  ///< by item: NPUs that got it to send it on
    bool keeps_all_ = false;                                ///< in fed_: whoever got it in a round
    std::vector<Inner> inner_;
    std::vector<Inner> own_;  ///< of chunks in their own parts, where they are placed between waves
    std::size_t next_own_ = 0;
    std::vector<Ticks> since_;               ///< by slot
    std::vector<Ticks> loads_;               ///< by link
    std::vector<Ticks> out_load_, in_load_;  ///< by NPU: of messages between parts
    std::vector<LinkId> path_;
    std::vector<Message> batch_;
    std::vector<ClosRoutes::Message> routes_;
    std::vector<RootMessage> root_messages_;
    std::string why_not_;
};

}  // namespace tutti::heuristics

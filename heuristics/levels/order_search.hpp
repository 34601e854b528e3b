#pragma once

#include "core/busy_intervals.hpp"
#include "core/rng.hpp"
#include "core/stop.hpp"
#include "heuristics/levels/message_placer.hpp"
#include "heuristics/levels/message_routes.hpp"

#include <limits>
#include <map>
#include <vector>

namespace tutti::heuristics {

/// Local search on the order, the paths and the senders of messages (order_search.cpp). All chunks spread in
/// one direction of time.
class OrderSearch {
  public:
    using Time = std::int64_t;
    using Direction = MessagePlacer::Direction;
    /// Begins with the messages of a plan. All must outlive this, but the plan.
    OrderSearch(const Instance& instance, MessageRoutes& routes, const MessagePlacer& plan,
                Direction direction, Rng& rng);

    /// Of the best order.
    [[nodiscard]] Time makespan() const { return best_makespan_; }
    /// Goes on until the makespan is at most `target`, so many messages were placed, or `stop`.
    void run(Time target, std::uint64_t work, const Stop& stop);
    /// The best order, placed again with all rules.
    [[nodiscard]] MessagePlacer placed() const;

  private:
    using MessageId = std::uint32_t;
    static constexpr MessageId kNone = UINT32_MAX;
    static constexpr std::uint64_t kDice = 1024;  ///< range of random loads and shares

    struct Leg {
        std::uint32_t link;
        Time offset, busy;
    };
    /// A stretch on which the chunk does not wait.
    struct Piece {
        std::vector<Leg> legs;
        Time transit;
        Time start = 0;
    };
    struct Message {
        ChunkId chunk;
        NodeId from, to;
        std::vector<LinkId> path;
        std::vector<Piece> pieces;
        MessageId parent = kNone;  ///< brings the chunk to `from`
        Time end = 0;
        Time latest = 0;  ///< start
        std::uint64_t turn = 0;
    };
    struct Kept {
        ChunkId chunk;
        std::vector<LinkId> path;
        NodeId from, to;
    };

    [[nodiscard]] Time release(ChunkId chunk) const;
    void add(const MessagePlacer::Placed& placed);
    void find_pieces(Message& message);
    void link_parents();
    void place_all();
    Time place(MessageId m);
    [[nodiscard]] Time earliest(const Piece& piece, Time ready) const;
    void set_goal();
    [[nodiscard]] Time measured() const;
    [[nodiscard]] Time allowance();
    void keep_best();
    /// Sorts by the latest starts.
    void justify();
    /// False: nothing was changed.
    bool change();
    void undo();
    [[nodiscard]] MessageId late_message();
    /// The message before it on a link that it waits for, or the one that brings the chunk.
    [[nodiscard]] MessageId held_up_by(MessageId m);
    /// Any message on one of its links.
    [[nodiscard]] MessageId sharing_a_link(MessageId m);
    bool place_earlier(MessageId m);
    /// A link of the message was idle before. Some message after the gap could have come in time for it if it
    /// had been sooner on the link before: it takes the place of one that was.
    bool fill_gap(MessageId m);
    bool exchange(MessageId m, MessageId other);
    bool take_other_path(MessageId m, NodeId from);
    bool take_other_sender(MessageId m);

    const Instance& instance_;
    MessageRoutes& routes_;
    const Direction direction_;
    Rng& rng_;
    std::vector<BusyIntervals<Time, MessageId>> busy_;  ///< by link
    std::vector<Ticks> loads_;                          ///< by link: random ones, to draw a path
    std::vector<Message> messages_;
    std::map<ChunkId, std::vector<MessageId>> of_chunk_;
    std::vector<MessageId> order_, old_order_, choices_;
    std::vector<MessageId> sequence_;  ///< as they were placed: parents first
    Message old_message_;
    MessageId changed_ = kNone;
    std::vector<LegTime> legs_;
    std::vector<LinkId> path_;
    std::uint64_t turn_ = 0;
    Time makespan_ = 0, goal_ = 0, lateness_ = 0, record_ = 0, target_ = 0;
    Time fastest_ = std::numeric_limits<Time>::max() / 4;
    Time best_makespan_ = 0;
    std::vector<Kept> best_;
};

}  // namespace tutti::heuristics

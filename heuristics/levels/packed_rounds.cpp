// All-to-alls through several switches that hold nothing: dragonflies, trees without enough planes.
//
// Every chunk gets a quickest path, the one whose fullest link is the emptiest. A message needs all links of
// its path at once, so messages of one time must share no link, and no schedule is shorter than the fullest
// link. A port that takes whatever is free leaves links idle that have no time to lose: list scheduling needs
// a third more time than the fullest link in a dragonfly of 72 NPUs. So rounds are packed as a whole:
//
// 1. A link weighs the more, the more it has left to carry: (its rest / the largest rest)^8. A message weighs
//    what its links weigh together. Heavy messages first, each enters the round if its links are free.
// 2. Then for each link that is still idle, the heaviest rest first, the best of its messages enters if it
//    weighs more than the messages that it displaces. A few passes.
//
// So the full links are busy in nearly every round, and all rests fall evenly. Rounds are only the order in
// which messages are placed: each starts when its links are free. A message uses a link so long after its
// start as the latencies before it say. Where messages with different offsets follow each other on a link it
// idles, or delays the second one and with it all its other links; so a message weighs more if its links were
// last used with the same offsets. At last all messages are moved as late as possible and as early as
// possible in turn (justification).
//
// Several runs with random ties; the best counts. Complexity: O(messages * rounds) a run, and kMostLookedAt
// messages for each idle link of a round.
//
// Dragonfly of 9 groups, 4 routers each, 2 NPUs each (df9x4x2), all-to-all, fullest link 372.2 us, or 71
// rounds: 499.3 us by priced-paths in 10 s; here 82 rounds, which take 509.8 us without the bonus and 479.3
// with it. Rounds of fixed length in which each message must fit, offsets included, need 102.

#include "heuristics/levels/packed_rounds.hpp"

#include "core/rng.hpp"
#include "heuristics/levels/message_placer.hpp"
#include "heuristics/levels/message_routes.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostChunks = 40'000;
constexpr std::size_t kPasses = 8;         ///< over the idle links of a round
constexpr std::size_t kMostLookedAt = 96;  ///< messages of an idle link
constexpr std::size_t kRuns = 6;
constexpr std::size_t kVainJustifications = 8;
constexpr std::uint64_t kMostWork = 400'000'000;  ///< links looked at, by all runs

using MessageId = std::uint32_t;
constexpr MessageId kNobody = UINT32_MAX;

struct Message {
    ChunkId chunk;
    std::vector<LinkId> path;
};

/// Empty if some chunk has no path.
std::vector<Message> routed(const Instance& instance, const Stop& stop) {
    ChunkId sample(0);
    for (std::size_t c = 1; c < instance.chunks(); ++c) {
        if (instance.demand(ChunkId(c)).bytes > instance.demand(sample).bytes) sample = ChunkId(c);
    }
    MessageRoutes routes(instance, sample);
    std::vector<Ticks> loads(instance.topology().links().size());
    std::vector<Message> messages;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        if (c % 256 == 0 && stop.requested()) return {};
        const ChunkId chunk(c);
        const Demand demand = instance.demand(chunk);
        if (demand.holders.front() == demand.receivers.front()) continue;
        const auto ends = routes.ends(demand.holders.front(), demand.receivers.front(), loads);
        if (!ends) return {};
        Message message{chunk, {}};
        routes.append_path(*ends, loads, message.path);
        for (const LinkId link : message.path) loads[link.index()] += instance.beta(link, chunk);
        messages.push_back(std::move(message));
    }
    return messages;
}

/// Sorts messages into rounds.
class Packer {
  public:
    Packer(const Instance& instance, std::span<const Message> messages, double bonus, Rng& rng)
        : instance_(instance),
          messages_(messages),
          bonus_(bonus),
          rng_(rng),
          rest_(instance.topology().links().size()),
          of_link_(rest_.size()),
          user_(rest_.size(), kNobody),
          link_weight_(rest_.size()),
          weight_(messages.size()),
          left_(messages.size()),
          last_offset_(rest_.size(), Ticks(-1)) {
        for (const Message& message : messages) {
            legs_.emplace_back();
            path_times(instance, message.path, message.chunk, legs_.back());
        }
        std::iota(left_.begin(), left_.end(), MessageId(0));
        rng.shuffle(left_);
        for (const MessageId m : left_) {
            for (const LinkId link : messages[m].path) {
                rest_[link.index()] += instance.beta(link, messages[m].chunk);
                of_link_[link.index()].push_back(m);
            }
        }
    }

    /// The next round; empty after the last one.
    std::span<const MessageId> next() {
        round_.clear();
        if (left_.empty()) return round_;
        weigh();
        std::ranges::stable_sort(left_, std::ranges::greater{}, [&](MessageId m) { return weight_[m]; });
        for (const MessageId m : left_) {
            (void)displaced_by(m);
            if (displaced_.empty()) enter(m);
        }
        for (std::size_t pass = 0; pass < kPasses; ++pass) fill_idle_links();
        take_round();
        return round_;
    }
    [[nodiscard]] std::uint64_t work() const { return work_; }

  private:
    void weigh() {
        const auto most = static_cast<double>(std::max(std::ranges::max(rest_), Ticks(1)).count());
        for (std::size_t l = 0; l < rest_.size(); ++l) {
            double share = static_cast<double>(rest_[l].count()) / most;
            for (int square = 0; square < 3; ++square) share *= share;
            link_weight_[l] = share;
        }
        for (const MessageId m : left_) {
            weight_[m] = 0;
            for (const LegTime& leg : legs_[m]) {
                const std::size_t l = leg.link.index();
                weight_[m] += link_weight_[l] * (last_offset_[l] == leg.offset ? 1 + bonus_ : 1);
            }
            work_ += messages_[m].path.size();
        }
    }

    /// The weight of the messages of the round that share a link with it. Sets displaced_.
    double displaced_by(MessageId m) {
        displaced_.clear();
        double sum = 0;
        for (const LinkId link : messages_[m].path) {
            const MessageId other = user_[link.index()];
            if (other == kNobody || std::ranges::find(displaced_, other) != displaced_.end()) continue;
            displaced_.push_back(other);
            sum += weight_[other];
        }
        work_ += messages_[m].path.size();
        return sum;
    }
    void enter(MessageId m) {
        for (const LinkId link : messages_[m].path) user_[link.index()] = m;
    }
    void leave(MessageId m) {
        for (const LinkId link : messages_[m].path) user_[link.index()] = kNobody;
    }

    void fill_idle_links() {
        idle_.clear();
        for (std::size_t l = 0; l < rest_.size(); ++l) {
            if (user_[l] == kNobody && !of_link_[l].empty()) idle_.push_back(LinkId(l));
        }
        rng_.shuffle(idle_);
        std::ranges::stable_sort(idle_, std::ranges::greater{},
                                 [&](LinkId link) { return rest_[link.index()]; });
        for (const LinkId link : idle_) {
            if (user_[link.index()] == kNobody) fill(link);
        }
    }

    void fill(LinkId link) {
        const auto& choices = of_link_[link.index()];
        const std::size_t first = rng_.below(choices.size());
        const std::size_t count = std::min(choices.size(), kMostLookedAt);
        MessageId best = kNobody;
        double best_gain = -1e-9;  // equals are exchanged too: that opens other ways
        for (std::size_t i = 0; i < count; ++i) {
            const MessageId m = choices[(first + i) % choices.size()];
            const double gain = weight_[m] - displaced_by(m);
            if (gain <= best_gain) continue;
            best_gain = gain;
            best = m;
        }
        if (best == kNobody) return;
        (void)displaced_by(best);
        for (const MessageId other : displaced_) leave(other);
        enter(best);
    }

    void take_round() {
        const auto is_chosen = [&](MessageId m) { return user_[messages_[m].path.front().index()] == m; };
        std::ranges::copy_if(left_, std::back_inserter(round_), is_chosen);
        std::erase_if(left_, is_chosen);
        for (const MessageId m : round_) {
            for (const LinkId link : messages_[m].path) {
                rest_[link.index()] -= instance_.beta(link, messages_[m].chunk);
                auto& choices = of_link_[link.index()];
                *std::ranges::find(choices, m) = choices.back();
                choices.pop_back();
            }
        }
        for (const MessageId m : round_) {
            leave(m);
            for (const LegTime& leg : legs_[m]) last_offset_[leg.link.index()] = leg.offset;
        }
    }

    const Instance& instance_;
    std::span<const Message> messages_;
    const double bonus_;  ///< for a link that is used as in the round before
    Rng& rng_;
    std::vector<Ticks> rest_;                      ///< by link: of messages that are in no round yet
    std::vector<std::vector<MessageId>> of_link_;  ///< the same messages
    std::vector<MessageId> user_;                  ///< by link: who uses it in this round
    std::vector<double> link_weight_, weight_;     ///< by link; by message
    std::vector<MessageId> left_, round_, displaced_;
    std::vector<LinkId> idle_;
    std::vector<std::vector<LegTime>> legs_;  ///< by message
    std::vector<Ticks> last_offset_;          ///< by link: when its last message used it, after its start
    std::uint64_t work_ = 0;
};

/// Messages in an order, each at the earliest tick, then as late as possible, then as early, and so on
/// (justification).
class Justified {
  public:
    Justified(const Instance& instance, std::span<const Message> messages, std::vector<MessageId> order)
        : instance_(instance), messages_(messages), order_(std::move(order)), spans_(messages.size()) {
        best_.emplace(place(Direction::Forwards));
    }

    [[nodiscard]] const MessagePlacer& placer() const { return *best_; }

    void run(const Stop& stop) {
        for (std::size_t vain = 0; vain < kVainJustifications && !stop.requested(); ++vain) {
            sort_by_end();
            (void)place(Direction::Backwards);
            sort_by_end();
            MessagePlacer placer = place(Direction::Forwards);
            if (placer.makespan() >= best_->makespan()) continue;
            best_.emplace(std::move(placer));
            vain = 0;
        }
    }

  private:
    using Direction = MessagePlacer::Direction;

    MessagePlacer place(Direction direction) {
        MessagePlacer placer(instance_, direction);
        for (const MessageId m : order_) {
            const auto& [chunk, path] = messages_[m];
            const Ticks ready = direction == Direction::Forwards ? instance_.release(chunk) : Ticks(0);
            spans_[m] = placer.place_rigid(chunk, path, ready, Op::Copy);
        }
        return placer;
    }
    /// The last one first: in the other direction of time that is the order of starts.
    void sort_by_end() {
        std::ranges::stable_sort(order_, std::ranges::greater{}, [&](MessageId m) { return spans_[m].end; });
    }

    const Instance& instance_;
    std::span<const Message> messages_;
    std::vector<MessageId> order_;
    std::vector<MessagePlacer::Span> spans_;  ///< by message
    std::optional<MessagePlacer> best_;
};

}  // namespace

std::string why_no_packed_rounds(const Instance& instance) {
    if (instance.topology().switches() == 0) return "the network has no switches";
    if (instance.chunks() == 0) return "nothing is to be sent";
    if (instance.chunks() > kMostChunks) return "there are too many chunks";
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (demand.holders.size() != 1 || demand.receivers.size() != 1)
            return "a chunk has several holders or receivers";
    }
    return {};
}

std::optional<Schedule> packed_rounds(const Instance& instance, const Stop& stop) {
    if (!why_no_packed_rounds(instance).empty()) return std::nullopt;
    const std::vector<Message> messages = routed(instance, stop);
    if (messages.empty()) return std::nullopt;
    Rng rng(1);
    std::optional<MessagePlacer> best;
    std::uint64_t work = 0;
    for (std::size_t run = 0; run < kRuns && work < kMostWork && !stop.requested(); ++run) {
        Packer packer(instance, messages, static_cast<double>(run), rng);
        std::vector<MessageId> order;
        while (order.size() < messages.size() && !stop.requested()) {
            const auto round = packer.next();
            order.insert(order.end(), round.begin(), round.end());
        }
        work += packer.work();
        if (order.size() < messages.size()) break;
        Justified justified(instance, messages, std::move(order));
        justified.run(stop);
        if (!best || justified.placer().makespan() < best->makespan()) best.emplace(justified.placer());
    }
    return best ? std::optional(best->schedule()) : std::nullopt;
}

}  // namespace tutti::heuristics

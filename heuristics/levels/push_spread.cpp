// Broadcasts of several chunks, pushed in time.
//
// Whenever a port of an NPU is free, the NPU sends one of its chunks to one of the NPUs that lack it and
// whose port is free as well: the pair with the least time, less a premium if nobody in the target's part has
// the chunk or expects it (one for each level of the cluster), plus a charge for chunks that many have and
// for targets that have much. So the first copies go far, the next ones spread near, and the root sends each
// chunk once before it sends one again. A port without such a pair sleeps until its NPU gets a chunk, or
// until the first of the targets' ports is free. It may also prefer a chunk that comes soon, or a target that
// is free soon, and wait for it: without that, an NPU is often busy with a common chunk when a rare one
// comes (16 chunks on a star of 16: 111.3 us without waiting, 108.5 with it, bound 104.4).
//
// Two things make more of the time. A push may begin like an earlier one up to some tick and choose anew from
// there on. And it races with that one: if by some tick it has sent a twelfth less, it gives up, because what
// is sent late is seldom made up for. A dragonfly of 144, four chunks, `synth --time-limit 2`: 45 ticks with
// neither, 44 with both. While the two were fitted (three seeds, other limits of effort): 46, 46, 46 with
// neither, 46, 44, 43 with races alone, 44, 45, 43 with both; so the seed still decides more than they do.
//
// What the weights should be depends on the network; a run is cheap, so the caller draws them at random some
// hundred times (broadcast.cpp). Complexity: O(messages * targets of a port * chunks) a run.

#include "heuristics/levels/push_spread.hpp"

#include "heuristics/event_queue.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tutti::heuristics {
namespace {

constexpr std::uint32_t kNoPlace = UINT32_MAX;
constexpr std::size_t kMostTries = 8;    ///< to find a target behind free links
constexpr std::int64_t kDelayUnit = 16;  ///< of PushWeights::delay
constexpr std::size_t kRivalParts = 12;  ///< a push that has sent a twelfth less than its rival gives up
constexpr std::size_t kBits = 64;        ///< items in a word

class Push {
  public:
    Push(const PushPorts& ports, std::span<const LevelItem> items, const PushWeights& weights,
         MessagePlacer& placer, Rng& rng)
        : ports_(ports),
          instance_(ports.cluster().instance()),
          items_(items),
          weights_(weights),
          placer_(placer),
          rng_(rng),
          npus_(ports.npus().size()),
          words_((items.size() + kBits - 1) / kBits),
          has_(npus_ * items.size(), Ticks::max()),
          wants_(npus_ * words_, 0),
          own_(words_, 0),
          copies_(items.size(), 0),
          riches_(npus_, 0),
          known_(ports.cluster().levels().size()),
          free_(instance_.topology().links().size()),
          wakes_at_(ports.ports().size(), Ticks::max()),
          patience_(ports.longest().count() / 64) {
        for (std::size_t level = 0; level < known_.size(); ++level)
            known_[level].resize((*std::ranges::max_element(ports.parts(level)) + 1) * items.size(),
                                 Ticks::max());
        for (std::size_t i = 0; i < items.size(); ++i) begin(i);
    }

    /// Sends the messages of another run that were chosen before `from`.
    void repeat(std::span<const Pushed> messages, Ticks from) {
        from_ = from;
        for (const Pushed& message : messages) {
            if (message.chosen >= from) break;
            const PushPorts::Pair& pair = ports_.ports()[message.port].pairs[message.pair];
            path_.clear();
            ports_.cluster().routes().append_path(pair.ends, free_, path_);
            send(message.port, pair, message.item, message.chosen, message.start);
        }
        for (std::uint32_t port = 0; port < ports_.ports().size(); ++port)
            sleep(port, std::max(from, free_[ports_.ports()[port].link.index()]));
    }

    bool run(const Stop& stop, Ticks limit) {
        std::size_t looks = 0;
        while (missing_ > 0 && !events_.empty()) {
            if (++looks % 64 == 0 && stop.requested()) return false;
            events_.pop(batch_);
            const Ticks now(batch_.front().time);
            if (now < from_) continue;  // all ports wake then
            // All chunks that come at this tick are there before any port chooses.
            for (const Event& event : batch_) {
                if (event.item != kNoPlace) wake_ports(event.at, now);
            }
            ports_now_.clear();
            for (const Event& event : batch_) {
                if (event.item == kNoPlace && wakes_at_[event.at] == now) ports_now_.push_back(event.at);
            }
            for (const std::uint32_t port : woken_) {
                if (std::ranges::find(ports_now_, port) == ports_now_.end()) ports_now_.push_back(port);
            }
            woken_.clear();
            for (const std::uint32_t port : ports_now_) choose(port, now);
            if (placer_.makespan() > limit || is_behind(now)) return false;
        }
        return missing_ == 0;
    }
    /// Gives up as soon as it is behind this run.
    void race(std::span<const Pushed> messages) { rival_ = messages; }
    [[nodiscard]] std::uint64_t work() const { return looked_at_; }
    [[nodiscard]] std::vector<Pushed> take_messages() { return std::move(pushed_); }

  private:
    /// Whether it has sent much less by now than the run that it races with.
    [[nodiscard]] bool is_behind(Ticks now) {
        while (rival_sent_ < rival_.size() && rival_[rival_sent_].chosen <= now) ++rival_sent_;
        return pushed_.size() * kRivalParts < rival_sent_ * (kRivalParts - 1);
    }

    /// An item comes to an NPU, or a port wakes.
    struct Event {
        std::int64_t time;
        std::uint32_t at;
        std::uint32_t item;  ///< kNoPlace: a port
    };

    /// A chunk for a target.
    struct Option {
        std::int64_t cost;
        std::uint32_t item;
        const PushPorts::Pair* pair;
        Ticks start;
    };

    [[nodiscard]] std::size_t cell(std::uint32_t npu, std::size_t item) const {
        return npu * items_.size() + item;
    }

    [[nodiscard]] static std::uint64_t bit(std::size_t item) { return std::uint64_t{1} << (item % kBits); }
    [[nodiscard]] std::uint64_t& word(std::uint32_t npu, std::size_t item) {
        return wants_[npu * words_ + item / kBits];
    }

    void begin(std::size_t i) {
        const LevelItem& item = items_[i];
        for (const NodeId npu : item.targets) word(ports_.place(npu), i) |= bit(i);
        for (const NodeId npu : item.sources) get(ports_.place(npu), i, item.ready);
        for (const NodeId npu : item.targets)
            missing_ += (word(ports_.place(npu), i) & bit(i)) != 0 ? 1U : 0U;
    }

    /// It is promised to the NPU, for that time.
    void get(std::uint32_t npu, std::size_t item, Ticks when) {
        has_[cell(npu, item)] = when;
        word(npu, item) &= ~bit(item);
        ++copies_[item];
        ++riches_[npu];
        for (std::size_t level = 0; level < known_.size(); ++level) {
            Ticks& known = known_[level][part(level, npu) * items_.size() + item];
            known = std::min(known, when);
        }
        events_.push({when.count(), npu, static_cast<std::uint32_t>(item)});
    }
    [[nodiscard]] std::size_t part(std::size_t level, std::uint32_t npu) const {
        return ports_.parts(level)[npu];
    }

    void wake_ports(std::uint32_t npu, Ticks now) {
        for (const std::uint32_t port : ports_.ports_of(npu)) {
            if (free_[ports_.ports()[port].link.index()] <= now) {
                woken_.push_back(port);
                wakes_at_[port] = now;
            }
        }
    }
    void sleep(std::uint32_t port, Ticks until) {
        if (until == Ticks::max()) return;
        wakes_at_[port] = until;
        events_.push({until.count(), port, kNoPlace});
    }

    void choose(std::uint32_t number, Ticks now) {
        const PushPorts::Port& port = ports_.ports()[number];
        if (free_[port.link.index()] > now) return sleep(number, free_[port.link.index()]);
        const Ticks horizon = now + Ticks(weights_.hold);
        std::ranges::fill(own_, 0);
        for (std::uint32_t i = 0; i < items_.size(); ++i) {
            if (has_[cell(port.npu, i)] <= horizon) own_[i / kBits] |= bit(i);
        }
        options_.clear();
        Ticks next = Ticks::max();
        for (const PushPorts::Pair& pair : port.pairs) {
            for (std::size_t w = 0; w < words_; ++w) {
                const std::uint64_t wanted = own_[w] & wants_[pair.to * words_ + w];
                if (wanted == 0) continue;
                const Ticks free = std::max(now, free_[pair.last.index()] - pair.lag);
                if (free <= horizon) {
                    add_options(port, pair, static_cast<std::uint32_t>(w * kBits), wanted, now, free);
                    continue;
                }
                next = std::min(next, free);
                break;
            }
        }
        looked_at_ += port.pairs.size() + options_.size();
        // The ends are free, but links between them may not be.
        for (std::size_t tries = 0; tries < kMostTries && !options_.empty(); ++tries) {
            const auto best = std::ranges::min_element(options_, {}, &Option::cost);
            const Ticks start = start_of(*best, best->start);
            if (start <= best->start + patience_) {
                send(number, *best->pair, best->item, now, best->start);
                return sleep(number, free_[port.link.index()]);
            }
            next = std::min(next, start);
            *best = options_.back();
            options_.pop_back();
        }
        sleep(number, next);
    }

    /// The items of `wanted`, the first of whose bits stands for item `first`, for one target.
    void add_options(const PushPorts::Port& port, const PushPorts::Pair& pair, std::uint32_t first,
                     std::uint64_t wanted, Ticks now, Ticks free) {
        for (; wanted != 0; wanted &= wanted - 1) {
            const std::uint32_t i = first + static_cast<std::uint32_t>(std::countr_zero(wanted));
            const Ticks start = std::max(free, has_[cell(port.npu, i)]);
            if (comes_from_nearer(port.npu, pair, i, start)) continue;
            const std::int64_t wait = weights_.delay * (start - now).count() / kDelayUnit;
            options_.push_back({cost_of(pair, i) + wait, i, &pair, start});
        }
    }

    /// Of the message, if it were placed now. Sets path_.
    Ticks start_of(const Option& option, Ticks now) {
        path_.clear();
        ports_.cluster().routes().append_path(option.pair->ends, free_, path_);
        return placer_.earliest(items_[option.item].chunk, path_, now);
    }

    /// Whether the target gets it earlier from its own part, as the weights estimate it.
    [[nodiscard]] bool comes_from_nearer(std::uint32_t npu, const PushPorts::Pair& pair, std::uint32_t item,
                                         Ticks now) const {
        for (std::size_t level = 0; level < known_.size(); ++level) {
            if (weights_.patience[level] < 0) continue;
            const std::size_t target = part(level, pair.to);
            const Ticks known = known_[level][target * items_.size() + item];
            if (known == Ticks::max() || part(level, npu) == target) continue;
            if (now + pair.ends.time > known + ports_.longest_within(level) * weights_.patience[level])
                return true;
        }
        return false;
    }

    std::int64_t cost_of(const PushPorts::Pair& pair, std::uint32_t item) {
        std::int64_t cost =
            pair.ends.time.count() + weights_.common * copies_[item] + weights_.rich * riches_[pair.to];
        for (std::size_t level = 0; level < known_.size(); ++level) {
            if (known_[level][part(level, pair.to) * items_.size() + item] == Ticks::max())
                cost -= weights_.premiums[level];
        }
        if (weights_.noise > 0)
            cost += static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(weights_.noise)));
        return cost;
    }

    /// Over path_.
    void send(std::uint32_t port, const PushPorts::Pair& pair, std::uint32_t item, Ticks chosen,
              Ticks ready) {
        const ChunkId chunk = items_[item].chunk;
        const auto span = placer_.place(chunk, path_, ready, Op::Copy);
        const auto number = static_cast<std::uint32_t>(&pair - ports_.ports()[port].pairs.data());
        pushed_.push_back({port, number, item, chosen, ready, span.end});
        // All links of the path move at the pace of the slowest.
        Ticks pace;
        for (const LinkId link : path_) pace = std::max(pace, instance_.beta(link, chunk));
        for (const LinkId link : path_) {
            const Ticks since = link == pair.last ? span.start + pair.lag : span.start;
            free_[link.index()] = std::max(free_[link.index()], since + instance_.busy(link, pace));
        }
        --missing_;
        get(pair.to, item, span.end);
    }

    const PushPorts& ports_;
    const Instance& instance_;
    std::span<const LevelItem> items_;
    const PushWeights& weights_;
    MessagePlacer& placer_;
    Rng& rng_;
    const std::size_t npus_, words_;
    std::vector<Ticks> has_;                 ///< by NPU and item: since when
    std::vector<std::uint64_t> wants_;       ///< by NPU: a bit for each item
    std::vector<std::uint64_t> own_;         ///< items that the port's NPU can send
    std::vector<std::int64_t> copies_;       ///< by item
    std::vector<std::int64_t> riches_;       ///< by NPU
    std::vector<std::vector<Ticks>> known_;  ///< by level; by part and item: since when
    std::vector<Ticks> free_;                ///< by link: about when it is free
    std::vector<Ticks> wakes_at_;            ///< by port
    std::vector<std::uint32_t> woken_, ports_now_;
    std::vector<LinkId> path_;
    std::vector<Option> options_;
    const Ticks patience_;  ///< a message may start that much later than its port is free
    EventQueue<Event> events_;
    std::vector<Event> batch_;
    std::size_t missing_ = 0;
    std::uint64_t looked_at_ = 0;
    std::vector<Pushed> pushed_;
    std::span<const Pushed> rival_;
    std::size_t rival_sent_ = 0;
    Ticks from_;  ///< nothing is chosen before
};

}  // namespace

PushPorts::PushPorts(Cluster& cluster, Direction direction, std::span<const LevelItem> items)
    : cluster_(cluster),
      place_(cluster.instance().topology().npus(), kNoPlace),
      within_(cluster.levels().size()) {
    const auto add = [&](NodeId npu) {
        if (place_[npu.index()] != kNoPlace) return;
        place_[npu.index()] = static_cast<std::uint32_t>(npus_.size());
        npus_.push_back(npu);
    };
    for (const LevelItem& item : items) {
        std::ranges::for_each(item.sources, add);
        std::ranges::for_each(item.targets, add);
    }
    for (const Partition& level : cluster.levels()) {
        parts_.emplace_back();
        for (const NodeId npu : npus_) parts_.back().push_back(level[npu.index()]);
    }
    of_.resize(npus_.size());
    for (std::uint32_t from = 0; from < npus_.size(); ++from) add_ports(from, direction);
}

void PushPorts::add_ports(std::uint32_t from, Direction direction) {
    const Instance& instance = cluster_.instance();
    const bool forwards = direction == Direction::Forwards;
    for (std::uint32_t to = 0; to < npus_.size(); ++to) {
        if (to == from) continue;
        const auto ends = forwards ? cluster_.routes().ends(npus_[from], npus_[to], {})
                                   : cluster_.routes().ends(npus_[to], npus_[from], {});
        if (!ends) continue;
        longest_ = std::max(longest_, ends->time);
        for (std::size_t level = 0; level < within_.size(); ++level) {
            const Partition& parts = cluster_.levels()[level];
            if (parts[npus_[from].index()] == parts[npus_[to].index()])
                within_[level] = std::max(within_[level], ends->time);
        }
        const LinkId first = forwards ? ends->out : ends->in;
        const LinkId last = forwards ? ends->in : ends->out;
        const Ticks pace = std::max(cluster_.routes().beta(first), cluster_.routes().beta(last));
        Ticks lag = ends->time - std::min(ends->time, instance.busy(last, pace));
        if (forwards && instance.topology().busy() == Busy::Beta) lag -= std::min(lag, instance.alpha(last));
        auto port = std::ranges::find(of_[from], first, [&](std::uint32_t p) { return ports_[p].link; });
        if (port == of_[from].end()) {
            of_[from].push_back(static_cast<std::uint32_t>(ports_.size()));
            ports_.push_back({from, first, {}});
            port = std::prev(of_[from].end());
        }
        ports_[*port].pairs.push_back({to, *ends, last, lag});
    }
}

PushWeights usual_weights(const PushPorts& ports, std::int64_t patience) {
    const std::int64_t longest = ports.longest().count();
    PushWeights weights;
    weights.common = longest / static_cast<std::int64_t>(ports.npus().size());
    weights.premiums.assign(ports.cluster().levels().size(), longest);
    weights.patience.assign(ports.cluster().levels().size(), patience == 0 ? -1 : patience);
    return weights;
}

namespace {

std::int64_t drawn(Rng& rng, std::int64_t most) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most) + 1));
}

/// One of the weights anew.
void draw(const PushPorts& ports, std::size_t which, PushWeights& weights, Rng& rng) {
    const std::int64_t longest = ports.longest().count();
    const auto npus = static_cast<std::int64_t>(ports.npus().size());
    const auto levels = static_cast<std::int64_t>(weights.premiums.size());
    switch (which) {
        case 0:
            weights.common = drawn(rng, 1) == 0 ? drawn(rng, 4 * longest / npus)
                                                : drawn(rng, (longest / npus) << drawn(rng, 6));
            break;
        case 1:
            weights.rich = drawn(rng, 1) == 0 ? 0 : drawn(rng, longest / 4);
            break;
        case 2:
            weights.noise = drawn(rng, longest / 4);
            break;
        case 3:
            weights.hold = drawn(rng, 2) > 0 ? 0 : drawn(rng, longest);
            break;
        case 4:
            weights.delay = drawn(rng, 4 * kDelayUnit);
            break;
        default:
            if (levels == 0) break;
            const auto level = static_cast<std::size_t>(drawn(rng, levels - 1));
            weights.premiums[level] = drawn(rng, 2 * longest);
            weights.patience[level] = drawn(rng, 3) == 0 ? -1 : 1 + drawn(rng, 5);
    }
}

constexpr std::size_t kKindsOfWeights = 6;

}  // namespace

PushWeights random_weights(const PushPorts& ports, Rng& rng) {
    PushWeights weights = usual_weights(ports, 0);
    for (std::size_t which = 0; which < kKindsOfWeights; ++which) draw(ports, which, weights, rng);
    for (std::size_t i = 0; i < weights.premiums.size(); ++i) {
        weights.premiums[i] = drawn(rng, 2 * ports.longest().count());
        weights.patience[i] = drawn(rng, 3) == 0 ? -1 : 1 + drawn(rng, 5);
    }
    return weights;
}

PushWeights changed_weights(const PushPorts& ports, const PushWeights& weights, Rng& rng) {
    PushWeights changed = weights;
    draw(ports, rng.below(kKindsOfWeights), changed, rng);
    return changed;
}

bool push_spread(const PushPorts& ports, std::span<const LevelItem> items, const PushWeights& weights,
                 const PushLimits& limits, MessagePlacer& placer, Rng& rng, PushResult& result) {
    Push push(ports, items, weights, placer, rng);
    if (limits.from > Ticks(0)) push.repeat(limits.rival, limits.from);
    push.race(limits.rival);
    const bool done = push.run(limits.stop, limits.makespan);
    result.work += push.work();
    if (done) result.messages = push.take_messages();
    return done;
}

}  // namespace tutti::heuristics

// Sends of alpha 0 between cut-through switches enter and leave at one tick, so the order in which they are
// processed matters: a switch must know everything that is due before it can pair inbound and onward sends.
// First, sends out of switches to which everything has come are taken, repeatedly. The remaining ones wait in
// cycles of switches. There the pairs are computed in advance, from the link numbers alone, and each send
// then waits only for the inbound sends that it forwards itself. So two paths of one chunk may pass each
// other between two switches at one tick. A send that forwards nothing, because others forward all that is
// due, waits for none. A path that closes to a cycle has nothing to forward: its sends, and those that wait
// for them, are taken last, all together.

#include "verify/cut_through_order.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace tutti::verify {
namespace {

class CutThroughOrder {
  public:
    CutThroughOrder(std::span<const NumberedSend> sends, const Instance& instance,
                    const CutThroughTaking& taking)
        : sends_(sends),
          instance_(instance),
          topology_(instance.topology()),
          taking_(taking),
          taken_(sends.size(), false) {}

    void run() {
        take_complete();
        if (std::ranges::find(taken_, false) == taken_.end()) return;
        pair_up();
        take_pairs();
        take_cycles();
    }

  private:
    using Place = std::uint64_t;  ///< a node and a chunk
    static constexpr std::size_t kLast = SIZE_MAX;
    /// A place to which sends of this tick come at once.
    struct Fed {
        Place place;
        std::size_t feeding;          ///< so many have not entered
        std::size_t blocked = kLast;  ///< the first send out of it
    };
    struct Inbound {
        DueInbound due;
        std::size_t missing = 0;            ///< sends of it that have not entered
        std::vector<std::size_t> onward{};  ///< the sends that forward it
        bool is_ready = false;
    };

    [[nodiscard]] static Place at(NodeId node, ChunkId chunk) {
        return (std::uint64_t{node.value()} << 32) | chunk.value();
    }
    [[nodiscard]] const Link& link(std::size_t i) const { return topology_.link(sends_[i].send.link); }
    [[nodiscard]] Place source(std::size_t i) const { return at(link(i).src, sends_[i].send.chunk); }
    [[nodiscard]] Place destination(std::size_t i) const { return at(link(i).dst, sends_[i].send.chunk); }
    [[nodiscard]] bool feeds_at_once(std::size_t i) const {
        return topology_.is_cut_through(link(i).dst) && instance_.alpha(sends_[i].send.link) == Ticks(0);
    }
    void take(std::size_t i, const Forwards& forwards) {
        taken_[i] = true;
        taking_.take(sends_[i], forwards);
    }

    void take_complete() {
        std::vector<Fed> fed;
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            if (feeds_at_once(i)) fed.push_back({destination(i), 1});
        }
        // Tables that are made anew each tick would take most of the time here.
        std::ranges::sort(fed, {}, &Fed::place);
        std::size_t places = 0;
        for (const Fed& one : fed) {
            if (places > 0 && fed[places - 1].place == one.place) {
                ++fed[places - 1].feeding;
            } else {
                fed[places++] = one;
            }
        }
        fed.resize(places);
        const auto find = [&](Place place) {
            const auto found = std::ranges::lower_bound(fed, place, {}, &Fed::place);
            return found != fed.end() && found->place == place ? &*found : nullptr;
        };
        std::vector<std::size_t> ready, after(sends_.size(), kLast);  // of one place, in order
        ready.reserve(sends_.size());
        for (std::size_t i = sends_.size(); i-- > 0;) {
            if (Fed* const place = find(source(i))) after[i] = std::exchange(place->blocked, i);
        }
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            if (find(source(i)) == nullptr) ready.push_back(i);
        }
        for (std::size_t next = 0; next < ready.size(); ++next) {
            const std::size_t i = ready[next];
            take(i, {Forwards::First});
            if (!feeds_at_once(i)) continue;
            Fed& place = *find(destination(i));
            if (--place.feeding > 0) continue;
            for (std::size_t freed = place.blocked; freed != kLast; freed = after[freed])
                ready.push_back(freed);
        }
    }

    /// At each remaining switch the k-th onward send forwards the k-th inbound.
    void pair_up() {
        std::map<Place, std::vector<std::size_t>> onward;
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            if (!taken_[i]) onward[source(i)].push_back(i);
        }
        for (const auto& [place, out] : onward) {
            for (const DueInbound& due : taking_.due(link(out.front()).src, sends_[out.front()].send.chunk))
                inbounds_[place].push_back({due});
        }
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            if (!taken_[i] && feeds_at_once(i) && onward.contains(destination(i))) expect(i);
        }
        for (const auto& [place, out] : onward) {
            auto& in = inbounds_[place];
            std::ranges::stable_sort(in, {}, [](const Inbound& inbound) { return inbound.due.link; });
            const bool copies = topology_.rule(link(out.front()).src).copy;
            for (std::size_t k = 0; k < out.size(); ++k) {
                if (k < in.size() || (copies && !in.empty())) {
                    in[std::min(k, in.size() - 1)].onward.push_back(out[k]);
                } else {
                    unpaired_.push_back(out[k]);
                }
            }
        }
    }

    /// A send that has yet to enter.
    void expect(std::size_t i) {
        const Send& send = sends_[i].send;
        auto& in = inbounds_[destination(i)];
        auto place = in.end();
        if (adds(i)) place = std::ranges::find_if(in, [](const Inbound& other) { return other.due.adds; });
        if (place == in.end()) place = in.insert(in.end(), Inbound{{send.link, sends_[i].position, adds(i)}});
        place->due.link = std::min(place->due.link, send.link);
        ++place->missing;
    }

    /// Whether it is added to what else is due then.
    [[nodiscard]] bool adds(std::size_t i) const {
        return sends_[i].send.op == Op::Reduce && topology_.rule(link(i).dst).reduce;
    }

    void take_pairs() {
        for (auto& [place, in] : inbounds_) {
            for (Inbound& inbound : in) {
                if (inbound.missing == 0) ready_.push_back(&inbound);
            }
        }
        for (const std::size_t i : unpaired_) {
            take(i, {Forwards::Nothing});
            has_entered(i);
        }
        while (!ready_.empty()) {
            Inbound& inbound = *ready_.back();
            ready_.pop_back();
            inbound.is_ready = true;
            for (const std::size_t i : inbound.onward) {
                take(i, {Forwards::This, inbound.due});
                has_entered(i);
            }
        }
    }

    void has_entered(std::size_t i) {
        if (!feeds_at_once(i)) return;
        const auto place = inbounds_.find(destination(i));
        if (place == inbounds_.end()) return;
        const auto entered = std::ranges::find_if(place->second, [&](const Inbound& inbound) {
            return adds(i) ? inbound.due.adds
                           : inbound.missing > 0 && inbound.due.position == sends_[i].position;
        });
        if (--entered->missing == 0) ready_.push_back(&*entered);
    }

    void take_cycles() {
        std::vector<WaitingSend> waiting;
        for (const auto& [place, in] : inbounds_) {
            for (const Inbound& inbound : in) {
                if (inbound.is_ready) continue;
                for (const std::size_t i : inbound.onward) waiting.push_back({sends_[i], inbound.due});
            }
        }
        if (!waiting.empty()) taking_.take_waiting_forever(waiting);
    }

    const std::span<const NumberedSend> sends_;
    const Instance& instance_;
    const Topology& topology_;
    const CutThroughTaking& taking_;
    std::vector<bool> taken_;
    std::map<Place, std::vector<Inbound>> inbounds_;
    std::vector<Inbound*> ready_;
    std::vector<std::size_t> unpaired_;
};

}  // namespace

void take_in_cut_through_order(std::span<const NumberedSend> sends, const Instance& instance,
                               const CutThroughTaking& taking) {
    CutThroughOrder(sends, instance, taking).run();
}

}  // namespace tutti::verify

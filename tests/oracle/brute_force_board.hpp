#pragma once

#include "tests/oracle/brute_force.hpp"

#include <limits>
#include <string>
#include <vector>

namespace tutti::oracle {

// What tests/oracle/brute_force.cpp plays with: the state of the network between two ticks, and what can be
// said of it. The rules D1 to D5 are explained there.

using Value = std::uint16_t;  ///< one bit per contribution
constexpr int kNever = std::numeric_limits<int>::max() / 4;

struct Flight {
    int arrival = 0;
    std::size_t link = 0, chunk = 0;
    Value value = 0;
    bool hasty = false;    ///< could have started one tick earlier, as far as its source and link go (D5)
    std::size_t send = 0;  ///< its place in the schedule
};

/// A send on its way through cut-through switches: its link must stay free for the slowest onward send.
struct Leg {
    std::size_t link = 0;
    int start = 0;
    int next = kNever;  ///< the next start on that link
};

/// What is due onward at a cut-through switch.
struct Passage {
    int due = 0;
    std::size_t link = 0, chunk = 0;
    Value value = 0;
    int pace = 0;
    std::vector<Leg> legs;
    std::size_t send = 0;
};

/// Passages of one chunk that count as one inbound send.
struct Inbound {
    Value value = 0;
    int pace = 0;
    std::vector<Leg> legs;
};

struct Queue {
    std::vector<Value> waiting;  ///< oldest first
    std::size_t fresh = 0;       ///< how many of them came at this tick
    Value left = 0;              ///< the copy that left last, if it may be sent again
    bool settled = false;        ///< `left` was there before this tick
};

struct Place {
    Value value = 0;
    bool changed = false;  ///< at this tick
    bool unread = false;   ///< since something arrived
    bool sent = false;     ///< at this tick
};

struct State {
    std::vector<Place> places;  ///< per NPU and chunk
    std::vector<Queue> queues;  ///< per switch and chunk
    std::vector<int> free_at;   ///< per link
    std::vector<Flight> flights;
    std::vector<Passage> passages;
};

struct Wire {
    std::size_t src = 0, dst = 0;
    int alpha = 0;
};

/// A tiny instance, unpacked, and what holds of a state on it when everything must end by `limit_`.
class Board {
  protected:
    Board(const Instance& instance, Shortcuts shortcuts);

    // Facts of the instance.
    [[nodiscard]] bool is_npu(std::size_t node) const { return node < npus_; }
    [[nodiscard]] const SwitchRule& rule(std::size_t node) const { return rules_[node - npus_]; }
    [[nodiscard]] bool cuts(std::size_t node) const { return !is_npu(node) && rule(node).cut_through; }
    [[nodiscard]] int beta(std::size_t link, std::size_t chunk) const {
        return beta_[link * chunks_ + chunk];
    }
    [[nodiscard]] int distance(std::size_t chunk, std::size_t from, std::size_t to) const {
        return distance_[(chunk * nodes_ + from) * nodes_ + to];
    }
    [[nodiscard]] int busy(std::size_t link, int pace) const {
        return one_in_flight_ ? wires_[link].alpha + pace : pace;
    }
    void measure_distances();
    void order_switches();

    // Facts of a state.
    [[nodiscard]] Place& place(State& state, std::size_t npu, std::size_t chunk) const {
        return state.places[npu * chunks_ + chunk];
    }
    [[nodiscard]] const Place& place(const State& state, std::size_t npu, std::size_t chunk) const {
        return state.places[npu * chunks_ + chunk];
    }
    [[nodiscard]] Queue& queue(State& state, std::size_t node, std::size_t chunk) const {
        return state.queues[(node - npus_) * chunks_ + chunk];
    }
    [[nodiscard]] const Queue& queue(const State& state, std::size_t node, std::size_t chunk) const {
        return state.queues[(node - npus_) * chunks_ + chunk];
    }
    [[nodiscard]] bool flies_to(const State& state, std::size_t node, std::size_t chunk) const;
    [[nodiscard]] bool is_done(const State& state, int now) const;
    /// What the NPU itself is still to get at its release; it needs no transfer for that.
    [[nodiscard]] Value pending(std::size_t npu, std::size_t chunk, int now) const;
    [[nodiscard]] bool is_hopeless(const State& state, int now) const;
    [[nodiscard]] bool is_too_far(const State& state, int now, std::size_t chunk) const;
    [[nodiscard]] bool is_crammed(const State& state, int now, std::size_t npu) const;
    [[nodiscard]] bool is_choked(const State& state, int now, std::size_t npu) const;
    [[nodiscard]] bool must_leave(const State& state, std::size_t npu, std::size_t chunk) const;
    /// How many transfers the links out of (or into) an NPU can still carry.
    [[nodiscard]] int room(const State& state, int now, std::size_t npu, std::size_t Wire::*end) const;
    [[nodiscard]] bool has_too_many_copies(const State& state, std::size_t chunk) const;
    [[nodiscard]] bool buffers_hold(const State& state) const;
    [[nodiscard]] bool is_in_time(const State& state, std::size_t link, std::size_t chunk, int now,
                                  int pace) const;
    [[nodiscard]] bool gets_it(const State& state, std::size_t npu, std::size_t chunk) const;
    [[nodiscard]] bool is_wasteful(const State& state, std::size_t link, std::size_t chunk) const;
    [[nodiscard]] bool could_be_earlier(const State& state, std::size_t link, std::size_t chunk,
                                        int now) const;
    [[nodiscard]] std::string key(const State& state, int now) const;

    std::size_t npus_, nodes_, chunks_;
    bool one_in_flight_;
    std::vector<SwitchRule> rules_;
    std::vector<Wire> wires_;
    std::vector<int> beta_;
    std::vector<bool> allowed_;  ///< per link and chunk: both ends may carry it
    std::vector<int> distance_;  ///< per chunk and two nodes; a lower bound
    std::vector<std::vector<std::size_t>> receivers_;
    std::vector<std::vector<std::size_t>> holders_;
    std::vector<Value> all_;  ///< per chunk
    std::vector<bool> reduction_;
    std::vector<int> release_;  ///< the first of all holders
    struct Late {
        int release = 0;
        std::size_t npu = 0, chunk = 0;
        Value value = 0;
    };
    std::vector<Late> late_;                  ///< the holders that are later
    std::vector<std::size_t> storing_links_;  ///< links out of NPUs and storing switches, in order
    std::vector<std::size_t> crossbars_;      ///< cut-through switches, so that latency 0 leads only forwards
    State initial_;

    bool dominance_;  ///< D2 to D5
    int limit_ = 0;
};

}  // namespace tutti::oracle

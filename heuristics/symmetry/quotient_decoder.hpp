#pragma once

#include "heuristics/symmetry/quotient_network.hpp"

#include <limits>
#include <span>

namespace tutti::heuristics {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// How ties between machines and between candidates are broken, besides the priorities.
struct Style {
    bool slow_first = false;   ///< else faster machines choose first
    bool fresh_first = false;  ///< machines open new parts of the network before they fill others
};

/// Decodes priorities to a flood: a free machine takes, among the unclaimed places adjacent to one that has
/// the chunk, the one with the highest priority for that machine.
class Decoder {
  public:
    /// Both must outlive it.
    Decoder(const QuotientNetwork& network, const std::vector<std::uint32_t>& roots);

    /// Whether there are several parts, so that Style::fresh_first has an effect.
    [[nodiscard]] bool has_parts() const { return part_.size() > 1; }

    [[nodiscard]] std::size_t keys() const { return machines_.size() * claimed_.size(); }
    [[nodiscard]] std::size_t transfers() const { return claimed_.size(); }

    /// Decodes; an empty span of priorities means first in, first out. Nothing arrives after `deadline`.
    /// Returns how many places are not reached.
    std::size_t run(std::span<const std::uint32_t> keys, Style style, std::int64_t deadline);

    [[nodiscard]] std::int64_t makespan() const { return makespan_; }
    /// Of the last run.
    [[nodiscard]] QuotientFlood flood() const;

  private:
    struct Candidate {
        std::uint32_t key, spread, tail;
    };
    struct Move {
        std::uint32_t spread, tail, head;
        std::int64_t start;
    };
    struct Machine {
        std::int64_t transit = 0, busy = 0, free_at = 0;
        std::vector<Candidate> frontier;  ///< a heap by key, or a queue from `first`
        std::vector<Candidate> stale;     ///< a heap of those in parts that are open already
        std::size_t speed = 0;            ///< the number of its part_
        std::size_t first = 0;
        std::vector<Move> moves;
        std::size_t arrived = 0;
    };
    static bool lower(const Candidate& a, const Candidate& b) { return a.key < b.key; }

    void find_parts();
    void arrive(std::uint32_t spread, std::uint32_t place, std::span<const std::uint32_t> keys);
    bool serve(std::uint32_t m, std::int64_t now, bool queue);
    bool take(std::uint32_t m, std::int64_t now, const Candidate& candidate);
    [[nodiscard]] bool is_fresh(std::size_t speed, std::size_t spread, std::uint32_t place) const {
        return open_[(speed * roots_.size() + spread) * places_ + part_[speed][place]] != round_;
    }
    void open(std::size_t spread, std::uint32_t place) {
        for (std::size_t speed = 0; speed < part_.size(); ++speed)
            open_[(speed * roots_.size() + spread) * places_ + part_[speed][place]] = round_;
    }

    const QuotientNetwork& network_;
    const std::vector<std::uint32_t>& roots_;
    const std::size_t places_;
    std::vector<Machine> machines_;
    std::vector<std::vector<std::uint32_t>> leaving_;  ///< machines by orbit
    std::vector<std::uint32_t> claimed_;               ///< the round in which it was
    std::vector<std::uint32_t> order_;
    std::vector<std::vector<std::uint32_t>> part_;  ///< by speed, place: joined by what is faster
    std::vector<std::uint32_t> open_;               ///< by speed, spread, part: the round in which it was
    bool fresh_first_ = false;
    std::uint32_t round_ = 0;
    std::int64_t makespan_ = 0;
};

}  // namespace tutti::heuristics

#pragma once

#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "heuristics/exchange/message_graph.hpp"
#include "heuristics/exchange/rank_orders.hpp"
#include "heuristics/exchange/rounds.hpp"
#include "heuristics/exchange/sum_trees.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::heuristics {

/// An instance as the textbook algorithms see it: which NPUs can send to each other, sets of members with
/// their chunks, and the orders and levels of the members. Made once, used by all of them.
class Exchanges {
  public:
    /// The chunks with the same holders and receivers.
    struct Set {
        std::vector<NodeId> members;  ///< holders and receivers, in order
        std::vector<ChunkId> chunks = {};
        std::vector<NodeId> roots = {};  ///< by chunk: a member
        std::vector<std::vector<NodeId>> orders =
            {};  ///< of the members: near partners first, then by number
        /// Orders of all NPUs that may carry the chunks, where there are more of them and no switches.
        std::vector<std::vector<NodeId>> wide_orders = {};
        std::vector<Parts> levels = {};  ///< partitions of the members
    };

    /// Precondition: why_not(instance) is empty. The instance must outlive this.
    Exchanges(const Instance& instance, const Stop& stop);

    /// Why the instance cannot be looked at in this way; empty if it can.
    [[nodiscard]] static std::string why_not(const Instance& instance);

    [[nodiscard]] const Instance& instance() const { return graph_.instance(); }
    [[nodiscard]] const MessageGraph& graph() const { return graph_; }
    [[nodiscard]] const std::vector<Set>& sets() const { return sets_; }
    /// Whether every chunk is a reduction.
    [[nodiscard]] bool are_sums() const { return are_sums_; }
    /// The largest schedule that is tried, in messages, and how many messages all tries of an algorithm may
    /// have.
    static constexpr std::size_t kMostMessages = std::size_t{1} << 20;
    static constexpr std::size_t kMostWork = std::size_t{1} << 19;
    /// The messages of all trees together, about.
    [[nodiscard]] std::size_t tree_messages() const { return tree_messages_; }

  private:
    void add_orders(Set& set, const Stop& stop) const;

    MessageGraph graph_;
    std::vector<Set> sets_;
    bool are_sums_ = true;
    std::size_t tree_messages_ = 0;
};

/// When an algorithm stops: all its tries when its turn is over, but the first one, which promises most, may
/// go on for longer. An algorithm that is stopped within its first try has been tried in vain.
struct ExchangeTurn {
    ExchangeTurn() = default;
    ExchangeTurn(const Stop& stop) : all(stop), first(stop) {}
    ExchangeTurn(const Stop& stop, const Stop& longer) : all(stop), first(longer) {}
    Stop all, first;
};

/// The textbook algorithms. Each tries several orders of the ranks and of the messages, and returns the best
/// schedule; it stops at `target`. None: the network lacks the links, or the time was over first.
using ExchangeFunction = std::optional<Schedule>(const Exchanges&, Ticks target, const ExchangeTurn&);
ExchangeFunction recursive_doubling, recursive_multiplying, all_pairs, folded_exchange;
/// Dimension by dimension of a torus, a mesh or a hypercube.
ExchangeFunction dimension_exchange;
/// Sums and copies by switches.
ExchangeFunction switch_sums;
/// Trees that are grown, and improved by local search.
ExchangeFunction grown_trees;
ExchangeFunction halving_doubling, direct_exchange, two_way_ring, double_trees, two_level_trees;

/// What the best try of an algorithm takes, about; the largest number if that is not known.
using ExchangeEstimate = Ticks(const Exchanges&);
ExchangeEstimate estimate_doubling, estimate_multiplying, estimate_pairs, estimate_folded;
ExchangeEstimate estimate_dimensions;
ExchangeEstimate estimate_halving, estimate_direct, estimate_ring, estimate_double_trees, estimate_two_levels;

/// Why an algorithm that works in rounds, or along trees, does not apply; empty if it may.
[[nodiscard]] std::string why_no_rounds(const Instance& instance);
[[nodiscard]] std::string why_no_sum_trees(const Instance& instance);
[[nodiscard]] std::string why_no_switch_sums(const Instance& instance);

}  // namespace tutti::heuristics

// Starts the local search on orders of messages from every plan of two_levels, and goes on with the best.

#include "heuristics/levels/message_orders.hpp"

#include "heuristics/levels/order_search.hpp"
#include "heuristics/levels/two_levels.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

using Direction = MessagePlacer::Direction;
constexpr std::size_t kMostMessages = 20'000;
/// Longer plans are left as they are, so that no sum of their times can overflow.
constexpr Ticks kLongest{std::int64_t{1} << 44};
constexpr std::uint64_t kUsualWork = 12'000'000;  ///< messages placed by the heuristic alone
/// Each plan first gets an equal part of this share of the time, and of the work divided by this.
constexpr double kFirstTurns = 0.25;
constexpr std::uint64_t kFirstWork = 4;

}  // namespace

std::string why_no_message_orders(const Instance& instance) {
    if (std::string why = why_no_crossbar_rounds(instance); !why.empty()) return why;
    std::size_t messages = 0;
    bool sums = false, plain = false;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        const bool is_sum = demand.reduction && demand.holders.size() > 1;
        if (is_sum && demand.receivers.size() > 1) return "a sum has several receivers";
        (is_sum ? sums : plain) = true;
        messages += is_sum ? demand.holders.size() : demand.receivers.size();
    }
    if (sums && plain) return "there are sums and plain chunks";
    if (messages > kMostMessages) return "there are too many messages";
    return {};
}

struct MessageOrders::State {
    State(const Instance& instance, std::uint64_t seed) : routes(instance, ChunkId(0)), rng(seed) {}
    MessageRoutes routes;
    Rng rng;
    Direction direction = Direction::Forwards;
    Ticks later{0};  ///< of sums: the last release
    std::vector<std::unique_ptr<OrderSearch>> searches;
    bool is_first = true;
};

MessageOrders::MessageOrders(const Instance& instance, std::uint64_t seed, const Stop& stop) {
    if (!why_no_message_orders(instance).empty()) return;
    const std::vector<MessagePlacer> plans = spread_plans(instance, stop);
    if (plans.empty()) return;
    state_ = std::make_unique<State>(instance, seed);
    const Demand first = instance.demand(ChunkId(0));
    if (first.reduction && first.holders.size() > 1) state_->direction = Direction::Backwards;
    for (std::size_t c = 0; state_->direction == Direction::Backwards && c < instance.chunks(); ++c)
        state_->later = std::max(state_->later, instance.last_release(ChunkId(c)));
    for (const MessagePlacer& plan : plans) {
        if (plan.makespan() > kLongest) continue;
        state_->searches.push_back(
            std::make_unique<OrderSearch>(instance, state_->routes, plan, state_->direction, state_->rng));
    }
    if (state_->searches.empty()) state_.reset();
}
MessageOrders::~MessageOrders() = default;

void MessageOrders::improve(Ticks target, std::uint64_t work, const Stop& stop) {
    if (!state_) return;
    const OrderSearch::Time goal = (target - std::min(target, state_->later)).count();
    auto& searches = state_->searches;
    for (const auto& search : searches) {
        if (!state_->is_first) break;
        const auto time = stop.remaining();
        const double share = kFirstTurns / static_cast<double>(searches.size());
        search->run(goal, work == UINT64_MAX ? work : work / kFirstWork / searches.size(),
                    time ? stop.within(*time * share) : stop);
    }
    state_->is_first = false;
    std::ranges::stable_sort(searches, {}, [](const auto& search) { return search->makespan(); });
    searches.front()->run(goal, work, stop);
}

std::optional<Schedule> MessageOrders::schedule() const {
    if (!state_) return std::nullopt;
    const MessagePlacer placed = state_->searches.front()->placed();
    return state_->direction == Direction::Backwards ? placed.mirrored(state_->later).schedule()
                                                     : placed.schedule();
}

std::optional<Schedule> message_orders(const Instance& instance, const Stop& stop) {
    MessageOrders orders(instance, 1, stop);
    orders.improve(Ticks(0), kUsualWork, stop);
    return orders.schedule();
}

}  // namespace tutti::heuristics

#include "run/wires.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace tutti::run {
namespace {

constexpr TaskGraph::TaskId kNobodyTold = std::numeric_limits<TaskGraph::TaskId>::max();

}  // namespace

Wires::CallId Wires::add(const NetworkCall& call) {
    const auto id = static_cast<CallId>(first_.size());
    const auto ranks = static_cast<std::size_t>(mesh_.ranks());
    first_.emplace_back(ranks);
    expects_.emplace_back(ranks, 1);
    told_.emplace_back(ranks, kNobodyTold);
    if (call.instance != nullptr) add_messages(call, id);
    return id;
}

void Wires::add_messages(const NetworkCall& call, CallId id) {
    const Instance& instance = *call.instance;
    std::map<NodeId, std::int64_t> rank_on;
    for (std::int64_t rank = 0; rank < mesh_.ranks(); ++rank) rank_on[NodeId(mesh_.device(rank))] = rank;
    std::vector<Send> sends = call.schedule->sends;
    std::ranges::stable_sort(sends, starts_before);
    // By chunk and node: what brings the chunk there, and when it may go on.
    std::map<std::pair<ChunkId, NodeId>, std::vector<std::pair<Ticks, std::uint32_t>>> brought;
    for (const Send& send : sends) {
        const Link& link = topology_.link(send.link);
        const auto number = static_cast<std::uint32_t>(messages_.size());
        const auto to = rank_on.find(link.dst);
        messages_.push_back({.link = send.link,
                             .alpha = link.wire.alpha,
                             .beta = instance.beta(send.link, send.chunk),
                             .to = to == rank_on.end() ? -1 : to->second,
                             .call = id,
                             .passes = topology_.is_cut_through(link.dst)});
        behind_.emplace_back();
        Message& message = messages_.back();
        if (message.to >= 0) ++expects_[id][static_cast<std::size_t>(message.to)];
        for (const auto& [time, before] : brought[{send.chunk, link.src}]) {
            if (time > send.start) continue;
            behind_[before].push_back(number);
            ++message.waits;
        }
        const std::span<const NodeId> holders = instance.demand(send.chunk).holders;
        const auto from = rank_on.find(link.src);
        if (from != rank_on.end() && std::ranges::binary_search(holders, link.src)) {
            first_[id][static_cast<std::size_t>(from->second)].push_back(number);
            ++message.waits;
        }
        const Ticks passing = message.passes ? message.alpha : message.alpha + message.beta;
        brought[{send.chunk, link.dst}].emplace_back(send.start + passing, number);
    }
}

void Wires::reset() {
    const std::lock_guard lock(mutex_);
    start_ = std::chrono::steady_clock::now();
    events_ = {};
    free_.assign(topology_.links().size(), Ticks(0));
    waits_.clear();
    for (const Message& message : messages_) waits_.push_back(message.waits);
    missing_ = expects_;
}

Ticks Wires::now() const {
    const auto passed = std::chrono::steady_clock::now() - start_;
    return Ticks(std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count() * 1000);
}

void Wires::ready(CallId call, std::int64_t rank) {
    {
        const std::lock_guard lock(mutex_);
        const Ticks time = now();
        for (const std::uint32_t message : first_[call][static_cast<std::size_t>(rank)]) {
            if (--waits_[message] == 0) events_.push({time, false, message});
        }
        arrive_at(call, rank);
    }
    (void)poll();
    run_->wake_all();  // the next event may be sooner than what they sleep for
}

void Wires::arrive_at(CallId call, std::int64_t rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (--missing_[call][at] == 0 && told_[call][at] != kNobodyTold) due_.push_back(told_[call][at]);
}

/// Messages start on their links in the order in which they could.
void Wires::advance(Ticks now) {
    while (!events_.empty() && events_.top().time <= now) {
        const Event event = events_.top();
        events_.pop();
        const Message& message = messages_[event.message];
        if (!event.arrives) {
            Ticks& free = free_[message.link.index()];
            const Ticks start = std::max(event.time, free);
            free = start + (topology_.busy() == Busy::Beta ? message.beta : message.alpha + message.beta);
            events_.push(
                {start + message.alpha + (message.passes ? Ticks(0) : message.beta), true, event.message});
            continue;
        }
        for (const std::uint32_t next : behind_[event.message]) {
            if (--waits_[next] == 0) events_.push({event.time, false, next});
        }
        if (message.to >= 0) arrive_at(message.call, message.to);
    }
}

std::optional<TaskClock::Time> Wires::poll() {
    std::vector<TaskGraph::TaskId> due;
    std::optional<Time> next;
    {
        const std::lock_guard lock(mutex_);
        advance(now());
        due.swap(due_);
        if (!events_.empty())
            next = start_ + std::chrono::nanoseconds((events_.top().time.count() + 999) / 1000);
    }
    for (const TaskGraph::TaskId task : due) run_->signal(task);
    return next;
}

}  // namespace tutti::run

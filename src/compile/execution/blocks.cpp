#include "compile/execution/draft.hpp"

#include <algorithm>
#include <map>

// Lanes. Chunks know nothing of each other, so each unit is given to a lane, and every rank does the events
// of a lane in order of time: what arrives is waited for, added or copied, what leaves is put and signalled.
// Time itself orders all waits after their signals, so nothing can hang. A lane of a rank is one thread
// block, or several that follow each other by semaphores where it has more messages than a thread block can
// have.
//
// Threads. A thread block's threads wait for each other only at a nop: one stands between a wait (or acquire)
// and the data operations behind it, and between data operations and the signal (or release) behind them.
// Operations of one unit use equal ranges, those of different units different memory, so no other nops are
// needed.

namespace tutti::compile::execution {
namespace {

using Kind = Task::Kind;

/// What one rank does for one lane.
class Writer {
  public:
    Writer(Draft& draft, std::uint32_t rank) : draft_(draft), rank_(rank) {}

    void receive(std::uint32_t message, std::optional<Task> then, bool at_the_end) {
        flush_sends();
        make_room();
        if (full(waits_, draft_.part.messages[message].from, true)) flush_receives();
        waits_.push_back(message);
        draft_.receiver[message] = block_;
        if (!then) return;
        if (at_the_end) {
            block().at_the_end.push_back(std::move(*then));
        } else {
            after_waits_.push_back(std::move(*then));
        }
    }

    void send(std::uint32_t message, const Spot& from, std::int64_t count) {
        flush_receives();
        make_room();
        if (full(signals_, draft_.part.messages[message].to, false)) flush_sends();
        draft_.sender[message] = block_;
        Task put{Kind::Put, {message}, from, {}, draft_.landings[message].spot, count, {}};
        if (draft_.channel == plan::ChannelType::Port) {
            // The proxy puts and signals, in order with all waits; only the threads' own work must be done.
            if (moved_) fence();
            block().tasks.push_back(std::move(put));
            return;
        }
        data(std::move(put));
        signals_.push_back(message);
    }

    void finish() {
        flush_receives();
        flush_sends();
    }

  private:
    Block& block() { return draft_.blocks[block_]; }
    void fence() {
        block().tasks.push_back({Kind::Nop, {}, {}, {}, {}, 0, {}});
        waited_ = moved_ = false;
    }
    void data(Task task) {
        if (waited_) fence();
        moved_ = true;
        block().tasks.push_back(std::move(task));
    }
    /// Signals and waits take each channel once, and messages from or to different ranks have different
    /// channels.
    [[nodiscard]] bool full(const std::vector<std::uint32_t>& list, std::uint32_t peer, bool arrive) const {
        return list.size() == kMostChannelsOfOperation ||
               std::ranges::any_of(list, [&](std::uint32_t message) {
                   const RankMessage& other = draft_.part.messages[message];
                   return (arrive ? other.from : other.to) == peer;
               });
    }

    void flush_receives() {
        if (waits_.empty()) return;
        block().tasks.push_back({Kind::Wait, std::move(waits_), {}, {}, {}, 0, {}});
        waits_.clear();
        waited_ = true;
        for (Task& task : after_waits_) data(std::move(task));
        after_waits_.clear();
    }
    void flush_sends() {
        if (signals_.empty()) return;
        fence();
        block().tasks.push_back({Kind::Signal, std::move(signals_), {}, {}, {}, 0, {}});
        signals_.clear();
    }

    /// One more message: in this block, or in one that goes on where this one ends.
    void make_room() {
        if (block_ == kNone) {
            open();
        } else if (block().messages == kMostMessages) {
            finish();
            if (moved_ || waited_) fence();
            const auto semaphore = plan::id_of<plan::SemaphoreId>(draft_.semaphores[rank_]++);
            block().tasks.push_back({Kind::Release, {}, {}, {}, {}, 0, semaphore});
            open();
            block().tasks.push_back({Kind::Acquire, {}, {}, {}, {}, 0, semaphore});
            waited_ = true;
        }
        ++block().messages;
    }
    void open() {
        block_ = static_cast<std::uint32_t>(draft_.blocks.size());
        draft_.blocks.push_back({rank_, {}, 0, {}});
        waited_ = moved_ = false;
    }

    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    Draft& draft_;
    std::uint32_t rank_;
    std::uint32_t block_ = kNone;
    std::vector<std::uint32_t> waits_, signals_;
    std::vector<Task> after_waits_;
    bool waited_ = false;  ///< since the last nop
    bool moved_ = false;   ///< data, by threads, since the last nop
};

class Lane {
  public:
    explicit Lane(Draft& draft) : draft_(draft) {}

    void add(std::uint32_t unit) {
        for (const std::uint32_t message : draft_.units[unit].messages) {
            messages_.push_back(draft_.part.messages[message]);
            numbers_.push_back(message);
            units_.push_back(unit);
        }
    }

    void run() {
        for (const Event& event : events_of(messages_)) {
            const Unit& unit = draft_.units[units_[event.message]];
            const std::uint32_t number = numbers_[event.message];
            event.arrives ? arrive(unit, units_[event.message], number)
                          : leave(unit, units_[event.message], number);
        }
        for (auto& [rank, writer] : writers_) writer.finish();
    }

  private:
    Writer& writer(std::uint32_t rank) { return writers_.try_emplace(rank, draft_, rank).first->second; }

    /// Where the rank has its value of the unit now.
    std::optional<Spot>& now(std::uint32_t rank, std::uint32_t unit) {
        const auto [at, fresh] = now_.try_emplace({rank, unit});
        if (fresh) at->second = draft_.start(rank, draft_.units[unit].first);
        return at->second;
    }

    void leave(const Unit& unit, std::uint32_t number, std::uint32_t message) {
        const std::uint32_t rank = draft_.part.messages[message].from;
        writer(rank).send(message, *now(rank, number), unit.count);
    }

    void arrive(const Unit& unit, std::uint32_t number, std::uint32_t message) {
        const RankMessage& of = draft_.part.messages[message];
        const Landing& landing = draft_.landings[message];
        const auto home = draft_.end(of.to, unit.first);
        std::optional<Spot>& value = now(of.to, number);
        if (landing.direct || (of.op == Op::Copy && !home)) {
            value = landing.spot;
            return writer(of.to).receive(message, std::nullopt, false);
        }
        if (of.op == Op::Copy) {
            // Where all must be read before anything is written, others are sent it from where it landed.
            value = draft_.shares_places() ? landing.spot : *home;
            return writer(of.to).receive(message,
                                         Task{Kind::Copy, {}, landing.spot, {}, *home, unit.count, {}},
                                         draft_.shares_places());
        }
        // The sum goes where it is wanted; a rank that only passes it on leaves its input as it is.
        const Spot sum = home                                     ? *home
                         : value->buffer == plan::Buffer::Scratch ? *value
                                                                  : draft_.fresh(of.to, unit.count);
        writer(of.to).receive(message, Task{Kind::Reduce, {}, *value, landing.spot, sum, unit.count, {}},
                              false);
        value = sum;
    }

    Draft& draft_;
    std::vector<RankMessage> messages_;
    std::vector<std::uint32_t> numbers_;  ///< of each: its number in the part
    std::vector<std::uint32_t> units_;    ///< of each
    std::map<std::uint32_t, Writer> writers_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<Spot>> now_;
};

/// Chunks that a rank has from the start and only has to copy: from its input to its output.
void add_own_copies(Draft& draft) {
    std::vector<std::vector<Task>> copies(draft.part.ranks);
    const auto add = [&](std::uint32_t rank, std::int64_t input, std::int64_t output, std::int64_t count) {
        auto& list = copies[rank];
        if (!list.empty() && list.back().src.index + list.back().count == input &&
            list.back().dst.index + list.back().count == output) {
            list.back().count += count;
            return;
        }
        list.push_back(
            {Kind::Copy, {}, {plan::Buffer::Input, input}, {}, {plan::Buffer::Output, output}, count, {}});
    };
    std::vector<std::vector<bool>> reached;
    for (const Unit& unit : draft.units) {
        std::vector<bool> gets(draft.part.ranks, false);
        for (const std::uint32_t message : unit.messages) gets[draft.part.messages[message].to] = true;
        for (std::uint32_t rank = 0; rank < draft.part.ranks; ++rank) {
            const auto start = draft.start(rank, unit.first), end = draft.end(rank, unit.first);
            if (start && end && *start != *end && !gets[rank])
                add(rank, start->index, end->index, unit.count);
        }
    }
    for (const OwnBlock& own : draft.places.own_blocks()) {
        if (draft.in_place && own.input == own.output) continue;
        add(own.rank, own.input, own.output, own.count);
    }
    for (std::uint32_t rank = 0; rank < draft.part.ranks; ++rank) {
        for (std::size_t i = 0; i < copies[rank].size(); ++i) {
            if (i % kMostOperations == 0) draft.blocks.push_back({rank, {}, 0, {}});
            draft.blocks.back().tasks.push_back(copies[rank][i]);
        }
    }
}

/// What overwrites places that others read is done when all blocks of the rank have done the rest.
void add_last_copies(Draft& draft) {
    std::vector<std::uint32_t> blocks(draft.part.ranks, 0);
    std::vector<bool> any(draft.part.ranks, false);
    for (const Block& block : draft.blocks) {
        ++blocks[block.rank];
        any[block.rank] = any[block.rank] || !block.at_the_end.empty();
    }
    for (Block& block : draft.blocks) {
        if (!any[block.rank]) continue;
        block.tasks.push_back({blocks[block.rank] > 1 ? Kind::Barrier : Kind::Nop, {}, {}, {}, {}, 0, {}});
        block.tasks.insert(block.tasks.end(), block.at_the_end.begin(), block.at_the_end.end());
    }
}

}  // namespace

void form_blocks(Draft& draft) {
    draft.semaphores.assign(draft.part.ranks, 0);
    draft.sender.assign(draft.part.messages.size(), 0);
    draft.receiver.assign(draft.part.messages.size(), 0);
    std::vector<std::size_t> load(draft.part.ranks, 0);
    for (const Unit& unit : draft.units) {
        for (const std::uint32_t message : unit.messages) {
            ++load[draft.part.messages[message].from];
            ++load[draft.part.messages[message].to];
        }
    }
    // As few as hold all messages without going on in another block; if that is many, blocks go on.
    constexpr std::size_t kMostLanes = 32;
    const std::size_t most = load.empty() ? 0 : *std::ranges::max_element(load);
    const std::size_t count =
        std::clamp<std::size_t>((most + kMostMessages - 1) / kMostMessages, 1, kMostLanes);
    std::vector<Lane> lanes(count, Lane(draft));
    for (std::uint32_t unit = 0; unit < draft.units.size(); ++unit) lanes[unit % count].add(unit);
    for (Lane& lane : lanes) lane.run();
    add_own_copies(draft);
    add_last_copies(draft);
}

}  // namespace tutti::compile::execution

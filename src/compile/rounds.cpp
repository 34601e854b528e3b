// Rounds of messages.
//
// Where a library has nothing but messages between two ranks, what costs is to start: a group of ncclSend and
// ncclRecv is a kernel launch, and MPI waits for all requests of a round. So messages that may be in flight
// at the same time shall be in one round, and what they depend on in rounds before.
//
// Time is a line: round 0's messages, its local steps in waves 1, 2, …, round 1's messages, and so on. The
// Rounds are told messages and local steps one by one, in an order in which they could run, and put each as
// early as the places that it touches allow; for each place the last read and the last write are kept:
// - A message leaves in the first round after its value was written.
// - It is received where it shall be stored if nobody touches that place in the same round or later: all
//   messages of a round are in flight at once. Otherwise, and where it is added to something, it is received
//   in scratch and a local step takes it from there, after all that has touched its target.
// - A local step comes after all writes of what it reads and all accesses of what it writes.
// That a message is received early and stored late keeps everything possible: the round of a message depends
// on its sender only, whatever its receiver still does with the place.
//
// Input and output that are one place in a call in place have one line of time, so the order holds in both
// call modes. Whether the values are right then is for the verifier.
//
// Rounds cannot deadlock: all ranks go through them in the same order, and all messages of a round are
// started before any is waited for; by induction every rank reaches every round.
//
// Values in scratch get their chunks last, first fit by the time of the first write; a chunk is free after
// the last access of its value. A message to neighbouring places from neighbouring places is one message.
// Where it is received in scratch, the chunks lie behind each other and are used as a whole.
//
// Cost: O(messages log messages), and for scratch O(values x chunks of scratch) at worst.

#include "compile/rounds.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::compile {
namespace {

using plan::Buffer;
using plan::RoundPlace;
using plan::RoundStep;

/// Times of a round: its messages, then its waves.
constexpr std::int64_t kTimesOfRound = std::int64_t{1} << 24;
constexpr std::uint32_t kNoLocal = ~std::uint32_t{0};

std::uint32_t round_of(std::int64_t time) { return static_cast<std::uint32_t>(time / kTimesOfRound); }
std::int64_t start_of(std::uint32_t round) { return round * kTimesOfRound; }

}  // namespace

Rounds::Rounds(plan::RoundPlan plan) : plan_(std::move(plan)) {
    known_.resize(plan_.ranks);
    timelines_.resize(plan_.ranks);
}

Location Rounds::cell(std::uint32_t rank, RoundPlace place) {
    const std::uint64_t key = (std::uint64_t{place.chunk} << 1) | (place.buffer == Buffer::Output ? 1 : 0);
    const auto [found, is_new] = known_[rank].try_emplace(key, static_cast<Location>(cells_.size()));
    if (!is_new) return found->second;
    // Places that are one in place share a line of time: they are called by their output chunk.
    const auto shift = plan_.in_place ? plan_.in_place_shift(rank) : std::nullopt;
    std::uint64_t line = key;
    if (shift) {
        const std::int64_t chunk = std::int64_t{place.chunk} + (place.buffer == Buffer::Input ? *shift : 0);
        line = static_cast<std::uint64_t>(chunk) * 2;
    }
    const auto [timeline, starts] =
        timelines_[rank].try_emplace(line, static_cast<std::uint32_t>(times_.size()));
    if (starts) times_.emplace_back();
    cells_.push_back({rank, place, place.chunk % plan_.block_chunks, timeline->second});
    return found->second;
}

Location Rounds::input(std::uint32_t rank, std::uint32_t chunk) { return cell(rank, {Buffer::Input, chunk}); }

Location Rounds::output(std::uint32_t rank, std::uint32_t chunk) {
    return cell(rank, {Buffer::Output, chunk});
}

Location Rounds::scratch(std::uint32_t rank) {
    cells_.push_back({rank, {Buffer::Scratch, 0}, 0, static_cast<std::uint32_t>(times_.size())});
    times_.emplace_back();
    return static_cast<Location>(cells_.size() - 1);
}

void Rounds::read(Location location, Time time) {
    Times& line = times(location);
    line.read = std::max(line.read, time);
}

void Rounds::write(Location location, Time time, std::uint32_t piece) {
    Times& line = times(location);
    line.written = std::max(line.written, time);
    if (line.first_written < 0) line.first_written = time;
    cells_[location].piece = piece;
}

std::uint32_t Rounds::begin(Location from, std::uint32_t to, std::uint32_t earliest) {
    const Time written = times(from).written;
    Message message;
    message.round = std::max(earliest, written < 0 ? 0 : round_of(written) + 1);
    message.from_rank = cells_[from].rank;
    message.to_rank = to;
    message.from = from;
    message.piece = cells_[from].piece;
    read(from, start_of(message.round));
    messages_.push_back(message);
    return static_cast<std::uint32_t>(messages_.size() - 1);
}

Location Rounds::stage(Message& message) {
    message.to = scratch(message.to_rank);
    write(message.to, start_of(message.round), message.piece);
    return message.to;
}

std::uint32_t Rounds::local(std::uint32_t rank, Time not_before, Location from, Location with, Location to) {
    Time time = std::max({not_before, times(from).written, times(to).written, times(to).read});
    if (with != kNowhere) time = std::max(time, times(with).written);
    ++time;
    if (time % kTimesOfRound == 0) ++time;  // no local step is at the time of messages
    const std::uint32_t piece = cells_[from].piece;
    if (with != kNowhere && cells_[with].piece != piece)
        throw InputError("it adds chunks of a rank's buffer that have different places in it");
    read(from, time);
    if (with != kNowhere) read(with, time);
    write(to, time, piece);
    locals_.push_back({rank, time, to, from, with, piece});
    return static_cast<std::uint32_t>(locals_.size() - 1);
}

void Rounds::store(std::uint32_t number, Location to) {
    Message& message = messages_[number];
    const Time time = start_of(message.round);
    if (std::max(times(to).read, times(to).written) < time) {
        message.to = to;
        write(to, time, message.piece);
        return;
    }
    const Location staged = stage(message);
    message.local = local(message.to_rank, time, staged, kNowhere, to);
}

Location Rounds::add(std::uint32_t number, Location with, Location to) {
    Message& message = messages_[number];
    const Location staged = stage(message);
    if (to == kNowhere) to = staged;
    message.local = local(message.to_rank, start_of(message.round), staged, with, to);
    return to;
}

void Rounds::copy(Location from, Location to) { (void)local(cells_[to].rank, 0, from, kNowhere, to); }

void Rounds::add_local(Location from, Location with, Location to) {
    (void)local(cells_[to].rank, 0, from, with, to);
}

bool Rounds::follows(Location first, Location second, std::uint32_t by) const {
    const RoundPlace a = cells_[first].place, b = cells_[second].place;
    return a.buffer != Buffer::Scratch && a.buffer == b.buffer && b.chunk == a.chunk + by;
}

bool Rounds::joins(const LocalStep& first, const LocalStep& second) const {
    if (first.rank != second.rank || first.time != second.time) return false;
    if ((first.with == kNowhere) != (second.with == kNowhere)) return false;
    return follows(first.to, second.to, first.chunks) &&
           (first.with == kNowhere || follows(first.with, second.with, first.chunks));
}

/// Where both are received in scratch, what takes them from there must be one step too.
bool Rounds::joins(const Message& first, const Message& second) const {
    if (first.round != second.round || first.from_rank != second.from_rank ||
        first.to_rank != second.to_rank || !follows(first.from, second.from, first.chunks)) {
        return false;
    }
    if (first.local == kNoLocal || second.local == kNoLocal)
        return first.local == second.local && follows(first.to, second.to, first.chunks);
    return joins(locals_[first.local], locals_[second.local]);
}

void Rounds::join_messages() {
    std::ranges::stable_sort(messages_, {}, [&](const Message& m) {
        return std::tuple(m.round, m.from_rank, m.to_rank, cells_[m.from].place);
    });
    std::size_t last = 0;
    for (std::size_t i = 1; i < messages_.size(); ++i) {
        Message& first = messages_[last];
        const Message second = messages_[i];
        if (!joins(first, second)) {
            messages_[++last] = second;
            continue;
        }
        if (second.local != kNoLocal) {
            cells_[second.to].head = first.to;
            cells_[second.to].behind = first.chunks;
            ++locals_[first.local].chunks;
            locals_[second.local].chunks = 0;
        }
        ++first.chunks;
    }
    if (!messages_.empty()) messages_.resize(last + 1);
}

void Rounds::join_local_steps() {
    std::erase_if(locals_, [](const LocalStep& step) { return step.chunks == 0; });
    std::ranges::stable_sort(locals_, {}, [&](const LocalStep& step) {
        return std::tuple(step.rank, step.time, step.with != kNowhere, cells_[step.to].place);
    });
    std::size_t last = 0;
    for (std::size_t i = 1; i < locals_.size(); ++i) {
        LocalStep& first = locals_[last];
        const LocalStep second = locals_[i];
        if (joins(first, second) && follows(first.from, second.from, first.chunks)) {
            first.chunks += second.chunks;
        } else {
            locals_[++last] = second;
        }
    }
    if (!locals_.empty()) locals_.resize(last + 1);
}

void Rounds::give_scratch() {
    plan_.scratch.assign(plan_.ranks, 0);
    std::vector<std::uint32_t> chunks(cells_.size(), 1);
    std::vector<Location> values;
    for (Location v = 0; v < cells_.size(); ++v) {
        if (!is_scratch(v) || times(v).first_written < 0) continue;
        if (cells_[v].head == kNowhere) {
            values.push_back(v);
        } else {
            chunks[cells_[v].head] = std::max(chunks[cells_[v].head], cells_[v].behind + 1);
        }
    }
    std::ranges::stable_sort(values, {},
                             [&](Location v) { return std::tuple(cells_[v].rank, times(v).first_written); });
    std::vector<Time> busy_until;  // of each chunk of the rank's scratch
    std::uint32_t rank = 0;
    for (const Location v : values) {
        if (cells_[v].rank != rank) busy_until.clear();
        rank = cells_[v].rank;
        const Times line = times(v);
        std::uint32_t chunk = 0, free = 0;
        for (; free < chunks[v] && chunk < busy_until.size(); ++chunk)
            free = busy_until[chunk] < line.first_written ? free + 1 : 0;
        chunk -= free;
        if (busy_until.size() < chunk + chunks[v]) busy_until.resize(chunk + chunks[v]);
        std::fill_n(busy_until.begin() + chunk, chunks[v], std::max(line.read, line.written));
        cells_[v].place.chunk = chunk;
        plan_.scratch[rank] = std::max(plan_.scratch[rank], chunk + chunks[v]);
    }
}

void Rounds::write_steps() {
    plan_.steps.assign(plan_.ranks, {});
    for (const Message& m : messages_) {
        RoundStep step{.round = m.round, .piece = m.piece, .chunks = m.chunks};
        step.kind = RoundStep::Kind::Send;
        step.peer = m.to_rank;
        step.from = cells_[m.from].place;
        plan_.steps[m.from_rank].push_back(step);
        step.kind = RoundStep::Kind::Receive;
        step.peer = m.from_rank;
        step.from = {};
        step.to = cells_[m.to].place;
        plan_.steps[m.to_rank].push_back(step);
        plan_.rounds = std::max(plan_.rounds, m.round + 1);
    }
    for (const LocalStep& local : locals_) {
        RoundStep step{.kind = local.with == kNowhere ? RoundStep::Kind::Copy : RoundStep::Kind::Add};
        step.round = round_of(local.time);
        step.wave = static_cast<std::uint32_t>(local.time % kTimesOfRound);
        step.to = cells_[local.to].place;
        step.from = cells_[local.from].place;
        if (local.with != kNowhere) step.with = cells_[local.with].place;
        step.piece = local.piece;
        step.chunks = local.chunks;
        plan_.steps[local.rank].push_back(step);
        plan_.rounds = std::max(plan_.rounds, step.round + 1);
    }
    for (auto& of_rank : plan_.steps) {
        std::ranges::stable_sort(of_rank, {},
                                 [](const RoundStep& step) { return std::tuple(step.round, step.wave); });
    }
}

plan::RoundPlan Rounds::take() {
    join_messages();
    join_local_steps();
    give_scratch();
    write_steps();
    return std::move(plan_);
}

}  // namespace tutti::compile

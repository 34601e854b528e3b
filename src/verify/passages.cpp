#include "verify/passages.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <utility>

namespace tutti::verify {
namespace {

std::size_t hash_of(NodeId at, ChunkId chunk, Ticks due) {
    std::uint64_t x = (std::uint64_t{at.value()} << 32 | chunk.value()) +
                      static_cast<std::uint64_t>(due.count()) * 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 31)) * 0xD6E8FEB86659FD93ULL;
    return x ^ (x >> 32);
}

}  // namespace

std::size_t Passages::find(NodeId at, ChunkId chunk, Ticks due) const {
    const std::size_t mask = places_.size() - 1;
    for (std::size_t i = hash_of(at, chunk, due) & mask;; i = (i + 1) & mask) {
        const Passage& here = places_[i];
        if (here.due < Ticks(0) || (here.due == due && here.chunk == chunk && here.at == at)) return i;
    }
}

void Passages::insert(const Passage& passage) {
    if (2 * (count_ + 1) > places_.size()) {
        const auto old =
            std::exchange(places_, std::vector<Passage>(std::max<std::size_t>(64, 2 * places_.size())));
        for (const Passage& kept : old) {
            if (kept.due >= Ticks(0)) places_[find(kept.at, kept.chunk, kept.due)] = kept;
        }
    }
    places_[find(passage.at, passage.chunk, passage.due)] = passage;
    ++count_;
}

/// Moves later ones of the same run forward, so that searches need no marks of what was erased.
void Passages::erase(std::size_t place) {
    const std::size_t mask = places_.size() - 1;
    --count_;
    for (std::size_t next = (place + 1) & mask; places_[next].due >= Ticks(0); next = (next + 1) & mask) {
        const Passage& other = places_[next];
        const std::size_t home = hash_of(other.at, other.chunk, other.due) & mask;
        if (((next - home) & mask) < ((next - place) & mask)) continue;
        places_[place] = other;
        place = next;
    }
    places_[place].due = Ticks(-1);
}

void Passages::enter(const Passage& passage, std::uint32_t lane) {
    expects(!has_met(passage.at, passage.chunk, passage.due));
    insert(passage);
    entered_.push(lane, {passage.at, passage.chunk, passage.due, passage.start, passage.link});
}

std::optional<Passage> Passages::take(NodeId at, ChunkId chunk, Ticks now) {
    if (count_ == 0) return std::nullopt;
    const std::size_t place = find(at, chunk, now);
    if (places_[place].due < Ticks(0)) return std::nullopt;
    const Passage passage = places_[place];
    erase(place);
    if (taken_at_ != now) taken_.clear();
    taken_at_ = now;
    taken_.push_back(passage);
    if (at_once_) remember(at, chunk, now);
    return passage;
}

std::size_t Passages::find_left(NodeId at, ChunkId chunk) const {
    const std::size_t mask = left_.size() - 1;
    for (std::size_t i = hash_of(at, chunk, left_at_) & mask;; i = (i + 1) & mask) {
        const Left& here = left_[i];
        if (here.since != left_at_ || (here.chunk == chunk && here.at == at)) return i;
    }
}

/// What left at another tick is an empty place: nothing is erased within a tick.
void Passages::remember(NodeId at, ChunkId chunk, Ticks now) {
    if (left_at_ != now) left_count_ = 0;
    left_at_ = now;
    if (2 * (left_count_ + 1) > left_.size()) {
        const auto old = std::exchange(left_, std::vector<Left>(std::max<std::size_t>(64, 2 * left_.size())));
        for (const Left& kept : old) {
            if (kept.since == now) left_[find_left(kept.at, kept.chunk)] = kept;
        }
    }
    Left& place = left_[find_left(at, chunk)];
    if (place.since != now) ++left_count_;
    place = {at, chunk, now};
}

void Passages::put_back() {
    insert(taken_.back());
    taken_.pop_back();
}

void Passages::restore(Ticks start, std::optional<ChunkId> only) {
    if (taken_at_ != start) return;
    const auto is_meant = [&](const Passage& passage) { return !only || passage.chunk == *only; };
    for (const Passage& passage : taken_) {
        if (is_meant(passage)) insert(passage);
    }
    std::erase_if(taken_, is_meant);
}

std::optional<Passage> Passages::remove(const Entered& entered) {
    if (count_ == 0) return std::nullopt;
    const std::size_t place = find(entered.at, entered.chunk, entered.due);
    const Passage passage = places_[place];
    // Another one may have come in place of what was extracted.
    if (passage.due < Ticks(0) || passage.start != entered.start || passage.link != entered.link)
        return std::nullopt;
    erase(place);
    return passage;
}

std::vector<Passage> Passages::expired(Ticks tick) {
    std::vector<Passage> late;
    entered_.arrive_until(tick, [&](std::span<const Entered> all, Ticks) {
        for (const Entered& entered : all) {
            if (const auto passage = remove(entered)) late.push_back(*passage);
        }
    });
    return late;
}

std::vector<Passage> Passages::extract(std::optional<ChunkId> only) {
    std::vector<Passage> all;
    for (const Passage& passage : places_) {
        if (passage.due >= Ticks(0) && (!only || passage.chunk == *only)) all.push_back(passage);
    }
    for (const Passage& passage : all) erase(find(passage.at, passage.chunk, passage.due));
    return all;
}

}  // namespace tutti::verify

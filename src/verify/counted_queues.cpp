// A switch hands copies on in order of arrival, and which one leaves by which link decides where its
// contributions go. So the order is kept exactly: by tick, then by link number. Sends of one tick leave in
// order of link number, but may be given in any order: one that comes after a send over a higher link is
// refused, unless all it can get is the same full sum.
//
// Nearly always one copy waits. A queue is then a slot of a pool that is used again at once, so the pool
// stays in the cache.

#include "verify/counted_queues.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::verify {

CountedQueues::Queue& CountedQueues::queue_of(Word& word) {
    if (!has_queue(word)) {
        if (unused_.empty()) {
            queues_.emplace_back();
            unused_.push_back(static_cast<Word>(queues_.size()));
        }
        word = kHad | unused_.back();
        unused_.pop_back();
    }
    return queue(word);
}

void CountedQueues::close(Word& word) {
    if (has_queue(word)) {
        Queue& old = queue(word);
        old.copies.clear();
        old.first = 0;
        old.left.reset();
        unused_.push_back(word & ~kHad);
    }
    word &= kHad;
}

void CountedQueues::arrive(Word& word, const CountedCopy& copy) {
    auto& [copies, first, left, left_at, left_by] = queue_of(word);
    const auto order = [](const CountedCopy& c) { return std::tuple(c.arrival, c.by); };
    if (first == copies.size()) {
        copies.clear();
        first = 0;
    }
    auto place = copies.end();
    const auto begin = copies.begin() + static_cast<std::ptrdiff_t>(first);
    while (place != begin && order(copy) < order(*std::prev(place))) --place;
    copies.insert(place, copy);
}

std::optional<CountedQueues::Leaving> CountedQueues::leave(Word& word, bool copies, LinkId link, Ticks now) {
    if (!has_queue(word)) return std::nullopt;
    Queue& from = queue(word);
    const bool waits = from.first < from.copies.size();
    const bool is_full_again = !waits && copies && from.left && from.left->weight == 0;
    if (!waits && !is_full_again) return std::nullopt;
    if (is_full_again) return Leaving{*from.left, true};
    if (from.left && from.left_at == now && link < from.left_by) return std::nullopt;
    const Leaving leaving{from.copies[from.first], false, from.left, from.left_at, from.left_by};
    ++from.first;
    from.left = leaving.copy;
    from.left_at = now;
    from.left_by = link;
    if (!copies && from.first == from.copies.size()) close(word);
    return leaving;
}

void CountedQueues::take_back(Word& word, const Leaving& leaving) {
    if (leaving.is_again) return;
    Queue& to = queue_of(word);
    if (to.first > 0) {
        to.copies[--to.first] = leaving.copy;
    } else {
        to.copies.insert(to.copies.begin(), leaving.copy);
    }
    to.left = leaving.left_before;
    to.left_at = leaving.left_before_at;
    to.left_by = leaving.left_before_by;
}

std::span<const CountedCopy> CountedQueues::waiting(Word word) const {
    if (!has_queue(word)) return {};
    const Queue& from = queue(word);
    return std::span(from.copies).subspan(from.first);
}

std::optional<CountedCopy> CountedQueues::left(Word word) const {
    return has_queue(word) ? queue(word).left : std::nullopt;
}

Ticks CountedQueues::left_at(Word word) const { return has_queue(word) ? queue(word).left_at : Ticks(0); }

}  // namespace tutti::verify

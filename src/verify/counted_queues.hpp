#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::verify {

/// A value of a reduction at a switch, without its set: it is what an NPU sent.
struct CountedCopy {
    Ticks arrival;             ///< copies queue in order of arrival,
    LinkId by;                 ///< then of the link that brought them
    NodeId origin;             ///< the NPU that sent it
    std::uint32_t weight = 0;  ///< how many contributions; 0: the full sum
};

/// The queues of counted copies, one for each switch and reduction, at switches that forward and may copy.
/// The caller keeps a word per queue, 0 at first. A queue takes memory only while copies wait in it, or where
/// the switch copies: there the copy that left last is kept, because it may be sent again.
class CountedQueues {
  public:
    using Word = std::uint32_t;

    /// A copy reaches the switch. All copies that are due by a tick come before that tick's sends, in any
    /// order.
    void arrive(Word& word, const CountedCopy& copy);

    /// What a send leaves behind, so that it can be taken back.
    struct Leaving {
        CountedCopy copy;
        bool is_again = false;  ///< it had left before
        std::optional<CountedCopy> left_before{};
        Ticks left_before_at{};
        LinkId left_before_by{};
    };
    /// The copy that a send over `link` takes at `now`. None, with nothing changed, where copies alone do not
    /// tell: there is none, a part of the sum would leave twice, or a send over a higher link came first.
    [[nodiscard]] std::optional<Leaving> leave(Word& word, bool copies, LinkId link, Ticks now);
    /// Undoes leave(); the last one first.
    void take_back(Word& word, const Leaving& leaving);

    /// The copies that wait, oldest first.
    [[nodiscard]] std::span<const CountedCopy> waiting(Word word) const;
    /// The copy that left last, if it is known.
    [[nodiscard]] std::optional<CountedCopy> left(Word word) const;
    /// When it left.
    [[nodiscard]] Ticks left_at(Word word) const;
    /// Forgets the queue.
    void close(Word& word);

  private:
    struct Queue {
        std::vector<CountedCopy> copies{};  ///< those before `first` have left
        std::size_t first = 0;
        std::optional<CountedCopy> left{};
        Ticks left_at{};
        LinkId left_by{};
    };
    static constexpr Word kHad = Word{1} << 31;  ///< a copy has been there; the rest is a queue's number + 1
    [[nodiscard]] static bool has_queue(Word word) { return (word & ~kHad) != 0; }
    [[nodiscard]] Queue& queue(Word word) { return queues_[(word & ~kHad) - 1]; }
    [[nodiscard]] const Queue& queue(Word word) const { return queues_[(word & ~kHad) - 1]; }
    [[nodiscard]] Queue& queue_of(Word& word);

    std::vector<Queue> queues_;
    std::vector<Word> unused_;  ///< numbers of queues
};

}  // namespace tutti::verify

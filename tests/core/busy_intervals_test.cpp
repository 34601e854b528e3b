#include "core/busy_intervals.hpp"

#include "core/rng.hpp"
#include "core/ticks.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <vector>

using namespace tutti;

namespace {

struct Booking {
    std::int64_t begin, end;
    std::uint32_t owner;
};

/// The same, tick by tick.
class TickTable {
  public:
    [[nodiscard]] bool is_free(std::int64_t begin, std::int64_t length) const {
        const auto next = owners_.lower_bound(begin);
        return next == owners_.end() || next->first >= begin + length;
    }
    void book(const Booking& booking) {
        for (std::int64_t t = booking.begin; t < booking.end; ++t) owners_[t] = booking.owner;
    }
    void release(const Booking& booking) {
        for (std::int64_t t = booking.begin; t < booking.end; ++t) owners_.erase(t);
    }
    [[nodiscard]] const std::map<std::int64_t, std::uint32_t>& owners() const { return owners_; }

  private:
    std::map<std::int64_t, std::uint32_t> owners_;
};

template <class Intervals>
void check_ticks(const Intervals& busy, const TickTable& table) {
    std::size_t ticks = 0;
    for (const auto& interval : busy.intervals()) {
        for (std::int64_t t = interval.begin; t < interval.end; ++t, ++ticks) {
            REQUIRE(table.owners().contains(t));
        }
    }
    REQUIRE(ticks == table.owners().size());
}

}  // namespace

TEST_CASE("gaps are found, filled and opened again as on a table of ticks") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        BusyIntervals<std::int64_t> busy;
        TickTable table;
        std::vector<Booking> bookings;
        for (int i = 0; i < 300; ++i) {
            if (!bookings.empty() && rng.below(4) == 0) {
                std::swap(bookings[rng.below(bookings.size())], bookings.back());
                busy.release(bookings.back().begin, bookings.back().end);
                table.release(bookings.back());
                bookings.pop_back();
                check_ticks(busy, table);
                continue;
            }
            const auto length = static_cast<std::int64_t>(1 + rng.below(5));
            const auto at = static_cast<std::int64_t>(rng.below(300));
            std::int64_t expected = rng.below(2) == 0 ? at : at - length;
            const std::int64_t step = expected == at ? 1 : -1;
            while (!table.is_free(expected, length)) expected += step;
            const std::int64_t begin = step > 0 ? busy.earliest(at, length) : busy.latest(at, length);
            REQUIRE(begin == expected);
            bookings.push_back({begin, begin + length, 0});
            busy.book(begin, begin + length);
            table.book(bookings.back());
            check_ticks(busy, table);
        }
    }
}

TEST_CASE("busy intervals that touch are one, unless they have owners") {
    BusyIntervals<Ticks> plain;
    BusyIntervals<Ticks, std::uint32_t> owned;
    for (const std::int64_t begin : {6, 2, 4, 0}) {
        plain.book(Ticks(begin), Ticks(begin + 2));
        owned.book(Ticks(begin), Ticks(begin + 2), static_cast<std::uint32_t>(begin));
    }
    REQUIRE(plain.intervals().size() == 1);
    CHECK(plain.intervals().front().begin == Ticks(0));
    CHECK(plain.intervals().front().end == Ticks(8));
    REQUIRE(owned.intervals().size() == 4);
    CHECK(owned.intervals()[2].owner == 4);
    owned.release(Ticks(4), Ticks(6));
    CHECK(owned.intervals().size() == 3);
    CHECK(owned.earliest(Ticks(1), Ticks(2)) == Ticks(4));
    CHECK(owned.earliest(Ticks(1), Ticks(3)) == Ticks(8));
}

TEST_CASE("intervals that have ended are dropped, others are kept") {
    BusyIntervals<Ticks> busy;
    busy.book(Ticks(0), Ticks(3));
    busy.book(Ticks(5), Ticks(9));
    busy.forget_before(Ticks(3));
    CHECK(busy.intervals().size() == 1);
    busy.forget_before(Ticks(8));
    CHECK(busy.earliest(Ticks(8), Ticks(1)) == Ticks(9));
}

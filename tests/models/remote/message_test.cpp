#include "models/remote/message.hpp"

#include "tests/support/cases.hpp"
#include "tests/support/programs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>

using namespace tutti;
using namespace tutti::models;
using namespace tutti::models::remote;

namespace {

/// What a writer sends, as one string.
template <class Write>
std::string bytes_of(Write write) {
    std::string bytes;
    CHECK(write([&](std::string_view piece) {
        bytes += piece;
        return true;
    }));
    return bytes;
}

/// Gives the bytes in pieces of uneven lengths.
Source source_of(std::string_view bytes) {
    return [bytes, at = std::size_t{0}, turn = std::size_t{0}](std::span<char> room) mutable {
        const std::size_t count = std::min({room.size(), bytes.size() - at, 1 + turn++ % 7 * 13});
        std::memcpy(room.data(), bytes.data() + at, count);
        at += count;
        return count;
    };
}

bool same(std::span<const Term> a, std::span<const Term> b) {
    return std::ranges::equal(
        a, b, [](const Term& x, const Term& y) { return x.var == y.var && x.coefficient == y.coefficient; });
}

/// All but the names.
bool same(const Program& a, const Program& b) {
    bool same_parts = a.vars() == b.vars() && a.rows() == b.rows() && a.choices() == b.choices() &&
                      a.no_overlaps() == b.no_overlaps() && a.hints() == b.hints() &&
                      same(a.objective(), b.objective()) && same(a.guide(), b.guide());
    for (std::uint32_t i = 0; same_parts && i < a.vars(); ++i) {
        same_parts = a.bounds(Var{i}).lower == b.bounds(Var{i}).lower &&
                     a.bounds(Var{i}).upper == b.bounds(Var{i}).upper;
    }
    for (std::size_t i = 0; same_parts && i < a.rows(); ++i) {
        const Row x = a.row(i), y = b.row(i);
        same_parts =
            x.lower == y.lower && x.upper == y.upper && x.only_if == y.only_if && same(x.terms, y.terms);
    }
    for (std::size_t i = 0; same_parts && i < a.choices(); ++i) {
        same_parts = a.choice(i).promise == b.choice(i).promise &&
                     std::ranges::equal(a.choice(i).literals, b.choice(i).literals);
    }
    for (std::size_t i = 0; same_parts && i < a.no_overlaps(); ++i) {
        same_parts =
            std::ranges::equal(a.no_overlap(i), b.no_overlap(i), [](const Interval& x, const Interval& y) {
                return x.start == y.start && x.duration == y.duration && x.present == y.present &&
                       x.offset == y.offset;
            });
    }
    return same_parts;
}

LinearProgram random_linear_program(Rng& rng) {
    LinearProgram program;
    const std::uint64_t columns = 1 + rng.below(6);
    for (std::uint64_t i = 0; i < columns; ++i)
        program.add_column(static_cast<std::int64_t>(rng.below(9)) - 4);
    for (std::uint64_t row = 0; row < rng.below(6); ++row) {
        for (std::uint32_t i = 0; i < columns; ++i) {
            if (rng.below(2) == 0) program.add(i, static_cast<std::int64_t>(rng.below(9)) - 4);
        }
        program.end_row(static_cast<std::int64_t>(rng.below(9)) - 4, rng.below(2) == 0);
    }
    return program;
}

Answer random_answer(Rng& rng) {
    Answer answer{.ended = static_cast<Ended>(rng.below(5)), .words = std::string(rng.below(20), 'w')};
    for (std::uint64_t i = 0; i < rng.below(9); ++i)
        answer.values.push_back(static_cast<std::int64_t>(rng.next()));
    if (rng.below(2) == 0) answer.objective = static_cast<std::int64_t>(rng.next());
    if (rng.below(2) == 0) answer.bound = kMinusInfinity;
    answer.seconds = 0.25;
    return answer;
}

/// Every part of it, and it with a byte changed, is refused.
template <class Read>
void check_fragile(const std::string& bytes, Rng& rng, Read read) {
    for (std::size_t length = 0; length < bytes.size(); length += 1 + rng.below(1 + bytes.size() / 50)) {
        CHECK_FALSE(read(source_of(std::string_view(bytes).substr(0, length))));
    }
    for (int i = 0; i < 50; ++i) {
        std::string changed = bytes;
        changed[rng.below(bytes.size())] ^= static_cast<char>(1 + rng.below(255));
        CHECK_FALSE(read(source_of(changed)));
    }
    for (int i = 0; i < 10; ++i) {
        std::string noise = bytes.substr(0, 8 + rng.below(bytes.size() - 8));
        for (std::size_t at = 7; at < noise.size(); ++at) noise[at] = static_cast<char>(rng.below(256));
        CHECK_FALSE(read(source_of(noise)));
    }
}

}  // namespace

TEST_CASE("an order comes as it was sent, and not at all if it was cut off or changed") {
    test::for_seeds(test::cases(150), [](Rng& rng, std::uint64_t seed) {
        const Program program = test::random_program(rng);
        SolveLimits limits;
        limits.threads = 1 + static_cast<unsigned>(rng.below(8));
        limits.seed = rng.next();
        if (rng.below(2) == 0) limits.memory_bytes = rng.next();
        limits.presolve = rng.below(2) == 0;
        if (rng.below(2) == 0) limits.stop = Stop(Stop::Seconds(1e6));
        const std::string bytes =
            bytes_of([&](const Sink& sink) { return write_order(sink, "cpsat", program, limits); });
        const auto order = read_order(source_of(bytes));
        REQUIRE(order);
        CHECK(order->backend == "cpsat");
        CHECK(order->threads == limits.threads);
        CHECK(order->seed == limits.seed);
        CHECK(order->memory_bytes == limits.memory_bytes);
        CHECK(order->presolve == limits.presolve);
        CHECK(order->seconds.has_value() == limits.stop.remaining().has_value());
        REQUIRE(std::holds_alternative<Program>(order->program));
        CHECK(same(program, std::get<Program>(order->program)));
        if (seed % 10 == 0) check_fragile(bytes, rng, read_order);
    });
}

TEST_CASE("numbers of every size and empty lists survive writing and reading") {
    Program program;
    const Var x = program.integer(kMinusInfinity, kPlusInfinity, "x");
    const Literal b = program.boolean("b");
    program.row({}, kMinusInfinity, kPlusInfinity, !b);
    program.row(std::array{Term{x, kMinusInfinity}, Term{b.var, kPlusInfinity}}, -1, 0);
    program.choice(Promise::AtLeastOne, {});
    program.no_overlap(std::span<const Interval>{});
    program.no_overlap(std::array{Interval{x, kPlusInfinity, b, kMinusInfinity}});
    program.hint(x, kMinusInfinity);
    program.guide(std::array{Term{x, 1}});
    const std::string bytes = bytes_of([&](const Sink& sink) { return write_order(sink, "", program, {}); });
    const auto order = read_order(source_of(bytes));
    REQUIRE(order);
    CHECK(same(program, std::get<Program>(order->program)));
    CHECK_FALSE(order->seconds);
}

TEST_CASE("linear programs and both kinds of answers come as they were sent, or not at all") {
    test::for_seeds(test::cases(60), [](Rng& rng, std::uint64_t seed) {
        const LinearProgram program = random_linear_program(rng);
        const std::string order_bytes =
            bytes_of([&](const Sink& sink) { return write_order(sink, "highs", program, {}); });
        const auto order = read_order(source_of(order_bytes));
        REQUIRE(order);
        REQUIRE(std::holds_alternative<LinearProgram>(order->program));
        const auto& came = std::get<LinearProgram>(order->program);
        CHECK(came.cost == program.cost);
        CHECK(came.row_begin == program.row_begin);
        CHECK(came.at_least == program.at_least);
        CHECK(came.equal == program.equal);
        CHECK(std::ranges::equal(came.entries, program.entries, [](const auto& a, const auto& b) {
            return a.column == b.column && a.value == b.value;
        }));

        const Answer answer = random_answer(rng);
        const std::string answer_bytes =
            bytes_of([&](const Sink& sink) { return write_answer(sink, answer); });
        const auto heard = read_answer(source_of(answer_bytes));
        REQUIRE(heard);
        CHECK(heard->ended == answer.ended);
        CHECK(heard->values == answer.values);
        CHECK(heard->objective == answer.objective);
        CHECK(heard->bound == answer.bound);
        CHECK(heard->words == answer.words);

        const LinearAnswer linear{Ended::Optimal, -1.5, {0, 1e300, -0.1}, {2.5}, "optimal", 1};
        const std::string linear_bytes =
            bytes_of([&](const Sink& sink) { return write_answer(sink, linear); });
        const auto again = read_linear_answer(source_of(linear_bytes));
        REQUIRE(again);
        CHECK(again->objective == linear.objective);
        CHECK(again->primal == linear.primal);
        CHECK(again->dual == linear.dual);

        // One kind of message is not taken for another.
        CHECK_FALSE(read_answer(source_of(linear_bytes)));
        CHECK_FALSE(read_order(source_of(answer_bytes)));
        if (seed % 10 != 0) return;
        check_fragile(order_bytes, rng, read_order);
        check_fragile(answer_bytes, rng, read_answer);
        check_fragile(linear_bytes, rng, read_linear_answer);
    });
}

TEST_CASE("a list that claims to be endless takes no more memory than its bytes") {
    std::string bytes = bytes_of([&](const Sink& sink) { return write_answer(sink, Answer{}); });
    // After the kind, the format and how it ended comes the number of values.
    bytes.replace(8, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
    CHECK_FALSE(read_answer(source_of(bytes)));
}

TEST_CASE("writing ends when the reader closes") {
    Program program;
    for (int i = 0; i < 100'000; ++i) program.fix(program.boolean("b"));
    std::size_t pieces = 0;
    const Sink sink = [&](std::string_view) { return ++pieces < 2; };
    CHECK_FALSE(write_order(sink, "z3", program, {}));
    CHECK(pieces == 2);
}

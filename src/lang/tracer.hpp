#pragma once

#include "lang/trace.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::lang {

/// The value of a place while a program is traced: the sum of one random 128-bit word for each contribution,
/// and their number. Two values are taken for equal if these are: a chance of 2^-128 for each comparison, and
/// plans are judged exactly in the end. (Lists of contributions make the trace of a ring of 128 take 10 s.)
struct Value {
    std::uint64_t low = 0, high = 0;
    std::uint64_t contributions = 0;  ///< 0: the place holds nothing
    friend bool operator==(const Value&, const Value&) = default;
};
[[nodiscard]] Value value_of(const plan::Contribution& contribution);
[[nodiscard]] Value sum(const Value& a, const Value& b);

/// Takes the verbs of a program. O(count) for each. Everything that is refused throws InputError; `place` of
/// the error is the line of the program.
class Tracer {
  public:
    /// `trace` has everything but verbs. Throws InputError for a shape that makes no sense.
    explicit Tracer(Trace trace);

    void reserve(std::size_t verbs) { trace_.verbs.reserve(verbs); }
    /// The number of the scratch buffer of that name; a new one if there is none.
    [[nodiscard]] std::uint32_t scratch_buffer(const std::string& name);
    /// The number of a line, for Verb::place.
    [[nodiscard]] std::uint32_t place(const std::string& file, std::uint32_t line);
    /// Places of a buffer: for scratch, behind the last that was written.
    [[nodiscard]] std::uint32_t size(std::uint32_t rank, std::uint32_t buffer) const;
    [[nodiscard]] bool holds(const Slot& slot) const;
    [[nodiscard]] const Value& value(const Slot& slot) const;
    /// How often the place was written: a reference to an older version is stale.
    [[nodiscard]] std::uint32_t version(const Slot& slot) const;

    /// The places from `to` on get the values of those from `from` on. Nothing happens if both are the same.
    void copy(Slot from, Slot to, std::uint32_t count, const Directive& directive = {},
              std::uint32_t place = 0);
    /// The values from `from` on are added to those from `to` on.
    void reduce(Slot from, Slot to, std::uint32_t count, const Directive& directive = {},
                std::uint32_t place = 0);

    [[nodiscard]] const Trace& trace() const { return trace_; }
    /// The trace, of which every place has its one name (Shape). Nothing is left here.
    [[nodiscard]] Trace take() && { return std::move(trace_); }
    /// The first place that does not hold what the collective wants.
    [[nodiscard]] std::optional<Wanted> first_wrong() const;

    /// Takes these verbs one after the other, where they are: twice so many would be the most memory that
    /// compiling a program takes. Precondition: it has none yet.
    void take_all(std::vector<Verb> verbs);

  private:
    struct Cell {
        Value value{};
        std::uint32_t version = 0;
    };

    [[noreturn]] void refuse(const std::string& message, std::uint32_t place) const;
    void check_range(const Slot& slot, std::uint32_t count, std::uint32_t place) const;
    /// Executes the verb, and gives its places their names. False: nothing happens.
    bool run(Verb& verb);
    void take(Verb verb);
    [[nodiscard]] std::vector<Cell>& cells(const Slot& slot) { return cells_[slot.rank][slot.buffer]; }
    [[nodiscard]] const Cell* find(const Slot& slot) const;

    Trace trace_;
    std::uint64_t places_ = 0;
    std::vector<std::vector<std::vector<Cell>>> cells_;  ///< by rank, buffer, index
};

/// Runs all verbs of a trace again. Throws InputError as the verbs did.
[[nodiscard]] Tracer traced(Trace trace);

}  // namespace tutti::lang

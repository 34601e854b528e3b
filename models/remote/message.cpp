// The messages between a process and its helper. Every message is
//
//   "tutti" kind format  content  checksum
//
// where unsigned numbers are written seven bits at a time, the lowest first, with the high bit of a byte set
// while more follow; signed ones are folded first (0, -1, 1, -2, ...), so that small ones are short; doubles
// are eight bytes, the lowest first. A list is its length and its elements. The checksum (FNV-1a, 64 bits) is
// of all bytes before it: whoever reads a message uses nothing of it before the sum is found right. So
// content is only checked as far as reading needs it: that a number names a variable, that bounds are in
// order. No length is believed before the elements have come.
//
// A literal takes one to four bytes, a term two to five. Names of variables stay at home: no solver reads
// them.

#include "models/remote/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace tutti::models::remote {
namespace {

constexpr std::string_view kMagic = "tutti";
constexpr std::uint64_t kFormat = 2;
constexpr std::size_t kPiece = std::size_t{1} << 16;

enum class Kind : std::uint64_t { SolveProgram = 1, SolveLinearProgram, ProgramAnswer, LinearProgramAnswer };

class Checksum {
  public:
    void add(std::string_view bytes) {
        for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

class Writer {
  public:
    Writer(const Sink& sink, Kind kind) : sink_(sink) {
        buffer_.reserve(kPiece + 16);
        buffer_ += kMagic;
        number(static_cast<std::uint64_t>(kind));
        number(kFormat);
    }

    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) buffer_.push_back(static_cast<char>(value | 0x80));
        buffer_.push_back(static_cast<char>(value));
        if (buffer_.size() >= kPiece) flush();
    }
    void signed_number(std::int64_t value) {
        number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
    }
    void flag(bool value) { number(value ? 1 : 0); }
    void fixed(std::uint64_t bits) {
        for (int i = 0; i < 8; ++i, bits >>= 8) buffer_.push_back(static_cast<char>(bits & 0xff));
        if (buffer_.size() >= kPiece) flush();
    }
    void real(double value) { fixed(std::bit_cast<std::uint64_t>(value)); }
    void text(std::string_view words) {
        number(words.size());
        for (const char byte : words) buffer_.push_back(byte);
    }
    template <class Value, class Write>
    void optional(const std::optional<Value>& value, Write write) {
        flag(value.has_value());
        if (value) write(*value);
    }
    void literal(Literal literal) {
        number(std::uint64_t{literal.var.index} * 2 + (literal.negated ? 1 : 0));
    }
    void terms(std::span<const Term> terms) {
        number(terms.size());
        for (const Term& term : terms) {
            number(term.var.index);
            signed_number(term.coefficient);
        }
    }

    /// False: the sink was closed on the way.
    [[nodiscard]] bool finish() {
        flush();
        const std::uint64_t sum = checksum_.value();
        fixed(sum);
        flush();
        return open_;
    }
    [[nodiscard]] bool is_open() const { return open_; }

  private:
    void flush() {
        checksum_.add(buffer_);
        if (open_ && !buffer_.empty()) open_ = sink_(buffer_);
        buffer_.clear();
    }

    const Sink& sink_;
    std::string buffer_;
    Checksum checksum_;
    bool open_ = true;
};

/// Once something is wrong everything read is 0, and lists are empty.
class Reader {
  public:
    Reader(const Source& source, std::initializer_list<Kind> kinds) : source_(source) {
        for (const char byte : kMagic) require(next() == static_cast<unsigned char>(byte));
        kind_ = static_cast<Kind>(number());
        require(std::ranges::find(kinds, kind_) != kinds.end() && number() == kFormat);
    }

    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] bool fine() const { return fine_; }
    void require(bool condition) { fine_ = fine_ && condition; }

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const std::uint64_t byte = next();
            value |= (byte & 0x7f) << shift;
            if (byte < 0x80) {
                require(shift < 63 || byte <= 1);
                return fine_ ? value : 0;
            }
        }
        require(false);
        return 0;
    }
    std::int64_t signed_number() {
        const std::uint64_t folded = number();
        return static_cast<std::int64_t>((folded >> 1) ^ (~(folded & 1) + 1));
    }
    bool flag() {
        const std::uint64_t value = number();
        require(value <= 1);
        return value == 1;
    }
    std::uint64_t fixed() {
        std::uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits |= std::uint64_t{next()} << (8 * i);
        return fine_ ? bits : 0;
    }
    double real() { return std::bit_cast<double>(fixed()); }
    std::string text() {
        std::string words;
        each([&] { words.push_back(static_cast<char>(next())); });
        return words;
    }
    template <class Read>
    auto optional(Read read) -> std::optional<decltype(read())> {
        if (!flag()) return std::nullopt;
        return read();
    }
    /// Calls `read` for every element of a list, as long as there are any.
    template <class Read>
    void each(Read read) {
        for (std::uint64_t count = number(); count > 0 && fine_; --count) read();
    }
    Var var(std::size_t vars) {
        const std::uint64_t index = number();
        require(index < vars);
        return {fine_ ? static_cast<std::uint32_t>(index) : 0};
    }
    Literal literal(std::size_t vars) {
        const std::uint64_t folded = number();
        require(folded / 2 < vars);
        return {{fine_ ? static_cast<std::uint32_t>(folded / 2) : 0}, folded % 2 == 1};
    }
    const std::vector<Term>& terms(std::size_t vars) {
        terms_.clear();
        each([&] {
            const Var of = var(vars);
            terms_.push_back({of, signed_number()});
        });
        return terms_;
    }

    /// Whether the message was complete and its checksum is right.
    [[nodiscard]] bool finish() {
        const std::uint64_t expected = summed();
        require(fixed() == expected);
        return fine_;
    }

  private:
    unsigned char next() {
        if (at_ == end_) fill();
        if (!fine_) return 0;
        return static_cast<unsigned char>(buffer_[at_++]);
    }
    void fill() {
        if (!fine_) return;
        checksum_.add(std::string_view(buffer_.data() + summed_, end_ - summed_));
        at_ = end_ = summed_ = 0;
        end_ = std::min(source_(buffer_), buffer_.size());
        require(end_ > 0);
    }
    /// The checksum of what was read until now.
    std::uint64_t summed() {
        checksum_.add(std::string_view(buffer_.data() + summed_, at_ - summed_));
        summed_ = at_;
        return checksum_.value();
    }

    const Source& source_;
    std::vector<char> buffer_ = std::vector<char>(kPiece);
    std::size_t at_ = 0, end_ = 0;
    std::size_t summed_ = 0;  ///< of the buffer, what is in the checksum already
    Checksum checksum_;
    Kind kind_{};
    bool fine_ = true;
    std::vector<Term> terms_;
};

void write_head(Writer& writer, std::string_view backend, const SolveLimits& limits) {
    writer.text(backend);
    writer.optional(limits.stop.remaining(), [&](Stop::Seconds seconds) { writer.real(seconds.count()); });
    writer.number(limits.threads);
    writer.number(limits.seed);
    writer.optional(limits.memory_bytes, [&](std::size_t bytes) { writer.number(bytes); });
    writer.number(limits.presolve ? 1 : 0);
}

void read_head(Reader& reader, Order& order) {
    order.backend = reader.text();
    order.seconds = reader.optional([&] { return Stop::Seconds(reader.real()); });
    order.threads = static_cast<unsigned>(reader.number());
    order.seed = reader.number();
    order.memory_bytes = reader.optional([&] { return static_cast<std::size_t>(reader.number()); });
    order.presolve = reader.number() != 0;
}

Program read_program(Reader& reader) {
    Program program;
    reader.each([&] {
        const std::int64_t lower = reader.signed_number(), upper = reader.signed_number();
        reader.require(lower <= upper && program.vars() < UINT32_MAX);
        if (reader.fine()) program.integer(lower, upper, fmt::format("v{}", program.vars()));
    });
    const std::size_t vars = program.vars();
    reader.each([&] {
        const std::int64_t lower = reader.signed_number(), upper = reader.signed_number();
        const auto only_if = reader.optional([&] { return reader.literal(vars); });
        const auto& terms = reader.terms(vars);
        if (reader.fine()) program.row(terms, lower, upper, only_if);
    });
    std::vector<Literal> literals;
    reader.each([&] {
        const std::uint64_t promise = reader.number();
        reader.require(promise <= static_cast<std::uint64_t>(Promise::ExactlyOne));
        literals.clear();
        reader.each([&] { literals.push_back(reader.literal(vars)); });
        if (reader.fine()) program.choice(static_cast<Promise>(promise), literals);
    });
    std::vector<Interval> intervals;
    reader.each([&] {
        intervals.clear();
        reader.each([&] {
            Interval interval;
            interval.start = reader.var(vars);
            interval.duration = reader.signed_number();
            interval.present = reader.optional([&] { return reader.literal(vars); });
            interval.offset = reader.signed_number();
            reader.require(interval.duration >= 1);
            intervals.push_back(interval);
        });
        if (reader.fine()) program.no_overlap(intervals);
    });
    reader.each([&] {
        const Var var = reader.var(vars);
        program.hint(var, reader.signed_number());
    });
    program.minimise(reader.terms(vars));
    program.guide(reader.terms(vars));
    return program;
}

LinearProgram read_linear_program(Reader& reader) {
    LinearProgram program;
    reader.each([&] { program.add_column(reader.signed_number()); });
    reader.each([&] {
        const std::int64_t least = reader.signed_number();
        const bool equal = reader.flag();
        reader.each([&] {
            const Var column = reader.var(program.columns());
            program.add(column.index, reader.signed_number());
        });
        program.end_row(least, equal);
    });
    return program;
}

Ended read_ended(Reader& reader) {
    const std::uint64_t ended = reader.number();
    reader.require(ended <= static_cast<std::uint64_t>(Ended::Failed));
    return static_cast<Ended>(ended);
}

}  // namespace

bool write_order(const Sink& sink, std::string_view backend, const Program& program,
                 const SolveLimits& limits) {
    Writer writer(sink, Kind::SolveProgram);
    write_head(writer, backend, limits);
    writer.number(program.vars());
    for (std::uint32_t i = 0; i < program.vars(); ++i) {
        const auto [lower, upper] = program.bounds(Var{i});
        writer.signed_number(lower);
        writer.signed_number(upper);
    }
    writer.number(program.rows());
    for (std::size_t i = 0; i < program.rows() && writer.is_open(); ++i) {
        const Row row = program.row(i);
        writer.signed_number(row.lower);
        writer.signed_number(row.upper);
        writer.optional(row.only_if, [&](Literal literal) { writer.literal(literal); });
        writer.terms(row.terms);
    }
    writer.number(program.choices());
    for (std::size_t i = 0; i < program.choices() && writer.is_open(); ++i) {
        const Choice choice = program.choice(i);
        writer.number(static_cast<std::uint64_t>(choice.promise));
        writer.number(choice.literals.size());
        for (const Literal literal : choice.literals) writer.literal(literal);
    }
    writer.number(program.no_overlaps());
    for (std::size_t i = 0; i < program.no_overlaps() && writer.is_open(); ++i) {
        const auto intervals = program.no_overlap(i);
        writer.number(intervals.size());
        for (const Interval& interval : intervals) {
            writer.number(interval.start.index);
            writer.signed_number(interval.duration);
            writer.optional(interval.present, [&](Literal literal) { writer.literal(literal); });
            writer.signed_number(interval.offset);
        }
    }
    const auto hints = program.hints();
    writer.number(hints.size());
    for (const auto& [var, value] : hints) {
        writer.number(var.index);
        writer.signed_number(value);
    }
    writer.terms(program.objective());
    writer.terms(program.guide());
    return writer.finish();
}

bool write_order(const Sink& sink, std::string_view backend, const LinearProgram& program,
                 const SolveLimits& limits) {
    Writer writer(sink, Kind::SolveLinearProgram);
    write_head(writer, backend, limits);
    writer.number(program.columns());
    for (const std::int64_t cost : program.cost) writer.signed_number(cost);
    writer.number(program.rows());
    for (std::size_t row = 0; row < program.rows() && writer.is_open(); ++row) {
        writer.signed_number(program.at_least[row]);
        writer.flag(program.equal[row]);
        writer.number(program.row_begin[row + 1] - program.row_begin[row]);
        for (std::size_t i = program.row_begin[row]; i < program.row_begin[row + 1]; ++i) {
            writer.number(program.entries[i].column);
            writer.signed_number(program.entries[i].value);
        }
    }
    return writer.finish();
}

std::optional<Order> read_order(const Source& source) {
    Reader reader(source, {Kind::SolveProgram, Kind::SolveLinearProgram});
    Order order;
    read_head(reader, order);
    if (reader.kind() == Kind::SolveProgram) {
        order.program = read_program(reader);
    } else {
        order.program = read_linear_program(reader);
    }
    if (!reader.finish()) return std::nullopt;
    return order;
}

bool write_answer(const Sink& sink, const Answer& answer) {
    Writer writer(sink, Kind::ProgramAnswer);
    const auto write = [&](std::int64_t value) { writer.signed_number(value); };
    writer.number(static_cast<std::uint64_t>(answer.ended));
    writer.number(answer.values.size());
    for (const std::int64_t value : answer.values) write(value);
    writer.optional(answer.objective, write);
    writer.optional(answer.bound, write);
    writer.text(answer.words);
    writer.real(answer.seconds);
    return writer.finish();
}

bool write_answer(const Sink& sink, const LinearAnswer& answer) {
    Writer writer(sink, Kind::LinearProgramAnswer);
    writer.number(static_cast<std::uint64_t>(answer.ended));
    writer.real(answer.objective);
    for (const auto* const list : {&answer.primal, &answer.dual}) {
        writer.number(list->size());
        for (const double value : *list) writer.real(value);
    }
    writer.text(answer.words);
    writer.real(answer.seconds);
    return writer.finish();
}

std::optional<Answer> read_answer(const Source& source) {
    Reader reader(source, {Kind::ProgramAnswer});
    const auto read = [&] { return reader.signed_number(); };
    Answer answer;
    answer.ended = read_ended(reader);
    reader.each([&] { answer.values.push_back(read()); });
    answer.objective = reader.optional(read);
    answer.bound = reader.optional(read);
    answer.words = reader.text();
    answer.seconds = reader.real();
    if (!reader.finish()) return std::nullopt;
    return answer;
}

std::optional<LinearAnswer> read_linear_answer(const Source& source) {
    Reader reader(source, {Kind::LinearProgramAnswer});
    LinearAnswer answer;
    answer.ended = read_ended(reader);
    answer.objective = reader.real();
    for (auto* const list : {&answer.primal, &answer.dual}) {
        reader.each([&] { list->push_back(reader.real()); });
    }
    answer.words = reader.text();
    answer.seconds = reader.real();
    if (!reader.finish()) return std::nullopt;
    return answer;
}

}  // namespace tutti::models::remote

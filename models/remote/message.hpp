#pragma once

#include "models/backend.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tutti::models::remote {

/// Consumes bytes; false: the reader has closed.
using Sink = std::function<bool(std::string_view bytes)>;
/// Fills a part of the room from its beginning and says how much; 0: there is nothing more.
using Source = std::function<std::size_t(std::span<char> room)>;

/// What the helper process is asked: a program, for which backend, within which limits.
struct Order {
    std::string backend;                   ///< a name of the registry
    std::optional<Stop::Seconds> seconds;  ///< until the deadline, counted from when the order was written
    unsigned threads = 1;
    std::uint64_t seed = 1;
    std::optional<std::size_t> memory_bytes;
    bool presolve = true;
    std::variant<Program, LinearProgram> program;  ///< variables are named v0, v1, ...
};

/// Writes an order, piece by piece: no message is ever held as a whole. False: the sink was closed.
[[nodiscard]] bool write_order(const Sink& sink, std::string_view backend, const Program& program,
                               const SolveLimits& limits);
[[nodiscard]] bool write_order(const Sink& sink, std::string_view backend, const LinearProgram& program,
                               const SolveLimits& limits);
/// None if the bytes are cut off, changed, or of another format. Memory O(bytes read), whatever they say.
[[nodiscard]] std::optional<Order> read_order(const Source& source);

/// The other way.
[[nodiscard]] bool write_answer(const Sink& sink, const Answer& answer);
[[nodiscard]] bool write_answer(const Sink& sink, const LinearAnswer& answer);
[[nodiscard]] std::optional<Answer> read_answer(const Source& source);
[[nodiscard]] std::optional<LinearAnswer> read_linear_answer(const Source& source);

}  // namespace tutti::models::remote

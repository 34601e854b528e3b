#pragma once

#include "core/ticks.hpp"
#include "io/result_jsonl.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::batch {

/// What happened to a task.
struct TaskEvent {
    enum class Kind {
        Found,  ///< a better schedule or bound
        Ended,  ///< with a line, of a failure too
    };
    Kind kind = Kind::Ended;
    std::size_t task = 0;  ///< the number under which it began
    std::optional<Ticks> makespan{}, lower_bound{};
    std::optional<io::ResultLine> line{};
    std::string digest{};  ///< of the instance's file, once that was read
};

/// An event as text, for the pipe between a child and its parent: one JSON object.
[[nodiscard]] std::string message_of(const TaskEvent& event);
/// Throws InputError.
[[nodiscard]] TaskEvent event_in(std::string_view message);

/// Messages on a stream of bytes: each after its length, in four bytes.
[[nodiscard]] std::string framed(std::string_view message);

/// Takes a stream apart into its messages again.
class Frames {
  public:
    /// The messages that are whole now. Throws InputError for a length that none of ours has.
    [[nodiscard]] std::vector<std::string> feed(std::string_view bytes);

  private:
    std::string rest_;
};

}  // namespace tutti::batch

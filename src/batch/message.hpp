#pragma once

#include "batch/executor.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tutti::batch {

/// TaskEvent of a task as text, for pipes and networks: one JSON object.
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

#pragma once

#include "verify/certificate_paths.hpp"

#include <map>
#include <optional>
#include <vector>

// Shared by the checks about contributions: where messages of reductions end or begin, and how many
// contributions to one chunk an NPU can have by when.

namespace tutti::verify {

/// A link over which messages end at an NPU or begin there: the least time of one, and the least time between
/// two.
struct MessageEnd {
    Wide message, gap;
};

/// Those over which messages of other carriers come to the NPU (forwards), or its own to them (backwards).
[[nodiscard]] std::vector<MessageEnd> message_ends(const Instance& instance, Bytes bytes,
                                                   const std::vector<bool>& carriers, NodeId npu,
                                                   Direction direction);

/// The most contributions to one chunk that any NPU can have, so long after the release: its own, and for
/// each arrival what its sender had. Nobody has faster links than all the fastest of any NPU together.
class KnownContributions {
  public:
    /// Of all NPUs, before anything is asked.
    void add(std::vector<MessageEnd> ends);
    /// The most holders of one chunk.
    void limit(Wide most) { most_ = most; }

    [[nodiscard]] Wide by(Wide time);
    /// Whether it is the most, from then on for good.
    [[nodiscard]] bool all_by(Wide time);
    [[nodiscard]] std::optional<Wide> full() const { return full_; }
    /// Whether the table became too large, so that nothing was proven.
    [[nodiscard]] bool gave_up() const;

  private:
    Wide most_ = 1, message_ = kNever;
    std::vector<Wide> gaps_;  ///< the least first, the least second, ...
    std::map<Wide, Wide> known_;
    std::optional<Wide> full_;  ///< from then on everybody may know everything
};

}  // namespace tutti::verify

#pragma once

#include "lang/trace.hpp"

#include <cstdint>
#include <vector>

namespace tutti::lang {

/// Verbs of a trace that nobody looks at for a while, in a fifth of the memory or less.
class VerbsAside {
  public:
    /// Takes the verbs out of the trace.
    void take(Trace& trace);
    /// Puts them back. Nothing happens if none were taken.
    void give_back(Trace& trace);
    [[nodiscard]] bool any() const { return verbs_ > 0; }

  private:
    std::size_t verbs_ = 0;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace tutti::lang

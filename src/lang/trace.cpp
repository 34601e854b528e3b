#include "lang/trace.hpp"

#include <fmt/format.h>

namespace tutti::lang {

std::string text_of(const ProgramPlace& place) {
    return place.file.empty() ? "verb" : fmt::format("{}:{}", place.file, place.line);
}

std::string text_of(const Trace& trace, const Slot& slot) {
    std::string_view buffer = slot.buffer == kInput ? "input" : "output";
    if (slot.buffer >= kFirstScratch) buffer = trace.scratch[slot.buffer - kFirstScratch];
    return fmt::format("{}[{}] of rank {}", buffer, slot.index, slot.rank);
}

}  // namespace tutti::lang

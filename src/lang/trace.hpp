#pragma once

#include "lang/shape.hpp"
#include "plan/msccl_plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::lang {

/// What the program says about where a verb is executed; -1: nothing.
struct Directive {
    std::int32_t send_block = -1, receive_block = -1, channel = -1;
    friend bool operator==(const Directive&, const Directive&) = default;
};

/// One copy or reduction: the values of `count` neighbouring places become those of others, or are added to
/// them.
struct Verb {
    enum class Kind : std::uint8_t { Copy, Reduce };
    Kind kind = Kind::Copy;
    Slot from{}, to{};  ///< resolved (Shape)
    std::uint32_t count = 1;
    Directive directive{};
    std::uint32_t place = 0;  ///< in Trace::places
    friend bool operator==(const Verb&, const Verb&) = default;
};

/// Who decides which thread block executes what.
enum class BlockPolicy : std::uint8_t { Auto, Manual };

/// A line of the program that was traced.
struct ProgramPlace {
    std::string file{};  ///< empty: not known
    std::uint32_t line = 0;
    friend bool operator==(const ProgramPlace&, const ProgramPlace&) = default;
};
/// "prog.py:12", or "verb" where the place is not known.
[[nodiscard]] std::string text_of(const ProgramPlace& place);

/// A program: its verbs in the order in which they were called. Its meaning is that of running them one after
/// the other.
struct Trace {
    std::string name{};
    Shape shape{};
    plan::Protocol protocol = plan::Protocol::Simple;
    std::uint32_t instances = 1;  ///< how many copies of the program share the data
    /// Whether copies take every m-th part of a chunk, or a stretch of the buffer.
    bool interleaved = true;
    BlockPolicy policy = BlockPolicy::Auto;
    bool fusion = true;
    std::vector<std::string> scratch{};    ///< names of scratch buffers, from kFirstScratch on
    std::vector<ProgramPlace> places{{}};  ///< the first one is "not known"
    std::vector<Verb> verbs{};
    friend bool operator==(const Trace&, const Trace&) = default;

    [[nodiscard]] const ProgramPlace& place_of(const Verb& verb) const { return places[verb.place]; }
};

/// "input[3] of rank 1".
[[nodiscard]] std::string text_of(const Trace& trace, const Slot& slot);

}  // namespace tutti::lang

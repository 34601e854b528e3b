#pragma once

#include "text/output.hpp"
#include "text/terminal_codes.hpp"

namespace tutti::cli {

using text::Tone;
using text::toned;

/// Where a command writes: the result to `out`, progress and messages to `err`. Both escape what they are
/// given. Input comes from the files that the options name.
struct Streams {
    text::Output out;
    text::Output err;
    bool colour_out = false;
    bool colour_err = false;
    bool terminal_err = false;  ///< a person is watching `err`
};

}  // namespace tutti::cli

#pragma once

#include "core/error.hpp"

namespace tutti::python {

/// A chunk program is wrong at `place`, a line of it: tutti.ProgramError.
class ProgramError : public InputError {
    using InputError::InputError;
};

}  // namespace tutti::python

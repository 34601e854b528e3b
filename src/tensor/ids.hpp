#pragma once

#include "core/ids.hpp"

namespace tutti::tensor {

using ValueId = Id<struct ValueTag>;  ///< a value of a program; numbers of values that are gone stay unused
using AxisId = Id<struct AxisTag>;    ///< an axis of the mesh, as it lists them

}  // namespace tutti::tensor

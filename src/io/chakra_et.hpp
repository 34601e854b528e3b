#pragma once

#include "plan/chakra_trace.hpp"

#include <string>

namespace tutti::io {

/// The bytes of one NPU's trace: mlcommons/chakra's et_def.proto, schema 1.0, as ASTRA-sim reads it.
[[nodiscard]] std::string chakra_file(const plan::ChakraTraces& traces, NodeId npu);

/// The input of ASTRA-sim's --comm-group-configuration: {"1": [0, 2], …}.
[[nodiscard]] std::string chakra_groups(const plan::ChakraTraces& traces);

/// Writes PREFIX.0.et, PREFIX.1.et, … and, where there are groups, PREFIX.comm_groups.json: all of them or
/// none. Throws InputError when a file cannot be written.
void write_chakra(const plan::ChakraTraces& traces, const std::string& prefix);

}  // namespace tutti::io

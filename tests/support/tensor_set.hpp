#pragma once

#include "io/json_text.hpp"
#include "tensor/program.hpp"

#include <string>
#include <vector>

namespace tutti::test {

/// tests/data/tensor: programs, schedules of them that are legal, steps that are not, programs that do not
/// type (its README says what each line means).
[[nodiscard]] std::vector<io::Json> tensor_lines(const std::string& name);
[[nodiscard]] std::vector<std::string> tensor_program_names();
[[nodiscard]] tensor::Program tensor_program(const std::string& name);
/// Any file of the folder.
[[nodiscard]] io::Json tensor_json(const std::string& name);
/// A program from its JSON text.
[[nodiscard]] tensor::Program tensor_program_of(const std::string& text);

}  // namespace tutti::test

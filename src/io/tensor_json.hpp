#pragma once

#include "core/stop.hpp"
#include "io/json_view.hpp"
#include "tensor/program.hpp"

#include <string>

namespace tutti::io {

/// The version of the format of tensor programs: the number in "tutti_tensor".
inline constexpr std::int64_t kTensorFormat = 1;

/// Reads a tensor program (instances/schema/tensor-program.schema.json) from a file or, for "-", from
/// standard input. Throws tensor::Refusal with file, place, value, code and words for a program that is
/// malformed (code `malformed`) or ill-typed; InputError for what is no JSON.
[[nodiscard]] tensor::Program read_tensor_program(const std::string& path, const Stop& stop = {});

/// The same for a value, without the file.
[[nodiscard]] tensor::Program parse_tensor_program(const Json& json);

/// Reads back as an equal program: the same values in the same order.
[[nodiscard]] Json write_tensor_program(const tensor::Program& program);

/// To a file (replaced atomically) or, for "-", to standard output.
void save_tensor_program(const std::string& path, const tensor::Program& program);

/// {"data": "local", "tensor": {"sliced": 0}}; replicated axes are left out.
[[nodiscard]] Json write_layouts(const tensor::Layouts& layouts, const tensor::Mesh& mesh);

}  // namespace tutti::io

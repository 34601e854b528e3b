// Tensor programs: read and typed, and written so that they read back as the same text.

#include "io/json_text.hpp"
#include "io/tensor_json.hpp"
#include "tests/fuzz/reading.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size, [](io::Source& source) {
        const tensor::Program program = io::parse_tensor_program(io::parse_json(source));
        const io::Json written = io::write_tensor_program(program);
        if (io::write_tensor_program(io::parse_tensor_program(written)) != written) {
            fuzz::find("what was written reads back as another program");
        }
    });
}

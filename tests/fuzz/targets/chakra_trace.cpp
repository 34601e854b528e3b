// Execution traces: Chakra's and PyTorch's.

#include "io/chakra_trace_file.hpp"
#include "tests/fuzz/reading.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size, [](io::Source& source) { (void)io::read_trace_file(source); });
}

#include "io/teccl_json.hpp"
#include "tests/fuzz/reading.hpp"
#include "verify/plan/plan_verifier.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size,
                         [](io::Source& source) { (void)verify::verify(io::read_teccl_json(source)); });
}

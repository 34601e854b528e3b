// Lists of calls: read and judged.

#include "io/call_list_json.hpp"
#include "tests/fuzz/reading.hpp"
#include "verify/calls/call_order.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(
        data, size, [](io::Source& source) { (void)verify::judge_calls(io::read_call_list_json(source)); });
}

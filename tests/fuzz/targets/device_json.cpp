// Device files: read, and written so that they read back as the same text.

#include "io/device_json.hpp"
#include "io/json_text.hpp"
#include "tests/fuzz/reading.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size, [](io::Source& source) {
        const io::Json json = io::parse_json(source);
        const io::Json written = io::write_device(io::parse_device(io::JsonView(json)));
        if (io::write_device(io::parse_device(io::JsonView(written))) != written) {
            fuzz::find("what was written reads back as another device");
        }
    });
}

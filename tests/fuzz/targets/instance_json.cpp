// Instances: read, and written so that they read back as the same text.

#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "tests/fuzz/reading.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size, [](io::Source& source) {
        const Instance instance = io::parse_instance(io::parse_json(source), "input");
        const io::Json written = io::write_instance(instance);
        if (io::write_instance(io::parse_instance(written, "input")) != written) {
            fuzz::find("what was written reads back as another instance");
        }
    });
}

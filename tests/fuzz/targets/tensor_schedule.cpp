// Schedules of tensor programs, as JSON and as text; what was read is written as JSON so that it reads back
// the same.

#include "io/json_text.hpp"
#include "io/tensor_schedule_json.hpp"
#include "io/tensor_schedule_text.hpp"
#include "tests/fuzz/reading.hpp"

#include <string_view>

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size, [&](io::Source& source) {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        const tensor::Schedule schedule = text.starts_with('{')
                                              ? io::parse_tensor_schedule(io::parse_json(source))
                                              : io::parse_tensor_schedule_text(std::string(text));
        const io::Json written = io::write_tensor_schedule(schedule);
        if (io::write_tensor_schedule(io::parse_tensor_schedule(written)) != written) {
            fuzz::find("what was written reads back as another schedule");
        }
    });
}

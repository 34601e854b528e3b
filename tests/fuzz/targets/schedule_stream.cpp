#include "io/schedule_stream.hpp"
#include "tests/fuzz/reading.hpp"

#include <utility>

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size, [](io::Source& source) {
        io::StreamSource stream(std::move(source));
        // A few bytes may stand for very many sends; the reader never holds them, but they take their time.
        for (int blocks = 0; blocks < 64 && !stream.next().empty(); ++blocks) {
        }
    });
}

#include "io/chunk_trace.hpp"
#include "lang/tracer.hpp"
#include "tests/fuzz/reading.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size, [](io::Source& source) {
        const lang::Trace trace = io::read_chunk_trace(source);
        if (trace.shape.ranks > 64 || trace.shape.chunks > 64) return;  // large buffers are slow, not wrong
        io::Source again = io::Source::of_text(io::chunk_trace_text(trace), "again");
        if (io::read_chunk_trace(again) != trace) fuzz::find("a trace is not read as it was written");
        (void)lang::traced(trace);
    });
}

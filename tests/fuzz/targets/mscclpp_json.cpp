// MSCCL++ JSON: read, judged, and written so that it reads back the same.

#include "io/mscclpp_json.hpp"
#include "tests/fuzz/reading.hpp"
#include "verify/plan/plan_verifier.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size, [](io::Source& source) {
        const plan::ExecutionPlan plan = io::read_mscclpp_json(source);
        verify::PlanReading reading;
        reading.target = plan::Target::Mscclpp;
        (void)verify::verify(plan, reading);
        io::Source again = io::Source::of_text(io::mscclpp_json_text(plan), "what was written");
        if (io::read_mscclpp_json(again) != plan) fuzz::find("what was written reads back as another plan");
    });
}

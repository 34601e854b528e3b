// MSCCL XML: read, judged in several readings, and written so that it reads back the same.

#include "io/msccl_xml.hpp"
#include "tests/fuzz/reading.hpp"
#include "verify/plan/plan_verifier.hpp"

using namespace tutti;

namespace {

/// Judging takes time with the chunks that are moved, of which a few bytes can ask for very many; with the
/// sanitizers that takes too long.
bool is_small(const plan::MscclPlan& plan) {
    std::int64_t chunks = 0;
    for (const plan::Gpu& gpu : plan.gpus) {
        for (const plan::ThreadBlock& block : gpu.blocks) {
            for (const plan::Step& step : block.steps) chunks += step.count;
        }
    }
    return chunks < 1 << 20;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size, [](io::Source& source) {
        plan::MscclPlan plan = io::read_msccl_xml(source);
        if (!is_small(plan)) return;
        for (const auto operand :
             {verify::PlanReading::Operand::Source, verify::PlanReading::Operand::Destination}) {
            verify::PlanReading reading;
            reading.operand = operand;
            reading.target = plan::Target::Msccl;
            reading.copies_first = operand == verify::PlanReading::Operand::Destination;
            (void)verify::verify(plan, reading);
        }
        io::Source again = io::Source::of_text(io::msccl_xml_text(plan), "what was written");
        plan.remarks.clear();
        if (io::read_msccl_xml(again) != plan) fuzz::find("what was written reads back as another plan");
    });
}

// Faults of real producers, each found in a file that the producer made or published. Every case says in one
// sentence what the producer did wrong; where it helps, that another reading of the same file is right.

#include "io/msccl_xml.hpp"
#include "io/source.hpp"
#include "source_dir.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace {

using namespace tutti;
using plan::PlanClass;
using verify::PlanReading;

plan::PlanVerdict judged(const std::string& file, const PlanReading& reading = {}) {
    io::Source source(std::string(TUTTI_SOURCE_DIR) + "/tests/data/msccl-xml/" + file);
    return verify::verify(io::read_msccl_xml(source), reading);
}

bool is_invalid_for(const plan::PlanVerdict& verdict, std::string_view code) {
    return verdict.verdict == PlanClass::Invalid && verdict.violations.front().code == code;
}

PlanReading as(CollectiveKind goal) {
    PlanReading reading;
    reading.goal = goal;
    return reading;
}

bool says(const plan::PlanVerdict& verdict, std::string_view text) {
    return std::ranges::any_of(verdict.violations, [&](const plan::PlanFinding& finding) {
        return finding.message.find(text) != std::string::npos;
    });
}

}  // namespace

TEST_CASE(
    "MSCCLang: interleaved replication of copies of several chunks loses dependencies between instances") {
    CHECK(is_invalid_for(judged("msccl-tools-generated/allgather_recursive_doubling__4_2.xml"), "race"));
}

TEST_CASE("MSCCLang example: the hierarchical PCIe all-reduce adds a contribution twice and misses others") {
    const auto verdict = judged("azure-msccl-tools-generated/allreduce_a100_pcie_hierarchical__4_1.xml");
    CHECK(is_invalid_for(verdict, "value"));
    CHECK(says(verdict, "added too often"));
    CHECK(says(verdict, "missing"));
}

TEST_CASE("MSCCLang example: a pipeline that reduces to its last rank is labelled allreduce") {
    const auto verdict = judged("azure-msccl-tools-generated/pipeline_a100_allpairs__4_1.xml");
    CHECK(is_invalid_for(verdict, "value"));
}

TEST_CASE(
    "MSCCLang example: an all-reduce written for 4 gpus is generated for 8, and four contributions are "
    "missing") {
    const auto verdict = judged("msccl-tools-generated/allreduce_a100_ncv4__8_1.xml");
    CHECK(is_invalid_for(verdict, "value"));
    CHECK(says(verdict, "missing (2..5,0)"));
}

TEST_CASE(
    "MSCCLang example: alltonext is declared in place although input and output are used as two buffers") {
    const std::string file = "msccl-tools-generated/alltonext_forward__2_2.xml";
    CHECK(is_invalid_for(judged(file), "race"));
    io::Source source(std::string(TUTTI_SOURCE_DIR) + "/tests/data/msccl-xml/" + file);
    plan::MscclPlan plan = io::read_msccl_xml(source);
    plan.in_place = false;
    plan.out_of_place = true;
    CHECK(verify::verify(plan, as(CollectiveKind::AllToNext)).verdict == PlanClass::Valid);
}

TEST_CASE("MSCCLang: a fused receive-and-send writes to the scratch offset of the remote rank") {
    io::Source source(std::string(TUTTI_SOURCE_DIR) +
                      "/tests/data/msccl-xml/msccl-tools-generated/alltonext_forward__3_1.xml");
    plan::MscclPlan plan = io::read_msccl_xml(source);
    plan.in_place = false;
    plan.out_of_place = true;
    CHECK(verify::verify(plan, as(CollectiveKind::AllToNext)).verdict == PlanClass::Invalid);
}

TEST_CASE("old msccl-tools: two thread blocks of a gpu send to the same peer on the same channel") {
    CHECK(is_invalid_for(judged("msccl-tools-history/experiments_ar__ring_2_4@58e7b0f.xml"), "connection"));
}

TEST_CASE("old msccl: a hand-written all-reduce reduces only a part of the chunks") {
    CHECK(is_invalid_for(judged("msccl-old/ar_ll@103e2d0.xml"), "value"));
}

TEST_CASE("ForestColl: the out-of-place all-gather reads the send buffer at the chunk's global index") {
    const auto verdict = judged("forestcoll-generated/forestcoll_allgather_mi250x1_out_i1.xml");
    CHECK(is_invalid_for(verdict, "range"));
    CHECK(verdict.violations.front().place.buffer == plan::Buffer::Input);
}

TEST_CASE("SCCL ncclize: with two instances plain receives become reducing ones") {
    CHECK(is_invalid_for(judged("sccl-synthesised/sccl_Allgather.n4-Ring.n4-steps3_i2.xml"), "value"));
    CHECK(is_invalid_for(judged("sccl-synthesised/sccl_Alltoall.n4-Line.n4-steps4_i2.xml"), "range"));
    // For a gather the useless sums stay in scratch, so that its result is right all the same.
    const std::string gather = "sccl-synthesised/sccl_Gather.n4.root0-FullyConnected.n4-steps3_i2.xml";
    CHECK(is_invalid_for(judged(gather), "race"));
    CHECK(judged(gather, as(CollectiveKind::Gather)).verdict == PlanClass::Valid);
}

TEST_CASE("TACCL: a rank's own block of an all-to-all is left to a <copy> that no runtime executes") {
    const std::string file =
        "taccl-fork-mi300x/"
        "Alltoall.n8-MI300X-DUMB-MI300X-DUMB-steps2-tacclsol-improve-1736374135_i1_scRemote1_IBContig"
        ".sccl.xml";
    CHECK(is_invalid_for(judged(file), "value"));
    PlanReading reading;
    reading.copies_first = true;
    CHECK(judged(file, reading).verdict == PlanClass::Valid);
}

TEST_CASE("TACCL: a rank's own block of an all-to-all is copied by nothing at all") {
    const std::string file =
        "taccl-fork-mi300x/"
        "r__original-Alltoall.n8-MI300X-DUMB-MI300X-DUMB-steps2-tacclsol-improve-1736374135_i1_"
        "scRemote1_IBContig.sccl.xml";
    PlanReading reading;
    reading.copies_first = true;
    CHECK(is_invalid_for(judged(file, reading), "value"));
}

TEST_CASE("TE-CCL to MSCCL: every pair of peers receives before it sends") {
    const auto verdict =
        judged("teccl-msccl/experiments__output__nvswitch16__AllGather__Fast__64MB_msccl_annotated.xml");
    CHECK(is_invalid_for(verdict, "deadlock"));
}

TEST_CASE("MSCCL-XML-Builder: an all-to-all is labelled allreduce to please a test bed") {
    const std::string file = "xml-builder-generated/builder_basic_alltoall_2x4.xml";
    CHECK(is_invalid_for(judged(file), "value"));
    CHECK(judged(file, as(CollectiveKind::AllToAll)).verdict == PlanClass::Valid);
}

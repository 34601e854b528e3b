#include "io/chunk_trace.hpp"

#include "core/error.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::io;

namespace {

lang::Trace parsed(const std::string& text) {
    Source source = Source::of_text(text, "x.chunks");
    return read_chunk_trace(source);
}
std::string refused(const std::string& text) {
    try {
        (void)parsed(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

const std::string kHead = "tutti_trace 1\nprogram p collective all_reduce ranks 2 chunks 2 in_place 1\n";

}  // namespace

TEST_CASE("a trace file is read as it was written") {
    lang::Trace trace;
    trace.name = "my ring, v2%";
    trace.shape = {
        .kind = CollectiveKind::Broadcast, .ranks = 3, .chunks = 2, .in_place = false, .root = Rank(2)};
    trace.protocol = plan::Protocol::LL128;
    trace.instances = 4;
    trace.interleaved = false;
    trace.policy = lang::BlockPolicy::Manual;
    trace.fusion = false;
    trace.scratch = {"scratch", "left half"};
    trace.places = {{}, {"dir/a b.py", 7}};
    trace.verbs = {
        {lang::Verb::Kind::Copy, {2, lang::kInput, 0}, {0, lang::kFirstScratch, 3}, 2, {1, 2, 0}, 1},
        {lang::Verb::Kind::Reduce, {0, lang::kFirstScratch + 1, 0}, {1, lang::kOutput, 1}, 1, {}, 0}};
    CHECK(parsed(chunk_trace_text(trace)) == trace);

    lang::Trace custom;
    custom.name = "";
    custom.shape = {.kind = CollectiveKind::Custom, .ranks = 2, .chunks = 1};
    custom.shape.custom_inputs = 3;
    custom.shape.custom_outputs = 1;
    custom.shape.initial = {{{1, lang::kInput, 2}, {Rank(1), 2}}};
    CHECK(parsed(chunk_trace_text(custom)) == custom);
}

TEST_CASE("a line of a program has one place, however it is spelled") {
    const lang::Trace trace = parsed(kHead + "copy 0 i 0 1 i 0 1 @a.py:7\ncopy 0 i 0 1 i 0 1 @%61.py:07\n");
    CHECK(trace.places == std::vector<lang::ProgramPlace>{{}, {"a.py", 7}});
    CHECK(trace.verbs[0].place == trace.verbs[1].place);
    CHECK(parsed(chunk_trace_text(trace)) == trace);
}

TEST_CASE("bad trace files are refused with their line") {
    CHECK(refused("") == "x.chunks: at line 1: expected \"tutti_trace 1\"");
    CHECK(refused("tutti_trace 2\n") == "x.chunks: at line 1: expected \"tutti_trace 1\"");
    CHECK(refused("tutti_trace 1\ncopy 0 i 0 1 i 0 1\n") ==
          "x.chunks: at line 2: expected a line \"program …\" first");
    CHECK(refused("tutti_trace 1\n") == "x.chunks: at line 1: expected a line \"program …\"");
    CHECK(refused("tutti_trace 1\nprogram p collective all_reduced ranks 2\n")
              .find("no collective 'all_reduced'") != std::string::npos);
    CHECK(refused("tutti_trace 1\nprogram p collective all_reduce\n").find("expected ranks") !=
          std::string::npos);
    CHECK(refused(kHead + "move 0 i 0 1 i 0 1\n") ==
          "x.chunks: at line 3: expected program, init, copy or reduce, found 'move'");
    CHECK(refused(kHead + "copy 0 i 0 2 i 0 1\n") ==
          "x.chunks: at line 3: expected a number from 0 to 1, found '2'");
    CHECK(refused(kHead + "copy 0 i 0 1 i -1 1 sendtb 0 @a.py:7\n") ==
          "x.chunks: at line 3, a.py:7: expected a number from 0 to 1073741824, found '-1'");
    CHECK(refused(kHead + "copy 0 q 0 1 i 0 1\n") ==
          "x.chunks: at line 3: expected a buffer i, o, s or s:NAME, found 'q'");
    CHECK(refused(kHead + "copy 0 i 0 1 i 0 0\n").find("found '0'") != std::string::npos);
    CHECK(refused(kHead + "copy 0 i 0 1 i 0\n").find("found ''") != std::string::npos);
    CHECK(refused(kHead + "copy 0 i 0 1 i 0 1 tb 3\n").find("found 'tb'") != std::string::npos);
    CHECK(refused(kHead + "copy 0 i 0 1 i 0 1 @here\n").find("@FILE:LINE") != std::string::npos);
    CHECK(refused(kHead + "copy 0 i 0 1 i 0 1 @:7\n").find("@FILE:LINE, found '@:7'") != std::string::npos);
    CHECK(refused(kHead + "copy 0 i 0 1 i 0 1 @%:7\n").find("@FILE:LINE") != std::string::npos);
    CHECK(refused("tutti_trace 1\nprogram p collective all_reduce ranks 2 inputs 3\n")
              .find("inputs and outputs are for custom") != std::string::npos);
    CHECK(refused("tutti_trace 1\nprogram p collective custom ranks 2\ninit 0 s:b 0 0 0\n")
              .find("at line 3: scratch buffers hold nothing") != std::string::npos);
    CHECK(refused(kHead + "copy 0 s:% 0 1 s:%4 0 1\n").find("%XX") != std::string::npos);
    CHECK(refused(kHead + "init 0 i 0 0 0\n").find("custom") != std::string::npos);
    CHECK(refused(kHead + kHead.substr(kHead.find('\n') + 1)).find("one line") != std::string::npos);
}

#include "io/msccl_xml.hpp"

#include "core/rng.hpp"
#include "io/xml_characters.hpp"
#include "plan/plan_error.hpp"
#include "scratch.hpp"
#include "tests/support/plan_ids.hpp"

#include <fmt/format.h>

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

const std::string kFile = R"(<?xml version="1.0"?>
<!-- two ranks exchange a chunk -->
<algo name="pair" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="1" outofplace="0" minBytes="0" maxBytes="4294967296">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="-1" chan="0">
      <step s="0" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="-1" recv="0" chan="0">
      <step s="0" type="r" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
    </tb>
  </gpu>
</algo>
)";

plan::MscclPlan parsed(const std::string& text) {
    Source source = Source::of_text(text, "x.xml");
    return read_msccl_xml(source);
}

/// kFile with the first `from` turned into `to`.
std::string with(const std::string& from, const std::string& to, std::string text = kFile) {
    const auto at = text.find(from);
    REQUIRE_MESSAGE(at != text.npos, from);
    return text.replace(at, from.size(), to);
}

plan::PlanError refused(const std::string& text) {
    try {
        (void)parsed(text);
    } catch (const plan::PlanError& error) {
        CHECK(error.file() == "x.xml");
        CHECK_FALSE(error.place().empty());
        return error;
    }
    FAIL("expected a PlanError of: ", text.substr(0, 300));
    return {"none", ""};
}
std::string code_of(const std::string& text) { return refused(text).code(); }

}  // namespace

TEST_CASE("all fields of a plan in MSCCL-IR XML are read") {
    const plan::MscclPlan plan = parsed(kFile);
    CHECK(plan.name == "pair");
    CHECK(plan.protocol == plan::Protocol::LL);
    CHECK(plan.chunks_per_loop == 2);
    CHECK(plan.ranks == 2);
    CHECK(plan.collective == "allgather");
    CHECK(plan.in_place == true);
    CHECK(plan.out_of_place == false);
    CHECK(plan.max_bytes == std::int64_t{1} << 32);
    REQUIRE(plan.gpus.size() == 2);
    const plan::Step receive{.number = plan::StepId(0),
                             .type = plan::StepType::Receive,
                             .signals = true,
                             .src = {plan::Buffer::Input, std::nullopt},
                             .dst = {plan::Buffer::Output, plan::ChunkOffset(0)},
                             .count = 1};
    const plan::ThreadBlock second{
        .id = plan::BlockId(0), .recv_peer = Rank(0), .channel = plan::ChannelId(0), .steps = {receive}};
    CHECK(plan.gpus[1].blocks == std::vector{second});
    CHECK(plan.remarks.empty());
}

TEST_CASE("what a step leaves out has its default") {
    const auto text = with(R"( cnt="1" depid="-1" deps="-1" hasdep="0")", "");
    CHECK(parsed(text) == parsed(kFile));
}

TEST_CASE("the collective, the modes and the sizes may be missing, and are then not there") {
    const auto plan = parsed(
        with(R"( coll="allgather" inplace="1" outofplace="0" minBytes="0" maxBytes="4294967296")", ""));
    CHECK_FALSE(plan.collective);
    CHECK_FALSE(plan.in_place);
    CHECK_FALSE(plan.out_of_place);
    CHECK_FALSE(plan.min_bytes);
    CHECK_FALSE(plan.max_bytes);
}

TEST_CASE("order, quotes, comments and strange attributes do not change a plan") {
    auto text = with(R"(s="0" type="s")", R"(type = 's' extra="&lt;&#65;&amp;" s='&#48;')");
    text = with(R"(<tb id="0" send="1")", R"(<!-- a < b & c --><tb send="1" rate="5" id="0")", text);
    CHECK(parsed(text) == parsed(kFile));
    CHECK(parsed("\xEF\xBB\xBF" + kFile) == parsed(kFile));
}

TEST_CASE("UTF-16 with a byte order mark is read too") {
    std::string little("\xFF\xFE", 2), big("\xFE\xFF", 2);
    for (const char c : kFile) {
        little += {c, '\0'};
        big += {'\0', c};
    }
    CHECK(parsed(little) == parsed(kFile));
    CHECK(parsed(big) == parsed(kFile));
    CHECK(utf8_of_utf16(std::string("\xFF\xFE\xAC\x20\x3D\xD8\x00\xDE", 8)) ==
          "\xE2\x82\xAC\xF0\x9F\x98\x80");
    CHECK(code_of(little.substr(0, little.size() - 1)) == "xml");
    CHECK(code_of(std::string("\xFF\xFE\x00\xD8<\0", 6)) == "xml");
}

TEST_CASE("unknown elements are ignored, each kind with one remark") {
    auto text = with("<gpu id=\"0\"", "<cost/><cost/>words<gpu id=\"0\"");
    text = with("<step s", "<note><step/><gpu/></note><step s", text);
    auto plan = parsed(text);
    CHECK(plan.remarks == std::vector<std::string>{"<cost> inside <algo> ignored (2 times)",
                                                   "<note> inside <tb> ignored",
                                                   "text inside <algo> ignored"});
    plan.remarks.clear();
    CHECK(plan == parsed(kFile));

    std::string kinds;
    for (int i = 0; i < 5000; ++i) kinds += fmt::format("<e{}/>", i);
    CHECK(parsed(with("<gpu id=\"0\"", kinds + "<gpu id=\"0\"")).remarks.size() < 30);
}

TEST_CASE("copies of a gpu are kept; one without offsets is ignored") {
    const auto plan = parsed(with("<tb", R"(<copy i_off="0" o_off="1"/><copy/><tb)"));
    CHECK(plan.gpus[0].copies == std::vector<plan::LocalCopy>{{0, 1}});
    CHECK(plan.remarks == std::vector<std::string>{"<copy> inside <gpu> ignored"});
    CHECK(code_of(with("<tb", R"(<copy i_off="x" o_off="1"/><tb)")) == "bad-integer");
}

TEST_CASE("what is not well-formed is refused as xml") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"empty", ""},
        {"only space", " \n"},
        {"only a comment", "<!-- nothing -->"},
        {"no element", "hello"},
        {"truncated in a tag", kFile.substr(0, 200)},
        {"truncated in a value", kFile.substr(0, kFile.find("pair") + 2)},
        {"truncated in a comment", kFile.substr(0, kFile.find("ranks"))},
        {"truncated before its end", kFile.substr(0, kFile.find("</algo>"))},
        {"text before the root", "x" + kFile},
        {"text after the root", kFile + "x"},
        {"CDATA after the root", kFile + "<![CDATA[x]]>"},
        {"two roots", kFile + "<algo/>"},
        {"an end too many", kFile + "</algo>"},
        {"crossing tags", with("</tb>\n  </gpu>", "</gpu>\n  </tb>")},
        {"an attribute twice", with("cnt=\"1\"", "cnt=\"1\" cnt=\"1\"")},
        {"an unknown attribute twice", with("cnt=\"1\"", "zzz=\"1\" cnt=\"1\" zzz=\"2\"")},
        {"no quotes", with("cnt=\"1\"", "cnt=1")},
        {"no value", with("cnt=\"1\"", "cnt")},
        {"no space between attributes", with("cnt=\"1\" ", "cnt=\"1\"")},
        {"an open quote", with("cnt=\"1\"", "cnt=\"1")},
        {"< in a value", with("\"pair\"", "\"a<b\"")},
        {"& in a value", with("\"pair\"", "\"a&b\"")},
        {"an entity nobody defined", with("\"pair\"", "\"&pair;\"")},
        {"a character by number that XML forbids", with("\"pair\"", "\"&#0;\"")},
        {"a number too large for a character", with("\"pair\"", "\"&#x110000;\"")},
        {"& in a text", with("<tb", "a & b<tb")},
        {"]]> in a text", with("<tb", "]]><tb")},
        {"-- in a comment", with("exchange", "--exchange")},
        {"a declaration that is not first", " " + kFile},
        {"not UTF-8", with("pair", "\xFF\xFE\xC3(")},
        {"overlong UTF-8", with("pair", "\xC0\xAF")},
        {"a surrogate in UTF-8", with("pair", "\xED\xA0\x80")},
        {"a control character", with("pair", "\x01")},
        {"a NUL", with("pair", std::string(1, '\0'))},
        {"a tag without name", with("<tb id", "< tb id")},
        {"a lone slash", with("hasdep=\"0\"/>", "hasdep=\"0\"/ >")},
    };
    for (const auto& [what, text] : cases) {
        CAPTURE(what);
        CHECK(code_of(text) == "xml");
    }
}

TEST_CASE("document types and entities are refused at once") {
    const std::string bomb = R"(<?xml version="1.0"?><!DOCTYPE algo [<!ENTITY a "&b;&b;&b;">]>)";
    CHECK(code_of(with("<?xml version=\"1.0\"?>", bomb)) == "dtd");
    CHECK(code_of("<!DOCTYPE algo SYSTEM \"file:///etc/passwd\">" + kFile.substr(kFile.find("<algo"))) ==
          "dtd");
    CHECK(code_of(with("<tb", "<!ENTITY a \"b\"><tb")) == "dtd");
}

TEST_CASE("another root is refused") {
    CHECK(code_of("<topo/>") == "root");
    CHECK(code_of("<Algo/>") == "root");
}

TEST_CASE("a missing attribute is named, with its element and its place") {
    for (const char* attribute :
         {" proto=\"LL\"", " nchannels=\"1\"", " nchunksperloop=\"2\"", " ngpus=\"2\"", " i_chunks=\"1\"",
          " o_chunks=\"2\"", " s_chunks=\"0\"", " send=\"1\"", " recv=\"-1\"", " chan=\"0\"", " type=\"s\"",
          " srcbuf=\"o\"", " srcoff=\"0\"", " dstbuf=\"o\"", " dstoff=\"0\""}) {
        CAPTURE(attribute);
        CHECK(code_of(with(attribute, "")) == "missing-attribute");
    }
    CHECK(code_of(with("gpu id=\"0\"", "gpu")) == "missing-attribute");
    CHECK(code_of(with("tb id=\"0\"", "tb")) == "missing-attribute");
    CHECK(code_of(with("step s=\"0\"", "step")) == "missing-attribute");
    const auto error = refused(with(" dstoff=\"0\"", ""));
    CHECK(error.message() == "<step> lacks its attribute dstoff");
    CHECK(error.place() == "6:7");
}

TEST_CASE("what is no decimal integer of its range is refused") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"srcoff=\"0\"", "srcoff=\"0x0\""},
        {"srcoff=\"0\"", "srcoff=\"\""},
        {"srcoff=\"0\"", "srcoff=\" 0\""},
        {"srcoff=\"0\"", "srcoff=\"+0\""},
        {"srcoff=\"0\"", "srcoff=\"0.0\""},
        {"srcoff=\"0\"", "srcoff=\"0 \""},
        {"srcoff=\"0\"", "srcoff=\"-2\""},
        {"srcoff=\"0\"", "srcoff=\"4294967296\""},
        {"srcoff=\"0\"", "srcoff=\"2147483648\""},
        {"dstoff=\"0\"", "dstoff=\"99999999999999999999999999999\""},
        {"cnt=\"1\"", "cnt=\"-1\""},
        {"send=\"1\"", "send=\"-2\""},
        {"recv=\"-1\"", "recv=\"-2\""},
        {"chan=\"0\"", "chan=\"-2\""},
        {"depid=\"-1\"", "depid=\"-2\""},
        {"deps=\"-1\"", "deps=\"-2\""},
        {"hasdep=\"0\"", "hasdep=\"2\""},
        {"hasdep=\"0\"", "hasdep=\"-1\""},
        {"step s=\"0\"", "step s=\"-1\""},
        {"tb id=\"0\"", "tb id=\"-1\""},
        {"gpu id=\"0\"", "gpu id=\"-1\""},
        {"i_chunks=\"1\"", "i_chunks=\"-1\""},
        {"nchunksperloop=\"2\"", "nchunksperloop=\"0\""},
        {"ngpus=\"2\"", "ngpus=\"0\""},
        {"nchannels=\"1\"", "nchannels=\"-1\""},
        {" inplace=\"1\"", " inplace=\"2\""},
        {"outofplace=\"0\"", "outofplace=\"no\""},
        {"minBytes=\"0\"", "minBytes=\"-1\""},
        {"maxBytes=\"4294967296\"", "maxBytes=\"9223372036854775808\""},
    };
    for (const auto& [from, to] : cases) {
        CAPTURE(to);
        CHECK(code_of(with(from, to)) == "bad-integer");
    }
    const auto error = refused(with("hasdep=\"0\"", "hasdep=\"2\""));
    CHECK(error.message() == "hasdep of <step>: expected a decimal integer from 0 to 1, found \"2\"");
    CHECK(error.place() == "6:7");
}

TEST_CASE("unknown words of the format are refused") {
    CHECK(code_of(with("proto=\"LL\"", "proto=\"ll\"")) == "proto");
    CHECK(code_of(with("type=\"s\"", "type=\"send\"")) == "type");
    CHECK(code_of(with("type=\"s\"", "type=\"\"")) == "type");
    CHECK(code_of(with("srcbuf=\"o\"", "srcbuf=\"x\"")) == "buffer");
    CHECK(code_of(with("dstbuf=\"o\"", "dstbuf=\"os\"")) == "buffer");
    CHECK(code_of(with("dstbuf=\"o\"", "dstbuf=\"\"")) == "buffer");
}

TEST_CASE("counts beyond every runtime's limits are refused before memory is allocated") {
    CHECK(code_of(with("nchunksperloop=\"2\"", "nchunksperloop=\"1000000000\"")) == "too-large");
    CHECK(code_of(with("ngpus=\"2\"", "ngpus=\"1048577\"")) == "too-large");
    CHECK(parsed(with("nchunksperloop=\"2\"", "nchunksperloop=\"16777216\"")).chunks_per_loop == 1 << 24);
    CHECK(parsed(with("s_chunks=\"0\"", "s_chunks=\"2147483647\"")).gpus[0].scratch_chunks == 2147483647);
    std::string many;
    for (int i = 0; i < 1000; ++i) many += fmt::format(" a{}=\"\"", i);
    CHECK(code_of(with("<tb", "<tb" + many)) == "too-large");
}

TEST_CASE("a deeply nested file is refused without a crash") {
    constexpr int kDeep = 300000;
    std::string opened, closed;
    for (int i = 0; i < kDeep; ++i) {
        opened += "<a>";
        closed += "</a>";
    }
    CHECK(code_of(opened) == "xml");
    CHECK(code_of(opened + closed) == "root");
    CHECK(parsed(with("<tb", opened + closed + "<tb")).remarks.size() == 1);
}

namespace {

plan::MscclPlan random_plan(Rng& rng) {
    const auto below = [&](std::int32_t n) {
        return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(n)));
    };
    const auto wide = [&](std::int32_t least) {
        return below(3) == 0 ? 2147483647 - below(3) : least + below(5);
    };
    const std::vector<std::string> names{"", "a b", "<&\"'>", "tab\there\r\n", "\xE2\x82\xAC", "x]]>y--z"};
    plan::MscclPlan plan;
    plan.name = names[static_cast<std::size_t>(below(6))];
    plan.protocol = static_cast<plan::Protocol>(below(3));
    plan.channels = wide(0);
    plan.chunks_per_loop = 1 + below(kMostChunksPerLoop);
    plan.ranks = 1 + below(kMostRanks);
    if (below(2)) plan.collective = names[static_cast<std::size_t>(below(6))];
    if (below(2)) plan.in_place = below(2) == 1;
    if (below(2)) plan.out_of_place = below(2) == 1;
    if (below(2)) plan.min_bytes = below(1000);
    if (below(2)) plan.max_bytes = std::int64_t{9223372036854775807} - below(3);
    const auto buffer = [&] { return static_cast<plan::Buffer>(below(3)); };
    for (int g = below(4); g > 0; --g) {
        plan::Gpu gpu{test::id<Rank>(wide(0)), wide(0), wide(0), wide(0), {}, {}};
        for (int c = below(3); c > 0; --c) gpu.copies.push_back({wide(0), wide(0)});
        for (int b = below(4); b > 0; --b) {
            plan::ThreadBlock block{test::id<plan::BlockId>(wide(0)),
                                    test::maybe<Rank>(wide(-1)),
                                    test::maybe<Rank>(wide(-1)),
                                    test::maybe<plan::ChannelId>(wide(-1)),
                                    {}};
            for (int s = below(5); s > 0; --s) {
                block.steps.push_back({test::id<plan::StepId>(wide(0)),
                                       static_cast<plan::StepType>(below(plan::kStepTypes)),
                                       below(2) == 1,
                                       {buffer(), test::maybe<plan::ChunkOffset>(wide(-1))},
                                       {buffer(), test::maybe<plan::ChunkOffset>(wide(-1))},
                                       wide(0),
                                       test::maybe<plan::BlockId>(wide(-1)),
                                       test::maybe<plan::StepId>(wide(-1))});
            }
            gpu.blocks.push_back(std::move(block));
        }
        plan.gpus.push_back(std::move(gpu));
    }
    return plan;
}

}  // namespace

TEST_CASE("random plans survive writing and reading") {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const plan::MscclPlan plan = random_plan(rng);
        REQUIRE(parsed(msccl_xml_text(plan)) == plan);
    }
}

TEST_CASE("a plan is written to its file whole; what XML cannot hold in a name is a question mark") {
    const Scratch scratch;
    plan::MscclPlan plan = parsed(kFile);
    plan.name = "a\x01\xFF";
    write_msccl_xml(scratch.path("x.xml"), plan);
    Source source(scratch.path("x.xml"));
    CHECK(read_msccl_xml(source).name == "a??");
    CHECK(scratch.count() == 1);
}

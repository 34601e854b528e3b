// The files are read back here by field numbers of et_def.proto, not by code of ours. They were also read by
// Chakra's own Python classes and run by ASTRA-sim (docs/chakra.md).

#include "io/chakra_et.hpp"

#include "compile/chakra_lowering.hpp"
#include "io/file_set.hpp"
#include "scratch.hpp"
#include "tests/support/builders.hpp"

#include <protozero/pbf_reader.hpp>

#include <map>
#include <variant>

using namespace tutti;
using plan::ChakraTraces;
using test::copy;

namespace {

using Value = std::variant<std::int64_t, bool, std::string>;

struct ReadNode {
    std::uint64_t id = 0, microseconds = 0;
    std::string name;
    std::int32_t type = 0;
    std::vector<std::uint64_t> data_deps;
    std::map<std::string, std::pair<int, Value>> attributes;  ///< field number and value
};

struct ReadFile {
    std::string version;
    std::vector<ReadNode> nodes;
};

void read_attribute(protozero::pbf_reader attribute, ReadNode& node) {
    std::string name;
    std::pair<int, Value> value;
    while (attribute.next()) {
        const int field = static_cast<int>(attribute.tag());
        switch (field) {
            case 1:
                name = attribute.get_string();
                break;
            case 7:
                value = {field, std::int64_t{attribute.get_int32()}};
                break;
            case 9:
                value = {field, attribute.get_int64()};
                break;
            case 13:
                value = {field, static_cast<std::int64_t>(attribute.get_uint64())};
                break;
            case 27:
                value = {field, attribute.get_bool()};
                break;
            case 29:
                value = {field, attribute.get_string()};
                break;
            default:
                FAIL("an attribute of unknown type");
        }
    }
    CHECK(node.attributes.emplace(name, value).second);
}

ReadNode read_node(protozero::pbf_reader message) {
    ReadNode node;
    while (message.next()) {
        switch (message.tag()) {
            case 1:
                node.id = message.get_uint64();
                break;
            case 2:
                node.name = message.get_string();
                break;
            case 3:
                node.type = message.get_enum();
                break;
            case 5:
                for (const std::uint64_t id : message.get_packed_uint64()) node.data_deps.push_back(id);
                break;
            case 7:
                node.microseconds = message.get_uint64();
                break;
            case 10:
                read_attribute(message.get_message(), node);
                break;
            default:
                FAIL("a node's field of unknown number");
        }
    }
    return node;
}

ReadFile read_file(const std::string& bytes) {
    ReadFile file;
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    for (bool first = true; at != end; first = false) {
        const std::uint64_t length = protozero::decode_varint(&at, end);
        REQUIRE(length <= static_cast<std::uint64_t>(end - at));
        protozero::pbf_reader message(at, static_cast<std::size_t>(length));
        at += length;
        if (first) {
            REQUIRE(message.next(1));
            file.version = message.get_string();
        } else {
            file.nodes.push_back(read_node(message));
        }
    }
    return file;
}

/// 0 passes two chunks of its own to 1, which passes the first on to 2; NPU 3 is not in it.
ChakraTraces example() {
    Collective two = test::custom({0}, {1, 2});
    two.id = "x";
    two.chunk_bytes = Bytes{5'000'000'000};
    two.demands.push_back(two.demands.front());
    two.demands[1].receivers = test::nodes({1});
    test::Net net(4);
    net.link(0, 1).link(1, 2).link(2, 3).link(3, 0);
    const Instance instance = test::on_group(net, {0, 1, 2}, {two});
    return compile::lower_to_chakra(instance,
                                    test::schedule(2, {copy(0, 0, 0), copy(1, 0, 1), copy(0, 1, 1)}));
}

std::pair<int, Value> int32(std::int64_t value) { return {7, value}; }

}  // namespace

TEST_CASE("a Chakra file holds metadata, then the nodes with ASTRA-sim's attributes") {
    const ChakraTraces traces = example();
    const ReadFile file = read_file(io::chakra_file(traces, NodeId(1)));
    CHECK(file.version == "1.0.0");
    REQUIRE(file.nodes.size() == 3);

    const ReadNode& receive = file.nodes[0];
    CHECK(receive.id == 1);
    CHECK(receive.type == 6);
    CHECK(receive.name == "x: chunk 0 from 0");
    CHECK(receive.data_deps.empty());
    CHECK(receive.attributes.at("is_cpu_op") == std::pair<int, Value>(27, false));
    CHECK(receive.attributes.at("comm_src") == int32(0));
    CHECK(receive.attributes.at("comm_dst") == int32(1));
    CHECK(receive.attributes.at("comm_size") == std::pair<int, Value>(9, std::int64_t{5'000'000'000}));
    CHECK(receive.attributes.at("comm_tag") == int32(0));
    CHECK(receive.attributes.at("pg_name") == std::pair<int, Value>(29, std::string("1")));

    const ReadNode& send = file.nodes[1];
    CHECK(send.type == 5);
    CHECK(send.name == "x: chunk 0 to 2");
    CHECK(send.data_deps == std::vector<std::uint64_t>{1});
    CHECK(send.attributes.at("comm_src") == int32(1));
    CHECK(send.attributes.at("comm_dst") == int32(2));
}

TEST_CASE("a gate of a Chakra file is a node that computes nothing") {
    const ReadFile file = read_file(io::chakra_file(example(), NodeId(0)));
    REQUIRE(file.nodes.size() == 3);
    CHECK(file.nodes[1].type == 4);
    CHECK(file.nodes[1].microseconds == 0);
    CHECK(file.nodes[1].attributes.at("is_cpu_op") == std::pair<int, Value>(27, false));
    CHECK(file.nodes[1].attributes.at("num_ops") == std::pair<int, Value>(9, std::int64_t{0}));
    CHECK(file.nodes[1].attributes.at("tensor_size") == std::pair<int, Value>(13, std::int64_t{0}));
    CHECK(file.nodes[2].data_deps == std::vector<std::uint64_t>{2});
}

TEST_CASE("a Chakra run is a file for each NPU and one for the groups") {
    const test::Scratch scratch;
    const ChakraTraces traces = example();
    io::write_chakra(traces, scratch.path("run"));
    CHECK(scratch.count() == 5);
    for (std::size_t npu = 0; npu < 4; ++npu) {
        CHECK(test::content_of(scratch.path("run." + std::to_string(npu) + ".et")) ==
              io::chakra_file(traces, NodeId(npu)));
    }
    CHECK(test::content_of(scratch.path("run.comm_groups.json")) == "{\n  \"1\": [0, 1, 2]\n}\n");
}

TEST_CASE("the files of a Chakra run appear together or not at all") {
    const test::Scratch scratch;
    std::filesystem::create_directory(scratch.path("run.2.et"));
    const InputError in_the_way = test::refusal([&] { io::write_chakra(example(), scratch.path("run")); });
    CHECK(in_the_way.file() == scratch.path("run.2.et"));
    CHECK(scratch.count() == 1);
    for (const char* prefix : {"", "-", "none/"}) {
        CHECK_THROWS_AS(io::write_chakra(example(), prefix), InputError);
    }
    CHECK_THROWS_AS(io::write_chakra(example(), scratch.path("none/run")), InputError);
    CHECK(scratch.count() == 1);
}

TEST_CASE("a set of files replaces what was there only when it is complete") {
    const test::Scratch scratch;
    (void)scratch.file("a", "before");
    {
        io::FileSet files(scratch.path(""));
        files.write("a", "after");
        files.write("b", "new");
        CHECK(test::content_of(scratch.path("a")) == "before");
    }
    CHECK(test::content_of(scratch.path("a")) == "before");
    CHECK(scratch.count() == 1);

    io::FileSet files(scratch.path(""));
    files.write("a", "after");
    files.write("b", "new");
    files.commit();
    CHECK(test::content_of(scratch.path("a")) == "after");
    CHECK(test::content_of(scratch.path("b")) == "new");
}

TEST_CASE("a set of files makes the directories within its own that it needs, when it is complete") {
    const test::Scratch scratch;
    {
        io::FileSet files(scratch.path(""));
        files.write("one/a", "new");
    }
    CHECK(scratch.count() == 0);
    io::FileSet files(scratch.path(""));
    files.write("one/a", "first");
    files.write("two/a", "second");
    files.commit();
    CHECK(test::content_of(scratch.path("one/a")) == "first");
    CHECK(test::content_of(scratch.path("two/a")) == "second");
}

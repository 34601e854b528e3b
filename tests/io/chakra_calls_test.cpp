// Calls out of execution traces: Chakra's protobuf and JSON, and PyTorch's.

#include "io/chakra_calls.hpp"

#include "io/chakra_et.hpp"
#include "io/chakra_trace_file.hpp"
#include "plan/chakra_trace.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tutti;
using namespace tutti::io;

namespace {

TraceFile trace(const std::string& text) {
    Source source = Source::of_text(text, "trace.0.json");
    return read_trace_file(source);
}

std::string complaint(const std::string& text) {
    try {
        (void)trace(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("Chakra as protobuf writes it in JSON: messages one after the other") {
    const TraceFile file = trace(R"({"version": "0.0.4"}{"id": "3", "name": "x", "type": "COMP_NODE"}
        {"id": "7", "name": "nccl", "type": "COMM_COLL_NODE", "ctrlDeps": ["3"], "dataDeps": [], "attr": [
            {"name": "comm_type", "int64Val": "7"}, {"name": "comm_size", "int64Val": "4096"},
            {"name": "pg_name", "stringVal": "12"}, {"name": "stream", "int64Val": "20"}]})");
    CHECK(file.format == "chakra");
    REQUIRE(file.nodes.size() == 2);
    CHECK(file.nodes[1].id == 7);
    CHECK(file.nodes[1].collective == "reduce_scatter");
    CHECK(file.nodes[1].size == 4096);
    CHECK(file.nodes[1].group == "12");
    CHECK(file.nodes[1].stream == "20");
    CHECK(file.nodes[1].after == std::vector<std::uint64_t>{3});
}

TEST_CASE("what tutti writes as Chakra traces is read back") {
    plan::ChakraTraces traces;
    traces.collectives = {"all_gather0"};
    traces.group_of = {3};
    plan::ChakraNode gate;
    gate.id = 1;
    gate.type = plan::ChakraNode::Type::Gate;
    plan::ChakraNode send;
    send.id = 2;
    send.type = plan::ChakraNode::Type::Send;
    send.after = {1};
    send.peer = NodeId(5);
    send.bytes = Bytes{1024};
    send.tag = 9;
    traces.npus = {{gate, send}};
    Source source = Source::of_text(chakra_file(traces, NodeId(0)), "trace.0.et");
    const TraceFile file = read_trace_file(source);
    REQUIRE(file.nodes.size() == 2);
    CHECK(file.nodes[0].type == TraceNode::Type::Other);
    CHECK(file.nodes[1].type == TraceNode::Type::Send);
    CHECK(file.nodes[1].source == 0);
    CHECK(file.nodes[1].destination == 5);
    CHECK(file.nodes[1].size == 1024);
    CHECK(file.nodes[1].tag == 9);
    CHECK(file.nodes[1].group == "3");
    CHECK(file.nodes[1].after == std::vector<std::uint64_t>{1});
}

TEST_CASE("a field of another wire type is refused") {
    // The metadata; then a node whose id is of four bytes, and one whose name is a number.
    CHECK(complaint({"\x02\x08\x01\x05\x0d\x01\x00\x00\x00", 9}).find("another wire type") !=
          std::string::npos);
    CHECK(complaint({"\x02\x08\x01\x02\x10\x01", 6}).find("another wire type") != std::string::npos);
}

TEST_CASE("PyTorch's traces name collectives in attributes, old ones in arguments") {
    const TraceFile file = trace(R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [
        {"id": 3, "name": "## process_group:init ##", "ctrl_deps": 2, "inputs": {"values":
            ["[{\"pg_name\": \"0\", \"backend_id\": 82149104, \"ranks\": [0, 2]}]"]}},
        {"id": 30, "name": "record_param_comms", "ctrl_deps": 24, "inputs": {"values":
            [[[1, 2, 0, 1, 4, "cuda:0"]], 12, 82149104, 0, "all_gather", [], [], 2]}, "attrs": []},
        {"id": 31, "name": "record_param_comms", "inputs": {"values": [12, 0, 0, "wait"]}, "attrs": []},
        {"id": 40, "name": "record_param_comms", "inputs": {"values": [1, ["5", "dp"], 0]}, "attrs": [
            {"name": "collective_name", "type": "string", "value": "allreduce"},
            {"name": "dtype", "type": "string", "value": "BFloat16"},
            {"name": "in_msg_nelems", "type": "uint64", "value": 77}]}]})");
    CHECK(file.format == "pytorch");
    CHECK(file.groups.at("0") == std::vector<std::uint32_t>{0, 2});
    REQUIRE(file.nodes.size() == 2);
    CHECK(file.nodes[0].collective == "all_gather");
    CHECK(file.nodes[0].group == "0");
    CHECK(file.nodes[1].collective == "all_reduce");
    CHECK(file.nodes[1].group == "5");
    CHECK(file.nodes[1].size == 77);
    CHECK(file.nodes[1].dtype == "BFloat16");
}

TEST_CASE("what is no trace is refused with the place") {
    CHECK(complaint("") == "trace.0.json: expected an execution trace, found an empty file");
    CHECK(complaint("[1]").find("/0: expected a node") != std::string::npos);
    CHECK(complaint(R"({"id": "x"})").find("expected a node with a number 'id'") != std::string::npos);
    CHECK(complaint(R"({"schema": "1", "nodes": 3})").find("/nodes: expected an array") != std::string::npos);
    for (const char* text : {"\x7f garbage", "{}", "[]", R"({"tuti_calls": 1, "ranks": [[]]})"}) {
        INFO(text);
        CHECK(complaint(text) ==
              "trace.0.json: expected a list of calls (\"tutti_calls\": 1) or an "
              "execution trace, found neither");
    }
}

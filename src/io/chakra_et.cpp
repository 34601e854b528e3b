// A .et file is a sequence of protobuf messages, each after its length as a varint: one GlobalMetadata, then
// the nodes. Numbers and names of the fields are those of et_def.proto. Attributes have the types that
// Chakra's own generator gives them, because its first reader accepts only those. All dependencies are
// data_deps, because that reader supports no others.

#include "io/chakra_et.hpp"

#include "io/file_set.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include <filesystem>
#include <iterator>

namespace tutti::io {
namespace {

using plan::ChakraNode;
using plan::ChakraTraces;

constexpr protozero::pbf_tag_type kMetadataVersion = 1;

// Node
constexpr protozero::pbf_tag_type kId = 1, kName = 2, kType = 3, kDataDeps = 5, kMicroseconds = 7,
                                  kAttribute = 10;
constexpr std::int32_t kComputeNode = 4, kSendNode = 5, kReceiveNode = 6;

// AttributeProto
constexpr protozero::pbf_tag_type kAttributeName = 1, kInt32 = 7, kInt64 = 9, kUint64 = 13, kBool = 27,
                                  kString = 29;

void add_delimited(std::string& file, const std::string& message) {
    protozero::write_varint(std::back_inserter(file), message.size());
    file += message;
}

/// name and value of one attribute; `put` adds the value.
template <class Put>
void add_attribute(protozero::pbf_writer& node, const std::string& name, const Put& put) {
    protozero::pbf_writer attribute(node, kAttribute);
    attribute.add_string(kAttributeName, name);
    put(attribute);
}

void add_flag(protozero::pbf_writer& node, const std::string& name, bool value) {
    add_attribute(node, name, [&](protozero::pbf_writer& attribute) { attribute.add_bool(kBool, value); });
}

void add_int32(protozero::pbf_writer& node, const std::string& name, std::uint32_t value) {
    add_attribute(node, name, [&](protozero::pbf_writer& attribute) {
        attribute.add_int32(kInt32, static_cast<std::int32_t>(value));
    });
}

void add_int64(protozero::pbf_writer& node, const std::string& name, std::int64_t value) {
    add_attribute(node, name, [&](protozero::pbf_writer& attribute) { attribute.add_int64(kInt64, value); });
}

std::string name_of(const ChakraTraces& traces, const ChakraNode& node) {
    if (node.type == ChakraNode::Type::Gate) return node.microseconds > 0 ? "release" : "order";
    return fmt::format("{}: chunk {} {} {}", traces.collectives[node.collective], node.chunk.value(),
                       node.type == ChakraNode::Type::Send ? "to" : "from", node.peer.value());
}

void add_message_attributes(protozero::pbf_writer& writer, const ChakraTraces& traces, const ChakraNode& node,
                            NodeId npu) {
    const bool sends = node.type == ChakraNode::Type::Send;
    add_flag(writer, "is_cpu_op", false);
    add_int32(writer, "comm_src", (sends ? npu : node.peer).value());
    add_int32(writer, "comm_dst", (sends ? node.peer : npu).value());
    add_int64(writer, "comm_size", node.bytes.count);
    add_int32(writer, "comm_tag", node.tag);
    if (const std::uint32_t group = traces.group_of[node.collective]; group != 0) {
        add_attribute(writer, "pg_name", [&](protozero::pbf_writer& attribute) {
            attribute.add_string(kString, std::to_string(group));
        });
    }
}

std::string node_message(const ChakraTraces& traces, const ChakraNode& node, NodeId npu) {
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_uint64(kId, node.id);
    writer.add_string(kName, name_of(traces, node));
    switch (node.type) {
        case ChakraNode::Type::Send:
            writer.add_enum(kType, kSendNode);
            break;
        case ChakraNode::Type::Receive:
            writer.add_enum(kType, kReceiveNode);
            break;
        case ChakraNode::Type::Gate:
            writer.add_enum(kType, kComputeNode);
            break;
    }
    writer.add_packed_uint64(kDataDeps, node.after.begin(), node.after.end());
    if (node.type == ChakraNode::Type::Gate) {
        if (node.microseconds > 0)
            writer.add_uint64(kMicroseconds, static_cast<std::uint64_t>(node.microseconds));
        // ASTRA-sim's statistics refuse nodes on the CPU, and its roofline model wants the two sizes.
        add_flag(writer, "is_cpu_op", false);
        add_int64(writer, "num_ops", 0);
        add_attribute(writer, "tensor_size",
                      [](protozero::pbf_writer& attribute) { attribute.add_uint64(kUint64, 0); });
    } else {
        add_message_attributes(writer, traces, node, npu);
    }
    return message;
}

}  // namespace

std::string chakra_file(const ChakraTraces& traces, NodeId npu) {
    std::string file, metadata;
    protozero::pbf_writer(metadata).add_string(kMetadataVersion, "1.0.0");
    add_delimited(file, metadata);
    for (const ChakraNode& node : traces.npus[npu.index()]) {
        add_delimited(file, node_message(traces, node, npu));
    }
    return file;
}

std::string chakra_groups(const ChakraTraces& traces) {
    Json groups = Json::object();
    for (const plan::ChakraGroup& group : traces.groups) {
        Json& members = groups[std::to_string(group.number)] = Json::array();
        for (const NodeId npu : group.members) members.push_back(npu.value());
    }
    return json_page(groups);
}

void write_chakra(const ChakraTraces& traces, const std::string& prefix) {
    const std::filesystem::path path(prefix);
    const std::string base = path.filename().string();
    if (base.empty() || base == "." || base == ".." || prefix == "-") {
        throw InputError(
            fmt::format("a Chakra trace is a file for each NPU, PREFIX.0.et and so on; '{}' cannot be "
                        "the prefix",
                        prefix));
    }
    FileSet files(path.parent_path().string());
    for (std::size_t npu = 0; npu < traces.npus.size(); ++npu) {
        files.write(fmt::format("{}.{}.et", base, npu), chakra_file(traces, NodeId(npu)));
    }
    if (!traces.groups.empty()) files.write(base + ".comm_groups.json", chakra_groups(traces));
    files.commit();
}

}  // namespace tutti::io

// Three forms. A .et file: protobuf messages after their lengths (docs/chakra.md), one GlobalMetadata, then
// Nodes. Its JSON, as protobuf writes it: the same messages one after the other, 64-bit numbers as strings.
// PyTorch's execution trace: one object with "schema" and "nodes", where collectives are nodes
// "record_param_comms" with attributes, or in old ones with their arguments only. (Facts from
// mlcommons/chakra, schema/protobuf/et_def.proto and src/jsonizer; PyTorch, execution_trace_observer.cpp.)

#include "io/chakra_trace_file.hpp"

#include "io/json_text.hpp"

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace tutti::io {
namespace {

constexpr std::uint64_t kMostTraceBytes = std::uint64_t{1} << 31;
constexpr std::int64_t kMostRank = (1 << 20) - 1;

/// Where the file is something else from its beginning.
constexpr std::string_view kExpected = "a list of calls (\"tutti_calls\": 1) or an execution trace";

/// By CollectiveCommType.
constexpr std::array<std::string_view, 10> kCommTypes{
    "all_reduce", "reduce",     "all_gather",     "gather",         "scatter",
    "broadcast",  "all_to_all", "reduce_scatter", "reduce_scatter", "barrier"};
constexpr std::uint64_t kSendNode = 5, kReceiveNode = 6, kCollectiveNode = 7;
constexpr std::string_view kGroupsNode = "## process_group:init ##", kCommsNode = "record_param_comms";

TraceNode::Type type_of(std::uint64_t number) {
    switch (number) {
        case kSendNode:
            return TraceNode::Type::Send;
        case kReceiveNode:
            return TraceNode::Type::Receive;
        case kCollectiveNode:
            return TraceNode::Type::Collective;
        default:
            return TraceNode::Type::Other;
    }
}

/// An attribute's value, if it is a number or a text.
struct Scalar {
    std::optional<std::int64_t> number{};
    std::string text{};
};

std::string text_of(const Scalar& value) { return value.number ? std::to_string(*value.number) : value.text; }

void set_attribute(TraceNode& node, std::string_view name, const Scalar& value) {
    const std::int64_t number = value.number.value_or(-1);
    if (name == "comm_type") {
        if (value.number) {
            node.collective = number >= 0 && number < static_cast<std::int64_t>(kCommTypes.size())
                                  ? std::string(kCommTypes[static_cast<std::size_t>(number)])
                                  : fmt::format("comm_type {}", number);
        } else {
            node.collective = value.text;
        }
    } else if (name == "comm_size") {
        node.size = number;
    } else if (name == "pg_name") {
        node.group = text_of(value);
    } else if (name == "stream") {
        node.stream = text_of(value);
    } else if (name == "comm_src") {
        node.source = number;
    } else if (name == "comm_dst") {
        node.destination = number;
    } else if (name == "comm_tag") {
        node.tag = static_cast<std::uint32_t>(std::max<std::int64_t>(number, 0));
    } else if (name == "root" || name == "root_rank") {
        node.root = number;
    }
}

/// A list of groups as PyTorch logs it: [{"pg_name": "0", "ranks": [0, 1]}, …]. Chakra keeps it as a text in
/// two more brackets. What is written otherwise declares nothing.
void add_groups(TraceFile& file, std::string_view text) {
    const auto begin = text.find('{'), end = text.rfind('}');
    if (begin == text.npos || end == text.npos || end < begin) return;
    const std::string body(text.substr(begin, end - begin + 1));
    const Json list = Json::parse("[" + body + "]", nullptr, false);
    if (!list.is_array()) return;
    for (const Json& item : list) {
        if (!item.is_object() || !item.contains("pg_name") || !item.contains("ranks")) continue;
        const Json& name = item["pg_name"];
        auto& members = file.groups[name.is_string() ? name.get<std::string>() : name.dump()];
        members.clear();
        const auto add = [&](const Json& rank) {
            if (rank.is_number_unsigned() && rank.get<std::uint64_t>() <= kMostRank)
                members.push_back(rank.get<std::uint32_t>());
        };
        if (item["ranks"].is_array()) std::ranges::for_each(item["ranks"], add);
        if (item["ranks"].is_object()) {
            for (const auto& [rank, unused] : item["ranks"].items()) add(Json::parse(rank, nullptr, false));
        }
    }
}

void keep(TraceFile& file, TraceNode node, std::string_view name, const std::string& values) {
    if (name == kGroupsNode) add_groups(file, values);
    file.nodes.push_back(std::move(node));
}

// --- Chakra as protobuf ---

struct WrongWireType : protozero::exception {
    [[nodiscard]] const char* what() const noexcept override { return "a field of another wire type"; }
};

/// protozero only asserts that a field has the wire type by which it is read.
protozero::pbf_reader& as(protozero::pbf_wire_type type, protozero::pbf_reader& reader) {
    if (reader.wire_type() != type) throw WrongWireType();
    return reader;
}
constexpr auto kNumber = protozero::pbf_wire_type::varint;
constexpr auto kBytes = protozero::pbf_wire_type::length_delimited;

Scalar attribute_value(protozero::pbf_reader& attribute) {
    Scalar value;
    switch (attribute.wire_type()) {
        case kNumber: {
            const protozero::pbf_tag_type tag = attribute.tag();
            constexpr protozero::pbf_tag_type kSint32 = 15, kSint64 = 17;
            value.number = tag == kSint32 || tag == kSint64 ? attribute.get_sint64() : attribute.get_int64();
            break;
        }
        case kBytes:
            value.text = attribute.get_string();
            break;
        default:
            attribute.skip();
    }
    return value;
}

void read_attribute(TraceNode& node, protozero::pbf_reader attribute) {
    std::string name;
    Scalar value;
    while (attribute.next()) {
        if (attribute.tag() == 1) {
            name = as(kBytes, attribute).get_string();
        } else if (attribute.tag() == 2) {
            attribute.skip();
        } else {
            value = attribute_value(attribute);
        }
    }
    set_attribute(node, name, value);
}

void read_node(TraceFile& file, protozero::pbf_reader reader) {
    TraceNode node;
    std::string name, values;
    while (reader.next()) {
        switch (reader.tag()) {
            case 1:
                node.id = as(kNumber, reader).get_uint64();
                break;
            case 2:
                name = as(kBytes, reader).get_string();
                break;
            case 3:
                node.type = type_of(static_cast<std::uint64_t>(as(kNumber, reader).get_enum()));
                break;
            case 4:
            case 5:
                if (reader.wire_type() == kNumber) {
                    node.after.push_back(reader.get_uint64());
                } else {
                    for (const std::uint64_t id : as(kBytes, reader).get_packed_uint64())
                        node.after.push_back(id);
                }
                break;
            case 8: {
                protozero::pbf_reader inputs = as(kBytes, reader).get_message();
                while (inputs.next()) {
                    if (inputs.tag() == 1) {
                        values = as(kBytes, inputs).get_string();
                    } else {
                        inputs.skip();
                    }
                }
                break;
            }
            case 10:
                read_attribute(node, as(kBytes, reader).get_message());
                break;
            default:
                reader.skip();
        }
    }
    keep(file, std::move(node), name, values);
}

TraceFile read_binary(const std::string& bytes, const Source& source) {
    TraceFile file{.format = "chakra"};
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    bool first = true;
    while (at < end) {
        const auto offset = static_cast<std::size_t>(at - bytes.data());
        try {
            const std::uint64_t length = protozero::decode_varint(&at, end);
            if (length > static_cast<std::uint64_t>(end - at)) throw protozero::end_of_buffer_exception();
            // The first message is the metadata.
            if (!first) read_node(file, protozero::pbf_reader(at, static_cast<std::size_t>(length)));
            first = false;
            at += length;
        } catch (const WrongWireType& error) {
            source.fail(fmt::format("expected another node of a Chakra trace, found {}", error.what()),
                        fmt::format("byte {}", offset));
        } catch (const protozero::exception&) {
            if (offset == 0) source.fail(fmt::format("expected {}, found neither", kExpected));
            source.fail("expected another node of a Chakra trace; the file is cut or damaged here",
                        fmt::format("byte {}", offset));
        }
    }
    return file;
}

// --- Chakra as JSON ---

/// The first of these fields that is there.
const Json* field(const Json& object, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        if (const auto found = object.find(name); found != object.end()) return &*found;
    }
    return nullptr;
}

/// A number, or a text of digits: as JSON writes 64 bits.
std::optional<std::int64_t> number_in(const Json& value) {
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || stop != text.data() + text.size() || text.empty()) return std::nullopt;
    return number;
}

Scalar scalar_in(const Json& value, bool numbers_as_text) {
    Scalar scalar;
    if (!value.is_string() || numbers_as_text) scalar.number = number_in(value);
    if (!scalar.number && value.is_string()) scalar.text = value.get<std::string>();
    return scalar;
}

TraceNode::Type type_in(const Json& value) {
    if (const auto number = number_in(value)) return type_of(static_cast<std::uint64_t>(*number));
    if (value == "COMM_SEND_NODE") return TraceNode::Type::Send;
    if (value == "COMM_RECV_NODE") return TraceNode::Type::Receive;
    return value == "COMM_COLL_NODE" ? TraceNode::Type::Collective : TraceNode::Type::Other;
}

void add_dependencies(TraceNode& node, const Json* list, const JsonView& place) {
    if (list == nullptr) return;
    const auto add = [&](const Json& value) {
        const auto id = number_in(value);
        if (!id || *id < 0) place.fail("expected the numbers of nodes as dependencies");
        node.after.push_back(static_cast<std::uint64_t>(*id));
    };
    if (list->is_array()) {
        std::ranges::for_each(*list, add);
    } else {
        add(*list);
    }
}

std::uint64_t id_in(const JsonView& view) {
    const Json* id = field(view.json(), {"id", "Id"});
    const auto number = id == nullptr ? std::nullopt : number_in(*id);
    if (!number || *number < 0) view.fail("expected a node with a number 'id'");
    return static_cast<std::uint64_t>(*number);
}

void read_chakra_node(TraceFile& file, const JsonView& view) {
    const Json& json = view.json();
    TraceNode node;
    node.id = id_in(view);
    if (const Json* type = field(json, {"type", "NodeType"})) node.type = type_in(*type);
    add_dependencies(node, field(json, {"ctrlDeps", "ctrl_deps"}), view);
    add_dependencies(node, field(json, {"dataDeps", "data_deps"}), view);
    if (const Json* attributes = field(json, {"attr", "attrs"}); attributes && attributes->is_array()) {
        for (const Json& attribute : *attributes) {
            if (!attribute.is_object() || !attribute.contains("name") || !attribute["name"].is_string())
                continue;
            for (const auto& [key, value] : attribute.items()) {
                if (key == "name" || key == "docString" || key == "doc_string") continue;
                const bool text = key.starts_with("string");
                set_attribute(node, attribute["name"].get_ref<const std::string&>(), scalar_in(value, !text));
            }
        }
    }
    // Chakra's own JSON has attributes beside the rest.
    for (const char* name :
         {"comm_type", "comm_size", "pg_name", "stream", "comm_src", "comm_dst", "comm_tag"}) {
        if (json.contains(name)) set_attribute(node, name, scalar_in(json[name], false));
    }
    const Json* name = field(json, {"name", "Name"});
    const Json* inputs = field(json, {"inputs"});
    const Json* values = inputs != nullptr && inputs->is_object() ? field(*inputs, {"values"}) : nullptr;
    keep(file, std::move(node), name != nullptr && name->is_string() ? name->get<std::string>() : "",
         values != nullptr && values->is_string() ? values->get<std::string>() : "");
}

// --- PyTorch ---

/// "allreduce", "_allgather_base", "all_to_allv": as call_kind() has it. Empty: no collective.
std::string collective_of(std::string_view name) {
    struct Row {
        std::string_view begins, is;
    };
    constexpr std::array<Row, 16> kRows{{{"allreduce", "all_reduce"},
                                         {"all_reduce", "all_reduce"},
                                         {"allgather", "all_gather"},
                                         {"all_gather", "all_gather"},
                                         {"_allgather", "all_gather"},
                                         {"_all_gather", "all_gather"},
                                         {"reduce_scatter", "reduce_scatter"},
                                         {"_reduce_scatter", "reduce_scatter"},
                                         {"broadcast", "broadcast"},
                                         {"_broadcast", "broadcast"},
                                         {"all_to_all", "all_to_all"},
                                         {"alltoall", "all_to_all"},
                                         {"reduce", "reduce"},
                                         {"gather", "gather"},
                                         {"scatter", "scatter"},
                                         {"barrier", "barrier"}}};
    for (const Row& row : kRows) {
        if (name.starts_with(row.begins)) return std::string(row.is);
    }
    return {};
}

/// The collective's name and group among the arguments of an old trace: the first text, and the name of a
/// group, or a number by which one is known.
void read_arguments(TraceNode& node, const Json& values, const std::map<std::string, std::string>& groups) {
    if (!values.is_array()) return;
    for (const Json& value : values) {
        if (value.is_string() && node.collective.empty()) node.collective = value.get<std::string>();
        if (value.is_array() && value.size() == 2 && value[0].is_string() && node.group.empty())
            node.group = value[0].get<std::string>();
        if (!value.is_number_unsigned() || !node.group.empty()) continue;
        if (const auto found = groups.find(value.dump()); found != groups.end()) node.group = found->second;
    }
}

void read_pytorch_node(TraceFile& file, const JsonView& view,
                       const std::map<std::string, std::string>& groups) {
    const Json& json = view.json();
    const Json* name = field(json, {"name"});
    if (name == nullptr || !name->is_string()) return;
    const Json* inputs = field(json, {"inputs"});
    const Json* values = inputs != nullptr && inputs->is_object() ? field(*inputs, {"values"}) : inputs;
    if (*name == kGroupsNode && values != nullptr && values->is_array() && !values->empty() &&
        values->front().is_string())
        add_groups(file, values->front().get_ref<const std::string&>());
    if (*name != kCommsNode) return;
    TraceNode node;
    node.id = id_in(view);
    node.type = TraceNode::Type::Collective;
    if (const Json* attributes = field(json, {"attrs"}); attributes && attributes->is_array()) {
        for (const Json& attribute : *attributes) {
            if (!attribute.is_object() || !attribute.contains("name") || !attribute.contains("value"))
                continue;
            const Json &key = attribute["name"], &value = attribute["value"];
            if (key == "collective_name" && value.is_string()) node.collective = value.get<std::string>();
            if (key == "dtype" && value.is_string()) node.dtype = value.get<std::string>();
            if (key == "in_msg_nelems") node.size = number_in(value).value_or(-1);
            if (key == "pg_name") node.group = text_of(scalar_in(value, false));
        }
    }
    if (values != nullptr) read_arguments(node, *values, groups);
    if (node.collective == "wait" || node.collective == "init" || node.collective.empty()) return;
    const std::string kind = collective_of(node.collective);
    if (kind.empty()) {
        ++file.left_out;
        return;
    }
    // What one rank gives to these may differ from what another does.
    if (kind == "all_to_all" || kind == "gather" || kind == "scatter" || kind == "broadcast") node.size = -1;
    node.collective = kind;
    file.nodes.push_back(std::move(node));
}

TraceFile read_pytorch(const JsonView& document) {
    TraceFile file{.format = "pytorch"};
    const auto nodes = document.at("nodes").elements();
    std::map<std::string, std::string> by_number;  // groups that old traces know by a number
    for (const JsonView& node : nodes) {
        if (!node.is_object()) node.fail_expecting("a node, which is an object");
        const Json* name = field(node.json(), {"name"});
        if (name == nullptr || *name != kGroupsNode) continue;
        const std::string text = node.json().dump();
        // The list is a text in a text: its quotes are escaped once more.
        for (std::size_t at = 0; (at = text.find("pg_name", at)) != text.npos; ++at) {
            const auto word = [&](std::string_view key, std::size_t from) -> std::string {
                const std::size_t found = text.find(key, from);
                if (found == text.npos) return {};
                const std::size_t begin = text.find_first_of("0123456789", found + key.size());
                if (begin == text.npos) return {};
                return text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
            };
            by_number[word("backend_id", at)] = word("pg_name", at);
        }
    }
    for (const JsonView& node : nodes) read_pytorch_node(file, node, by_number);
    return file;
}

bool is_group_file(const Json& json) {
    return json.is_object() && !json.empty() && std::ranges::all_of(json.items(), [](const auto& item) {
               return item.value().is_array() && !item.key().empty() &&
                      item.key().find_first_not_of("0123456789") == std::string::npos;
           });
}

TraceFile read_groups(const JsonView& document) {
    TraceFile file{.format = "groups"};
    for (const auto& [name, list] : document.fields()) {
        auto& members = file.groups[name];
        for (const JsonView& rank : list.elements())
            members.push_back(static_cast<std::uint32_t>(rank.integer(0, kMostRank)));
    }
    return file;
}

/// Messages one after the other, as a list of them. Lines stay what they are.
std::string joined(const std::string& text) {
    std::string list = "[";
    list.reserve(text.size() + 1024);
    std::size_t depth = 0;
    bool in_string = false, ended = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\' && i + 1 < text.size()) {
                list += c;
                list += text[++i];
                continue;
            }
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (depth++ == 0 && ended) list += ',';
        } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
            ended = true;
        }
        list += c;
    }
    return list + "]";
}

/// Whether it is a node of Chakra's or its metadata.
bool is_chakra(const Json& json) {
    return json.is_object() && (field(json, {"id", "Id", "version"}) != nullptr);
}

TraceFile read_json(std::string text, const Source& source) {
    Source list_source = Source::of_text(joined(text), source.name());
    text.clear();
    const Json list = parse_json(list_source);
    try {
        if (list.size() == 1 && is_group_file(list[0])) return read_groups(JsonView(list[0]));
        if (list.size() == 1 && list[0].is_object() && list[0].contains("schema"))
            return read_pytorch(JsonView(list[0]));
        TraceFile file{.format = "chakra"};
        JsonView nodes(list);
        if (list.size() == 1 && list[0].is_array()) nodes = JsonView(list[0]);
        if (list.size() == 1 && list[0].is_object()) {
            for (const char* name : {"nodes", "workload_graph"}) {
                if (list[0].contains(name)) nodes = JsonView(list[0]).at(name);
            }
        }
        const bool is_empty = list.empty() || (list[0].is_array() && list[0].empty());
        if (is_empty || (&nodes.json() == &list && !is_chakra(list[0])))
            throw InputError(fmt::format("expected {}, found neither", kExpected));
        for (const JsonView& node : nodes.elements()) {
            if (!node.is_object()) node.fail_expecting("a node, which is an object");
            const bool metadata = !node.find("id") && !node.find("Id") && node.find("version");
            if (!metadata) read_chakra_node(file, node);
        }
        return file;
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

}  // namespace

TraceFile read_trace_file(Source& source) {
    std::string bytes = read_text(source, kMostTraceBytes);
    const std::size_t first = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (first == bytes.npos) source.fail("expected an execution trace, found an empty file");
    // A trace's metadata is short: its length is no bracket.
    if (bytes[first] == '{' || bytes[first] == '[') return read_json(std::move(bytes), source);
    return read_binary(bytes, source);
}

}  // namespace tutti::io

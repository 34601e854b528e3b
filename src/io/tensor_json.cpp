#include "io/tensor_json.hpp"

#include "io/atomic_file.hpp"
#include "io/json_text.hpp"
#include "tensor/op.hpp"
#include "tensor/refusal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::io {
namespace {

using tensor::AxisId;
using tensor::Layout;
using tensor::Layouts;
using tensor::Mesh;
using tensor::Op;
using tensor::Program;
using tensor::ProgramParts;
using tensor::Refusal;
using tensor::ValueId;

/// Room for some fifty thousand values, read in half a second.
constexpr JsonLimits kProgramLimits{.bytes = std::uint64_t{1} << 24, .values = std::size_t{1} << 22};
constexpr std::int64_t kMostSize = std::int64_t{1} << 60;
constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostDimension = 1 << 16;
constexpr std::int64_t kMostDevice = std::numeric_limits<std::uint32_t>::max();

/// One attribute of values: its field, and the bit of the operations that have it.
struct AttributeField {
    std::string_view field;
    std::uint32_t bit;
};
namespace attribute = tensor::attribute;
constexpr std::array<AttributeField, 21> kAttributeFields{{
    {"dtype", attribute::kDType},
    {"shape", attribute::kShape},
    {"layout", attribute::kLayout},
    {"state", attribute::kState},
    {"fixed", attribute::kState},
    {"positive", attribute::kState},
    {"value", attribute::kValue},
    {"seed", attribute::kSeed},
    {"spec", attribute::kSpec},
    {"dims", attribute::kDims},
    {"keepdims", attribute::kKeepdims},
    {"perm", attribute::kPerm},
    {"axes", attribute::kAxes},
    {"axis", attribute::kAxis},
    {"dim", attribute::kDim},
    {"reduce", attribute::kReduce},
    {"root", attribute::kRoot},
    {"split", attribute::kSplit},
    {"concat", attribute::kSplit},
    {"by", attribute::kBy},
    {"id", 0},
}};

/// Runs a reader of one value or list: what it complains of gets the value's name, and a code.
template <class Reader>
void with_place(const JsonView& place, const std::string& value, Reader&& reader) {
    try {
        reader();
    } catch (const Refusal& refusal) {
        throw refusal.of_value(value).at_place(refusal.place().empty() ? place.path() : refusal.place());
    } catch (const InputError& error) {
        throw Refusal("malformed", error.message(), value,
                      error.place().empty() ? place.path() : error.place());
    }
}

AxisId axis_in(const JsonView& view, const Mesh& mesh) {
    const std::string name = view.string();
    if (const auto axis = mesh.find(name)) return *axis;
    std::vector<std::string_view> names;
    for (const Mesh::Axis& axis : mesh.axes()) names.push_back(axis.name);
    throw Refusal("axis", fmt::format("the mesh has no axis '{}'; it has {}", name, fmt::join(names, ", ")),
                  {}, view.path());
}

Layout layout_in(const JsonView& view) {
    if (!view.is_object()) {
        return view.choice({"replicated", "local"}) == 0 ? Layout() : Layout::local();
    }
    view.only({"sliced", "root"});
    if (view.json().size() != 1) view.fail_expecting(R"({"sliced": DIM} or {"root": RANK})");
    if (const auto dim = view.find("sliced"))
        return Layout::sliced(static_cast<std::size_t>(dim->integer(0, kMostDimension)));
    return Layout::root(view.at("root").integer(0, kMostDevice));
}

Layouts layouts_in(const JsonView& view, const Mesh& mesh) {
    Layouts layouts(mesh.axes().size());
    for (const auto& [name, of_axis] : view.fields()) {
        const auto axis = mesh.find(name);
        if (!axis) throw Refusal("axis", fmt::format("the mesh has no axis '{}'", name), {}, of_axis.path());
        layouts[axis->index()] = layout_in(of_axis);
    }
    return layouts;
}

std::vector<tensor::Size> shape_in(const JsonView& view, const std::map<std::string, std::int64_t>& sizes) {
    std::vector<tensor::Size> shape;
    for (const JsonView& size : view.elements()) {
        if (!size.is_string()) {
            shape.push_back({size.integer(1, kMostSize), {}});
            continue;
        }
        const std::string name = size.string();
        const auto found = sizes.find(name);
        if (found == sizes.end())
            throw Refusal("size", fmt::format("there is no size '{}'", name), {}, size.path());
        shape.push_back({found->second, name});
    }
    return shape;
}

std::vector<std::int64_t> integers_in(const JsonView& view) {
    std::vector<std::int64_t> list;
    for (const JsonView& element : view.elements())
        list.push_back(element.integer(-kMostDimension, kMostDimension));
    return list;
}

std::int64_t any_integer(const JsonView& view) { return view.integer(-kMostNumber, kMostNumber); }

class ValueReader {
  public:
    ValueReader(const ProgramParts& parts, const std::unordered_map<std::string, ValueId>& ids)
        : parts_(parts), ids_(ids) {}

    [[nodiscard]] tensor::Value read(const JsonView& view) const {
        tensor::Value value;
        value.name = view.at("id").string();
        const JsonView op = view.at("op");
        const auto known = tensor::op_named(op.string());
        if (!known) throw Refusal("op", unknown_op(op.string()), {}, op.path());
        value.op = *known;
        check_fields(view, tensor::info_of(value.op));
        if (const auto args = view.find("args")) {
            for (const JsonView& arg : args->elements()) value.args.push_back(id_of(arg));
        }
        value.layout.resize(value.op == Op::Input ? parts_.mesh.axes().size() : 0);
        for (const auto& [field, content] : view.fields()) read_attribute(field, content, value);
        return value;
    }

    [[nodiscard]] ValueId id_of(const JsonView& view) const {
        const std::string name = view.string();
        const auto found = ids_.find(name);
        if (found == ids_.end())
            throw Refusal("name", fmt::format("there is no value '{}'", name), {}, view.path());
        return found->second;
    }

  private:
    static std::string unknown_op(const std::string& name) {
        std::vector<std::string_view> names;
        for (std::size_t i = 0; i < tensor::kOps; ++i) names.push_back(name_of(static_cast<Op>(i)));
        const auto guess = nearest(name, names);
        return fmt::format("there is no operation '{}'{}",
                           name.size() > 60 ? name.substr(0, 57) + "..." : name,
                           guess ? fmt::format("; did you mean '{}'?", *guess) : "");
    }

    static void check_fields(const JsonView& view, const tensor::OpInfo& info) {
        std::vector<std::string_view> known{"op", "args"};
        for (const AttributeField& row : kAttributeFields) known.push_back(row.field);
        view.only(known);
        for (const AttributeField& row : kAttributeFields) {
            const bool given = view.json().contains(std::string(row.field));
            const bool needed = (info.required & row.bit) != 0;
            if (given && row.bit != 0 && ((info.required | info.optional) & row.bit) == 0)
                throw Refusal("attribute", fmt::format("{} has no '{}'", info.name, row.field));
            if (needed && !given)
                throw Refusal("attribute", fmt::format("{} needs '{}'", info.name, row.field));
        }
    }

    void read_attribute(const std::string& field, const JsonView& view, tensor::Value& value) const {
        if (field == "dtype") {
            const auto dtype = tensor::dtype_named(view.string());
            if (!dtype) {
                throw Refusal("dtype", fmt::format("there is no dtype '{}'; there are {}", view.string(),
                                                   fmt::join(tensor::kDTypeNames, ", ")));
            }
            value.dtype = *dtype;
        } else if (field == "shape") {
            value.shape = shape_in(view, parts_.sizes);
        } else if (field == "layout") {
            value.layout = layouts_in(view, parts_.mesh);
        } else if (field == "state") {
            value.state = view.boolean();
        } else if (field == "fixed") {
            value.fixed = view.boolean();
        } else if (field == "positive") {
            value.positive = view.boolean();
        } else if (field == "value") {
            constexpr double kMost = std::numeric_limits<double>::max();
            value.number = view.number(-kMost, kMost);
        } else if (field == "seed") {
            value.seed = any_integer(view);
        } else if (field == "spec") {
            value.spec = view.string();
        } else if (field == "dims") {
            value.dims = integers_in(view);
        } else if (field == "keepdims") {
            value.keepdims = view.boolean();
        } else if (field == "perm") {
            value.perm = integers_in(view);
        } else if (field == "axes") {
            for (const JsonView& axis : view.elements()) value.axes.push_back(axis_in(axis, parts_.mesh));
        } else if (field == "axis") {
            value.axes = {axis_in(view, parts_.mesh)};
        } else if (field == "dim") {
            value.dim = any_integer(view);
        } else if (field == "reduce") {
            const auto& names = tensor::kReductionNames;
            const auto found = std::ranges::find(names, view.string());
            if (found == names.end())
                throw Refusal("reduction", fmt::format("there is no reduction '{}'", view.string()));
            value.reduction = static_cast<tensor::Reduction>(found - names.begin());
        } else if (field == "root") {
            value.root = any_integer(view);
        } else if (field == "split") {
            value.split = any_integer(view);
        } else if (field == "concat") {
            value.concat = any_integer(view);
        } else if (field == "by") {
            value.by = any_integer(view);
        }
    }

    const ProgramParts& parts_;
    const std::unordered_map<std::string, ValueId>& ids_;
};

Mesh mesh_in(const JsonView& view) {
    view.only({"axes", "devices"});
    std::vector<Mesh::Axis> axes;
    for (const JsonView& axis : view.at("axes").elements()) {
        if (axis.size() != 2) axis.fail_expecting("a name and a size");
        axes.push_back({axis[0].string(), axis[1].integer(1, tensor::kMaxRanks)});
    }
    std::vector<std::uint32_t> devices;
    if (const auto list = view.find("devices")) {
        for (const JsonView& device : list->elements())
            devices.push_back(static_cast<std::uint32_t>(device.integer(0, kMostDevice)));
    }
    return Mesh(std::move(axes), std::move(devices));
}

void read_grouping(const JsonView& view, const ValueReader& values, ProgramParts& parts) {
    if (const auto list = view.find("fused")) {
        for (const JsonView& entry : list->elements()) {
            entry.only({"name", "values"});
            tensor::Fused& fused = parts.fused.emplace_back(tensor::Fused{entry.at("name").string(), {}});
            for (const JsonView& value : entry.at("values").elements())
                fused.values.push_back(values.id_of(value));
        }
    }
    if (const auto list = view.find("overlaps")) {
        for (const JsonView& entry : list->elements()) {
            entry.only({"chain", "pieces"});
            tensor::Overlap& overlap = parts.overlaps.emplace_back();
            for (const JsonView& name : entry.at("chain").elements()) overlap.chain.push_back(name.string());
            overlap.pieces = any_integer(entry.at("pieces"));
        }
    }
    if (const auto states = view.find("resharded")) {
        for (const auto& [name, layout] : states->fields()) {
            const Json as_value(name);
            const ValueId id = values.id_of(JsonView(as_value, layout.path()));
            if (layouts_in(layout, parts.mesh) != parts.values[id.index()].layout) {
                throw Refusal("resharded", "the layout is not that of the state", name, layout.path());
            }
            parts.resharded.push_back(id);
        }
    }
}

/// Names of the values, also of those that are made later: Program says so then.
std::unordered_map<std::string, ValueId> ids_in(const JsonView& values) {
    std::unordered_map<std::string, ValueId> ids;
    const std::size_t count = values.size();
    for (std::size_t i = 0; i < count; ++i) {
        const JsonView id = values[i].at("id");
        with_place(id, {}, [&] {
            if (!ids.emplace(id.string(), ValueId(i)).second)
                throw Refusal("name", fmt::format("two values are called '{}'", id.string()));
        });
    }
    return ids;
}

/// Of a value, or of the kernel of that name; empty where it is neither.
std::string place_of(const std::string& name, const JsonView& program,
                     const std::unordered_map<std::string, ValueId>& ids) {
    if (const auto kernels = program.find("fused")) {
        for (std::size_t i = 0; i < kernels->size(); ++i) {
            const JsonView kernel = (*kernels)[i];
            if (kernel.at("name").string() == name) return kernel.path();
        }
    }
    const auto value = ids.find(name);
    return value == ids.end() ? "" : fmt::format("/values/{}", value->second.index());
}

Program program_in(const JsonView& view) {
    if (!view.is_object()) view.fail_expecting("a tensor program, which is an object");
    (void)view.at("tutti_tensor").integer(kTensorFormat, kTensorFormat);
    view.only({"tutti_tensor", "name", "about", "mesh", "sizes", "values", "outputs", "fused", "overlaps",
               "resharded"});
    ProgramParts parts;
    parts.name = view.at("name").string();
    if (const auto about = view.find("about")) parts.about = about->string();
    with_place(view.at("mesh"), {}, [&] { parts.mesh = mesh_in(view.at("mesh")); });
    if (const auto sizes = view.find("sizes")) {
        for (const auto& [name, size] : sizes->fields()) parts.sizes[name] = size.integer(1, kMostSize);
    }
    const JsonView values = view.at("values");
    const std::unordered_map<std::string, ValueId> ids = ids_in(values);
    const ValueReader reader(parts, ids);
    const std::size_t count = values.size();
    for (std::size_t i = 0; i < count; ++i) {
        const JsonView value = values[i];
        with_place(value, value.at("id").string(), [&] { parts.values.push_back(reader.read(value)); });
    }
    with_place(view.at("outputs"), {}, [&] {
        for (const JsonView& output : view.at("outputs").elements())
            parts.outputs.push_back(reader.id_of(output));
    });
    with_place(view, {}, [&] { read_grouping(view, reader, parts); });
    try {
        return Program(std::move(parts));
    } catch (const Refusal& refusal) {
        throw refusal.at_place(place_of(refusal.value(), view, ids));
    }
}

Json layout_json(Layout layout) {
    switch (layout.kind()) {
        case Layout::Kind::Sliced:
            return {{"sliced", layout.dim()}};
        case Layout::Kind::Root:
            return {{"root", layout.root()}};
        case Layout::Kind::Local:
            return "local";
        case Layout::Kind::Replicated:
            break;
    }
    return "replicated";
}

/// A field of the attribute as it was read.
Json attribute_json(const Program& program, const tensor::Value& value, std::string_view field) {
    const Mesh& mesh = program.mesh();
    if (field == "dtype") return tensor::name_of(value.dtype);
    if (field == "shape") {
        Json list = Json::array();
        for (const tensor::Size& size : value.shape)
            list.push_back(size.name.empty() ? Json(size.size) : Json(size.name));
        return list;
    }
    if (field == "layout") return write_layouts(value.layout, mesh);
    if (field == "state") return value.state;
    if (field == "fixed") return value.fixed;
    if (field == "positive") return value.positive;
    if (field == "value") return number_json(value.number);
    if (field == "seed") return value.seed;
    if (field == "spec") return value.spec;
    if (field == "dims") return value.dims;
    if (field == "keepdims") return value.keepdims;
    if (field == "perm") return value.perm;
    if (field == "axes") {
        Json list = Json::array();
        for (const AxisId axis : value.axes) list.push_back(mesh.name(axis));
        return list;
    }
    if (field == "axis") return mesh.name(value.axes.front());
    if (field == "dim") return value.dim;
    if (field == "reduce") return tensor::name_of(value.reduction);
    if (field == "root") return value.root;
    if (field == "split") return value.split;
    if (field == "concat") return value.concat;
    return value.by;
}

/// Optional attributes are left out where they say what is so without them.
bool says_nothing(const tensor::Value& value, const Json& json) {
    return json == Json(false) || (json.is_object() && json.empty()) ||
           (json.is_array() && json.empty() && value.op != Op::Input);
}

Json value_json(const Program& program, const tensor::Value& value) {
    const tensor::OpInfo& info = tensor::info_of(value.op);
    Json json{{"id", value.name}, {"op", info.name}};
    if (!value.args.empty()) {
        Json& args = json["args"] = Json::array();
        for (const ValueId arg : value.args) args.push_back(program[arg].name);
    }
    for (const AttributeField& row : kAttributeFields) {
        if (row.bit == 0 || ((info.required | info.optional) & row.bit) == 0) continue;
        Json content = attribute_json(program, value, row.field);
        if ((info.required & row.bit) == 0 && says_nothing(value, content)) continue;
        json[std::string(row.field)] = std::move(content);
    }
    return json;
}

Json mesh_json(const Mesh& mesh) {
    Json axes = Json::array();
    for (const Mesh::Axis& axis : mesh.axes()) axes.push_back(Json::array({axis.name, axis.size}));
    Json json{{"axes", std::move(axes)}};
    if (!mesh.devices().empty()) json["devices"] = mesh.devices();
    return json;
}

}  // namespace

Program parse_tensor_program(const Json& json) {
    std::optional<Program> program;
    const JsonView view(json);
    with_place(view, {}, [&] { program = program_in(view); });
    return *std::move(program);
}

Program read_tensor_program(const std::string& path, const Stop& stop) {
    Source source(path, stop);
    const Json json = parse_json(source, kProgramLimits);
    try {
        return parse_tensor_program(json);
    } catch (const Refusal& refusal) {
        throw refusal.of_file(source.name());
    }
}

Json write_layouts(const Layouts& layouts, const Mesh& mesh) {
    Json json = Json::object();
    for (std::size_t a = 0; a < layouts.size(); ++a) {
        if (!layouts[a].is_replicated()) json[mesh.name(AxisId(a))] = layout_json(layouts[a]);
    }
    return json;
}

Json write_tensor_program(const Program& program) {
    Json json{{"tutti_tensor", kTensorFormat}, {"name", program.name()}};
    if (!program.about().empty()) json["about"] = program.about();
    json["mesh"] = mesh_json(program.mesh());
    if (!program.sizes().empty()) json["sizes"] = program.sizes();
    Json& values = json["values"] = Json::array();
    for (const ValueId id : program.order()) values.push_back(value_json(program, program[id]));
    const auto names_of = [&](const std::vector<ValueId>& ids) {
        Json names = Json::array();
        for (const ValueId id : ids) names.push_back(program[id].name);
        return names;
    };
    json["outputs"] = names_of(program.outputs());
    for (const tensor::Fused& fused : program.fused())
        json["fused"].push_back({{"name", fused.name}, {"values", names_of(fused.values)}});
    for (const tensor::Overlap& overlap : program.overlaps())
        json["overlaps"].push_back({{"chain", overlap.chain}, {"pieces", overlap.pieces}});
    for (const ValueId id : program.resharded())
        json["resharded"][program[id].name] = write_layouts(program[id].layout, program.mesh());
    return json;
}

void save_tensor_program(const std::string& path, const Program& program) {
    AtomicFile file(path);
    file.write(json_page(write_tensor_program(program)));
    file.commit();
}

}  // namespace tutti::io

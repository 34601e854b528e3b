#include "emit/dot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace tutti::emit {
namespace {

using tensor::AxisId;
using tensor::Program;
using tensor::Value;
using tensor::ValueId;

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
    return result + "\"";
}

/// "f32 [6, 20] tensor: sliced 0".
std::string type_text(const Program& program, const tensor::Type& type) {
    std::string text = fmt::format("{} [{}]", name_of(type.dtype), fmt::join(type.shape, ", "));
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (type.layout[a].is_replicated()) continue;
        text += fmt::format(" {}: {}", program.mesh().name(AxisId(a)), text_of(type.layout[a]));
    }
    return text;
}

std::string node(const Program& program, ValueId id) {
    const Value& value = program[id];
    std::string operation(name_of(value.op));
    for (const AxisId axis : value.axes) operation += " " + program.mesh().name(axis);
    const char* style = tensor::is_collective(value.op) ? ", style=filled, fillcolor=lightblue"
                        : tensor::kind_of(value.op) == tensor::OpKind::Source ? ", shape=ellipse"
                                                                              : "";
    // The label's lines end in \n, which is Graphviz' own escape and must not be escaped again.
    std::string label = quoted(value.name + " = " + operation);
    label.pop_back();
    const std::string second = quoted(type_text(program, value.type));
    return fmt::format("v{} [label={}\\n{}{}];\n", id.value(), label, second.substr(1), style);
}

}  // namespace

std::string dot(const Program& program) {
    std::string text =
        fmt::format("digraph {} {{\n  node [shape=box, fontname=\"sans-serif\"];\n", quoted(program.name()));
    std::vector<bool> within(program.slots());
    for (std::size_t k = 0; k < program.fused().size(); ++k) {
        const tensor::Fused& fused = program.fused()[k];
        text += fmt::format("  subgraph cluster_{} {{\n    label={};\n", k, quoted(fused.name));
        for (const ValueId id : fused.values) {
            within[id.index()] = true;
            text += "    " + node(program, id);
        }
        text += "  }\n";
    }
    for (const ValueId id : program.order()) {
        if (!within[id.index()]) text += "  " + node(program, id);
    }
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        for (std::size_t i = 0; i < value.args.size(); ++i) {
            const bool is_storage = value.op == tensor::Op::Update && i == 0;
            text += fmt::format("  v{} -> v{}{};\n", value.args[i].value(), id.value(),
                                is_storage ? " [style=dashed]" : "");
        }
    }
    for (std::size_t i = 0; i < program.outputs().size(); ++i) {
        text += fmt::format("  out{} [label=\"output {}\", shape=plaintext];\n  v{} -> out{};\n", i, i,
                            program.outputs()[i].value(), i);
    }
    return text + "}\n";
}

}  // namespace tutti::emit

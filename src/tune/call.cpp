#include "tune/call.hpp"

#include "tensor/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::tune {

using tensor::Op;

Call call_of(const tensor::Program& program, const tensor::Value& value) {
    const tensor::Type& type = value.op == Op::AllGather ? value.type : program[value.args.front()].type;
    return {.op = value.op,
            .axes = value.axes,
            .bytes = tensor::part_bytes(program.mesh(), type),
            .root = value.root,
            .by = value.op == Op::Shift ? value.by : 0};
}

std::string words_of(const tensor::Mesh& mesh, const Call& call) {
    std::vector<std::string> axes;
    for (const tensor::AxisId axis : call.axes) axes.push_back(mesh.name(axis));
    const std::string pieces = call.pieces > 1 ? fmt::format("{} pieces of ", call.pieces) : "";
    return fmt::format("{} over {}, {}{} bytes", name_of(call.op), fmt::join(axes, " and "), pieces,
                       call.bytes);
}

}  // namespace tutti::tune

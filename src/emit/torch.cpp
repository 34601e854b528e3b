#include "emit/torch.hpp"

#include "emit/torch_helpers.hpp"
#include "emit/torch_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::emit {
namespace {

using tensor::Layout, tensor::Op, tensor::Program, tensor::Type, tensor::Value, tensor::ValueId;

constexpr std::string_view kHead =
    R"("""A tensor program as plain tensor code and functional collectives; written by tutti (convert --to torch).

Every rank has its part of each input (own_part() cuts it out of the whole) and calls step():

    dist.init_process_group(...)      # ranks count along AXES, the last axis fastest
    groups = make_groups()            # once, on all ranks
    coords = coordinates()
    outputs = step(inputs, groups, coords)
    store(inputs, outputs)            # states take their next values

torch.compile takes step() as it is. floats=torch.float64 computes all floating values in that type.
"""

import itertools
import math

import torch
import torch.distributed as dist

try:
    import torch.distributed.functional_collectives as funcol
except ImportError:
    import torch.distributed._functional_collectives as funcol

_all_gather = getattr(funcol, "all_gather_single", None) or funcol.all_gather_tensor
_reduce_scatter = getattr(funcol, "reduce_scatter_single", None) or funcol.reduce_scatter_tensor
)";

constexpr std::string_view kTail = R"(

def make_groups():
    """The process groups of GROUPS that this rank is in. Every rank calls this once, after init_process_group."""
    groups = {}
    for axes in GROUPS:
        for fixed in itertools.product(*(range(1 if axis in axes else size) for axis, size in AXES.items())):
            spans = [range(size) if axis in axes else [at] for (axis, size), at in zip(AXES.items(), fixed)]
            members = [_rank(place) for place in itertools.product(*spans)]
            group = dist.new_group(members)
            if dist.get_rank() in members:
                groups[axes[0] if len(axes) == 1 else axes] = group
    return groups


def _rank(place):
    rank = 0
    for size, at in zip(AXES.values(), place):
        rank = rank * size + at
    return rank


def coordinates(rank=None):
    """Where a rank (this one) is on each axis."""
    rank = dist.get_rank() if rank is None else rank
    places = {}
    for axis in reversed(AXES):
        rank, places[axis] = divmod(rank, AXES[axis])
    return {axis: places[axis] for axis in AXES}


def own_part(name, whole, coords):
    """What the rank at these coordinates has of an input or output of its whole shape."""
    _, shape, layout = {**INPUTS, **OUTPUTS}[name]
    for dim in range(len(shape)):
        begin, end, size = 0, shape[dim], shape[dim]
        for axis, count in AXES.items():
            if layout.get(axis) == dim:
                size = -(-size // count)
                begin = min(begin + size * coords[axis], end)
                end = min(begin + size, end)
        whole = whole.narrow(dim, begin, end - begin)
    return whole


def store(inputs, outputs):
    """Copies the next values of the states into the tensors that hold them."""
    with torch.no_grad():
        for state, output in STATES.items():
            if outputs[output] is not None:
                inputs[state].copy_(outputs[output])
)";

std::string layout_text(const Program& program, const Type& type) {
    std::vector<std::string> items;
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        const Layout layout = type.layout[a];
        if (layout.is_replicated()) continue;
        const std::string name = python_string(program.mesh().axes()[a].name);
        if (layout.is_sliced()) items.push_back(fmt::format("{}: {}", name, layout.dim()));
        if (layout.is_local()) items.push_back(fmt::format("{}: \"local\"", name));
        if (layout.is_root()) items.push_back(fmt::format("{}: \"root {}\"", name, layout.root()));
    }
    return fmt::format("{{{}}}", fmt::join(items, ", "));
}

std::string type_line(const Program& program, const Value& value) {
    std::vector<std::string> sizes;
    for (const std::int64_t size : value.type.shape) sizes.push_back(fmt::format("{}", size));
    return fmt::format("    {}: (\"{}\", {}, {}),\n", python_string(value.name), name_of(value.type.dtype),
                       python_tuple(sizes), layout_text(program, value.type));
}

std::string tables(const Program& program) {
    std::string axes, inputs, outputs, states;
    for (const tensor::Mesh::Axis& axis : program.mesh().axes())
        axes += fmt::format("{}{}: {}", axes.empty() ? "" : ", ", python_string(axis.name), axis.size);
    const auto is_output = [&](ValueId id) {
        return std::ranges::find(program.outputs(), id) != program.outputs().end();
    };
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        if (value.op == Op::Input) inputs += type_line(program, value);
        if (value.op == Op::Update) {
            states += fmt::format("{}{}: {}", states.empty() ? "" : ", ",
                                  python_string(program[value.args[0]].name), python_string(value.name));
        }
        if (value.op == Op::Update || is_output(id)) outputs += type_line(program, value);
    }
    return fmt::format(
        "\nNAME = {}\nAXES = {{{}}}\n"
        "# name: dtype, whole shape, layout (the dimension that an axis slices, \"local\" or \"root RANK\")\n"
        "INPUTS = {{\n{}}}\nOUTPUTS = {{\n{}}}\nSTATES = {{{}}}  # state: the output with its next value\n",
        python_string(program.name()), axes, inputs, outputs, states);
}

std::string groups_text(const Program& program, const TorchStep& step) {
    std::vector<std::string> groups;
    for (const std::vector<tensor::AxisId>& axes : step.groups()) {
        std::vector<std::string> names;
        for (const tensor::AxisId axis : axes) names.push_back(python_string(program.mesh().name(axis)));
        groups.push_back(python_tuple(names));
    }
    return fmt::format("GROUPS = {}  # the axes along which there are collectives\n", python_tuple(groups));
}

}  // namespace

std::string torch_module(const Program& program) {
    TorchStep step(program);
    const std::string body = step.text();
    std::string floats;
    for (const std::string_view name : {"f64", "f32", "bf16", "f16"}) {
        const std::string_view full = name == "f64"    ? "float64"
                                      : name == "f32"  ? "float32"
                                      : name == "bf16" ? "bfloat16"
                                                       : "float16";
        const bool is_used = std::ranges::any_of(
            program.order(), [&](ValueId id) { return name_of(program[id].type.dtype) == name; });
        if (is_used) floats += fmt::format("    {} = floats or torch.{}\n", name, full);
    }
    return fmt::format(
        "{}{}{}{}{}\n\ndef step(inputs, groups, coords, floats=None):\n"
        "    \"\"\"One call on this rank: its parts of the inputs by name to its parts of the "
        "outputs.\"\"\"\n"
        "    at = coords if isinstance(coords, dict) else dict(zip(AXES, coords))\n"
        "    device = next((x.device for x in inputs.values() if x is not None), "
        "torch.device(\"cpu\"))\n{}{}",
        kHead, tables(program), groups_text(program, step), kTail, torch_helpers_for(body), floats, body);
}

}  // namespace tutti::emit

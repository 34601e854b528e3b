"""The graphs of exported PyTorch programs, the same one for each rank but for numbers, node after node to a tensor program (torch_export has the calls for users)."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from tutti.errors import InputError
from tutti.rank_programs import FLOATS, LOCAL, NUMPY, Known, Layout, NotUnderstood, Outside, Tensor, Value, View, Writer
from tutti.rank_views import Folded, exchanged, folded, gathered, scattered, unfolded

DTYPES = {"float64": "f64", "float32": "f32", "bfloat16": "bf16", "float16": "f16", "int64": "i64", "int32": "i32", "uint32": "u32", "int8": "i8", "uint8": "u8", "bool": "bool"}
UNARY = {"neg": "neg", "abs": "abs", "sqrt": "sqrt", "rsqrt": "rsqrt", "exp": "exp", "log": "log", "tanh": "tanh", "erf": "erf", "sigmoid": "sigmoid", "logical_not": "not"}
BINARY = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "maximum": "max", "minimum": "min", "pow": "pow", "logical_and": "and", "logical_or": "or", "lt": "lt", "le": "le",
          "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne"}
TRUTHS = {"and": "and", "or": "or", "not": "not"}  # of bitwise_and and so on, on bool
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
REDUCTIONS = {"sum": "sum", "prod": "prod", "amax": "max", "amin": "min", "max": "max", "min": "min", "mean": "sum"}
SAME = ("clone", "detach", "alias", "contiguous", "lift_fresh_copy", "wait_tensor", "_to_copy", "convert_element_type", "to")
TRANSLATED = ("where", "relu", "reciprocal", "square", "rsub", "clamp", "clamp_min", "clamp_max", "full_like", "zeros_like", "ones_like", "einsum", "matmul", "mm", "bmm", "mv", "dot", "linear", "var",
              "var_mean", "view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "flatten", "permute", "t", "transpose", "expand", "slice", "select", "split_with_sizes", "cat")
RANDOM = ("rand", "randn", "rand_like", "randn_like", "randint", "randperm", "bernoulli", "native_dropout")


@dataclass(frozen=True, eq=False)
class _Chunk:
    """One of the equal chunks of a dimension."""

    whole: Folded | Tensor
    dim: int
    count: int
    number: int


Seen = Union[Value, Folded, "list[_Chunk]", _Chunk]


class Graphs:
    """`programs`: exported programs of these ranks, without changes in place; `groups`: of each, the ranks behind the names of process groups."""

    def __init__(self, ranks: list[int], groups: Sequence[Mapping[str, Sequence[int]]], programs: list[Any], mesh: dict[str, int], layouts: Mapping[str, Mapping[str, int | str]]) -> None:
        self.ranks, self.groups, self.programs = ranks, groups, programs
        self.nodes = [list(program.graph.nodes) for program in self.programs]
        self.layouts, self.asked = layouts, set(layouts)
        self.writer = Writer(mesh, frozenset(mesh))
        self.known: dict[Any, Seen] = {}
        self.inputs: dict[str, Tensor] = {}

    def program(self, name: str, updates: Mapping[str, int]) -> dict[str, Any]:
        counts = {len(nodes) for nodes in self.nodes}
        if len(counts) > 1:
            raise InputError(f"the ranks' programs differ: they have {', '.join(map(str, sorted(counts)))} nodes")
        outputs: list[Tensor] = []
        for step, node in enumerate(self.nodes[0]):
            self.step = step
            try:
                if any((other[step].op, str(other[step].target)) != (node.op, str(node.target)) for other in self.nodes):
                    raise NotUnderstood("the ranks' programs differ here")
                if node.op == "placeholder":
                    self._input(node)
                elif node.op == "output":
                    outputs = self._outputs(node, updates)
                else:
                    self.known[node] = self._call(node)
            except NotUnderstood as error:
                raise InputError(str(error), place=_place(node)) from None
        if self.asked - self.inputs.keys():
            raise InputError(f"there is no input {', '.join(sorted(self.asked - self.inputs.keys()))}; there are {', '.join(self.inputs)}")
        used = {output.name for output in outputs}
        for value in reversed(self.writer.values):
            if value["id"] in used:
                used.update(value.get("args", []))
        values = [value for value in self.writer.values if value["id"] in used or value["op"] == "input"]
        return {"tutti_tensor": 1, "name": name, "mesh": {"axes": [[axis, size] for axis, size in self.writer.axes.items()]}, "sizes": {}, "values": values,
                "outputs": [output.name for output in outputs]}

    # What goes in and comes out.

    def _input(self, node: Any) -> None:
        spec = next(spec for spec in self.programs[0].graph_signature.input_specs if spec.arg.name == node.name)
        if spec.kind.name in ("CONSTANT_TENSOR",):
            self.known[node] = self._number(self.programs[0].constants[spec.target][None])
            return
        shapes = {tuple(int(size) for size in other[self.step].meta["val"].shape) for other in self.nodes}
        if len(shapes) > 1:
            raise NotUnderstood("parts of different sizes")
        name = spec.target or node.name
        dtype, shape = self._type(node)
        asked = next((self.layouts[key] for key in (name, node.name) if key in self.layouts), None)
        self.asked.discard(node.name)
        self.asked.discard(name)
        layout: Layout = {axis: LOCAL for axis, size in self.writer.axes.items() if size > 1} if asked is None else {axis: where for axis, where in asked.items()}
        for axis, where in layout.items():
            if axis not in self.writer.axes or not (where == LOCAL or isinstance(where, int) and 0 <= where < len(shape)):
                raise NotUnderstood(f"a layout {axis}: {where} of {name}, which has {len(shape)} dimensions")
        whole = [size * math.prod(count for axis, count in self.writer.axes.items() if layout.get(axis) == dim) for dim, size in enumerate(shape)]
        self.inputs[name] = self.writer.input(name, dtype, whole, layout)
        self.known[node] = self.inputs[name]

    def _outputs(self, node: Any, updates: Mapping[str, int]) -> list[Tensor]:
        outputs: list[Tensor] = []
        number = 0
        states = {place: name for name, place in updates.items()}
        unknown = sorted(set(updates) - self.inputs.keys())
        if unknown:
            raise NotUnderstood(f"an update of {', '.join(unknown)}, which is no input")
        for spec, made in zip(self.programs[0].graph_signature.output_specs, node.args[0]):
            kind, state = spec.kind.name, spec.target if spec.kind.name in ("BUFFER_MUTATION", "USER_INPUT_MUTATION", "PARAMETER_MUTATION") else None
            if kind == "USER_OUTPUT":
                state = states.get(number)
                number += 1
            if made is None:
                continue
            value = self._tensor(self.known[made])
            if state is not None:
                old = self.inputs[state]
                value = self.writer.place(value, old.layout, f"the next value of {state}")
                next(entry for entry in self.writer.values if entry["id"] == state)["state"] = True
                value = self.writer.write("update", [old, value], value.dtype, value.shape, value.layout, id=f"{state}_out")
            outputs.append(value)
        return outputs

    # Values.

    def _type(self, node: Any) -> tuple[str, tuple[int, ...]]:
        value = node.meta["val"]
        if isinstance(value, (list, tuple)):
            raise NotUnderstood(f"the operation {node.target}")
        dtype = str(value.dtype).removeprefix("torch.")
        if dtype not in DTYPES:
            raise NotUnderstood(f"a value of type {dtype}")
        if not all(isinstance(size, int) for size in value.shape):
            raise NotUnderstood("a shape that is not known: export without dynamic shapes")
        return DTYPES[dtype], tuple(value.shape)

    def _tensor(self, value: Seen) -> Tensor:
        return unfolded(self.writer, value) if isinstance(value, Folded) else self.writer.tensor(self._plain(value))

    def _plain(self, value: Seen) -> Value:
        if isinstance(value, (list, _Chunk)):
            return self._own_chunk(value) if isinstance(value, _Chunk) else self._refuse("chunks that are not put together again")
        return unfolded(self.writer, value) if isinstance(value, Folded) else value

    def _refuse(self, words: str) -> Any:
        raise NotUnderstood(words)

    def _own_chunk(self, chunk: _Chunk) -> Value:
        raise NotUnderstood(f"chunk {chunk.number} of {chunk.count}, which is no part of a collective")

    def _folded(self, value: Seen) -> Folded:
        return value if isinstance(value, Folded) else folded(self.writer, self._tensor(value))

    def _number(self, tensors: Any) -> Value:
        """Numbers that are known, for each rank or for all; arrays of one number are that number."""
        import torch

        dtype = DTYPES[str(tensors.dtype).removeprefix("torch.")]
        values = (tensors.to(torch.float32) if tensors.dtype == torch.bfloat16 else tensors).detach().cpu().numpy().astype(NUMPY[dtype])
        if len(values) > 1 and (values == values[:1]).all():
            values = values[:1]
        flat = values.reshape(len(values), -1)
        if values.ndim > 1 and flat.shape[1] and (flat == flat[:, :1]).all():
            return View(Known(flat[:, 0], dtype), (), values.shape[1:])
        return Known(values, dtype)

    def _numbers(self, number: Any) -> list[Any]:
        """An argument of this node, as each rank has it: `number` picks it."""
        return [number(other[self.step]) for other in self.nodes]

    def _scalar(self, number: Any, dtype: str) -> Known:
        """As it is written, not rounded."""
        return Known(np.full(1, number, np.float64 if dtype in FLOATS else NUMPY[dtype]), dtype)

    def _operand(self, value: Any, dtype: str, shape: tuple[int, ...]) -> Value:
        """With this type; broadcast to the shape unless it is a scalar."""
        if isinstance(value, (bool, int, float)):
            return self._scalar(value, dtype)
        found = self._plain(self.known[value])
        if found.dtype != dtype:
            found = self.writer.pointwise("cast", [found], dtype, dtype=dtype)
        seen = self.writer.seen(found)
        if seen in ((), shape):
            return found
        ahead = len(shape) - len(seen)
        if isinstance(found, View):
            return View(found.source, tuple(dim + ahead for dim in found.dims), shape)
        if isinstance(found, Outside):
            found = self.writer.from_outside(found)
        return View(found, tuple(range(ahead, len(shape))), shape)

    # Operations.

    def _call(self, node: Any) -> Seen:
        if node.target is operator.getitem:
            several = self.known[node.args[0]]
            return several[node.args[1]] if isinstance(several, list) else several
        if node.meta.get("val") is None and not node.users:
            return []  # an assertion
        words = str(node.target).split(".")
        room, short = words[0], words[1] if len(words) > 1 else words[0]
        if room == "_c10d_functional":
            return self._collective(node, short)
        if short in RANDOM:
            dtype, shape = self._type(node) if not isinstance(node.meta["val"], (list, tuple)) else (None, ())
            if dtype is None:
                raise NotUnderstood(f"the operation {node.target}: numbers that it draws are no input (call eval() before the export)")
            return Outside(f"{node.target} at {node.name}", dtype, shape, frozenset(axis for axis, size in self.writer.axes.items() if size > 1))
        if room in ("aten", "prims"):
            sources = [argument for argument in node.all_input_nodes]
            if short in ("full", "scalar_tensor") and not sources:
                return self._full(node)
            if all(isinstance(self.known[source], Known) or self._is_spread(self.known[source]) for source in sources) and not isinstance(node.meta.get("val"), (list, tuple)):
                return self._evaluated(node)
            if short in SAME or short in TRANSLATED:
                made: Seen = self._same(node) if short in SAME else getattr(self, "_" + short.lstrip("_"))(node)
                return made
            dtype, shape = self._type(node)
            if short in ("bitwise_and", "bitwise_or", "bitwise_not") and dtype == "bool":
                return self._pointwise(TRUTHS[short.removeprefix("bitwise_")], node.args, "bool", dtype, shape)
            if short in UNARY or short in BINARY:
                return self._simple(node, short, dtype, shape)
            if short in REDUCTIONS:
                return self._reduction(node, short, dtype)
        raise NotUnderstood(f"the operation {node.target}")

    def _full(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        number = node.args[0] if str(node.target).startswith("aten.scalar_tensor") else node.args[1]
        return View(self._scalar(number, dtype), (), shape) if shape else self._scalar(number, dtype)

    _scalar_tensor = _full

    def _is_spread(self, value: Seen) -> bool:
        return isinstance(value, View) and isinstance(value.source, Known) and math.prod(value.shape) <= 1 << 24

    def _evaluated(self, node: Any) -> Value:
        """Of numbers that are known: PyTorch says what comes out, for each rank whose numbers differ."""
        import torch
        from torch.utils._pytree import tree_map

        def array(value: Seen, rank: int) -> Any:
            source = value.source if isinstance(value, View) else value
            assert isinstance(source, Known)
            numbers = torch.tensor(np.array(source.values[min(rank, len(source.values) - 1)])).to(getattr(torch, next(key for key, short in DTYPES.items() if short == source.dtype)))
            return torch.broadcast_to(numbers.reshape([1] * len(value.shape) if not source.shape else numbers.shape), value.shape) if isinstance(value, View) else numbers
        sources = [self.known[source] for source in node.all_input_nodes]
        said = {str((other[self.step].args, other[self.step].kwargs)) for other in self.nodes}
        differ = len(self.nodes) > 1 and (len(said) > 1 or any(len(getattr(source.source if isinstance(source, View) else source, "values", [0])) > 1 for source in sources))
        made = []
        for rank, other in enumerate(self.nodes if differ else self.nodes[:1]):
            mine = {theirs: array(self.known[ours], rank) for theirs, ours in zip(other[self.step].all_input_nodes, node.all_input_nodes)}
            args, kwargs = tree_map(lambda value: mine.get(value, value) if isinstance(value, torch.fx.Node) else value, (other[self.step].args, dict(other[self.step].kwargs)))
            kwargs.pop("device", None)
            made.append(other[self.step].target(*args, **kwargs))
        if len({tuple(one.shape) for one in made}) > 1:
            raise NotUnderstood("numbers whose shape depends on the rank")
        return self._number(torch.stack(made))

    def _pointwise(self, op: str, args: Sequence[Any], inner: str, dtype: str, shape: tuple[int, ...], **more: Any) -> Value:
        return self.writer.pointwise(op, [self._operand(arg, inner, shape) for arg in args], dtype, shape, **more)

    def _simple(self, node: Any, short: str, dtype: str, shape: tuple[int, ...]) -> Value:
        import torch

        args = list(node.args)
        if short in ("add", "sub") and node.kwargs.get("alpha", 1) != 1:
            scaled = self.writer.pointwise("mul", [self._operand(args[1], dtype, shape), self._scalar(node.kwargs["alpha"], dtype)], dtype, shape)
            return self.writer.pointwise(short, [self._operand(args[0], dtype, shape), scaled], dtype, shape)
        if short == "div" and node.kwargs.get("rounding_mode") is not None and not (dtype not in FLOATS and node.kwargs["rounding_mode"] == "trunc"):
            raise NotUnderstood(f"a division with rounding_mode {node.kwargs['rounding_mode']}")
        if short == "pow" and args[1] in (0.5, 1, 2):
            value = self._operand(args[0], dtype, shape)
            return value if args[1] == 1 else self.writer.pointwise("sqrt", [value], dtype, shape) if args[1] == 0.5 else self.writer.pointwise("mul", [value, value], dtype, shape)
        inner = dtype
        if short in COMPARISONS:
            common = torch.result_type(*(arg.meta["val"] if isinstance(arg, torch.fx.Node) else arg for arg in args[:2]))
            inner = DTYPES[str(common).removeprefix("torch.")]
        elif short.startswith("logical_"):
            inner = "bool"
        return self._pointwise(UNARY.get(short) or BINARY[short], args, inner, dtype, shape)

    def _same(self, node: Any) -> Seen:
        value = self.known[node.args[0]]
        dtype, _ = self._type(node)
        if isinstance(value, (list, _Chunk)) or value.dtype == dtype:
            return value
        return self.writer.pointwise("cast", [self._plain(value)], dtype, dtype=dtype)

    def _where(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        return self.writer.pointwise("select", [self._operand(node.args[0], "bool", shape), *(self._operand(arg, dtype, shape) for arg in node.args[1:])], dtype, shape)

    def _relu(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        return self._pointwise("max", [node.args[0], 0], dtype, dtype, shape)

    def _reciprocal(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        return self._pointwise("div", [1, node.args[0]], dtype, dtype, shape)

    def _square(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        return self._pointwise("mul", [node.args[0]] * 2, dtype, dtype, shape)

    def _rsub(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        return self._pointwise("sub", [node.args[1], node.args[0]], dtype, dtype, shape)

    def _clamp(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        low, high = ([*node.args[1:], None, None])[:2]
        low, high = node.kwargs.get("min", low), node.kwargs.get("max", high)
        value = self._operand(node.args[0], dtype, shape)
        for op, end in (("max", low), ("min", high)):
            if end is not None:
                value = self.writer.pointwise(op, [value, self._operand(end, dtype, shape)], dtype, shape)
        return value

    _clamp_min = _clamp

    def _clamp_max(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        return self._pointwise("min", node.args, dtype, dtype, shape)

    def _full_like(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        number = node.args[1] if len(node.args) > 1 else {"zeros_like": 0, "ones_like": 1}[str(node.target).split(".")[1]]
        return View(self._scalar(number, dtype), (), shape) if shape else self._scalar(number, dtype)

    _zeros_like = _ones_like = _full_like

    # Products and sums.

    def _einsum(self, node: Any) -> Tensor:
        words, out = node.args[0].replace(" ", "").split("->") if "->" in node.args[0] else self._refuse("an einsum without its result's letters")
        if "." in words:
            raise NotUnderstood("an einsum with dots")
        return self.writer.einsum([self._plain(self.known[arg]) for arg in node.args[1]], words.split(","), out, self._type(node)[0])

    def _matmul(self, node: Any) -> Value:
        return self._product(node.args[0], node.args[1], self._type(node)[0])

    _mm = _bmm = _mv = _dot = _matmul

    def _product(self, left: Any, right: Any, dtype: str, transposed: bool = False) -> Value:
        """matmul; dimensions ahead of the last two are batches, or only one of the two has them."""
        a, b = self._plain(self.known[left]), self._plain(self.known[right])
        ranks = len(self.writer.seen(a)), len(self.writer.seen(b))
        if max(ranks) > 8 or min(ranks) > 2 and ranks[0] != ranks[1]:
            raise NotUnderstood("a product whose batches broadcast")
        batch = "abcdefgh"[:max(*ranks, 2) - 2]
        first = (batch if ranks[0] > 2 else "") + ("mk" if ranks[0] > 1 else "k")
        second = (batch if ranks[1] > 2 else "") + (("nk" if transposed else "kn") if ranks[1] > 1 else "k")
        sizes: dict[str, set[int]] = {}
        for word, value in ((first, a), (second, b)):
            for letter, size in zip(word, self.writer.seen(value)):
                sizes.setdefault(letter, set()).add(size)
        if any(len(both) > 1 for both in sizes.values()):
            raise NotUnderstood("a product whose batches broadcast")
        out = batch + ("m" if ranks[0] > 1 else "") + ("n" if ranks[1] > 1 else "")
        return self.writer.einsum([a, b], [first, second], out, dtype)

    def _linear(self, node: Any) -> Value:
        dtype, shape = self._type(node)
        made = self._product(node.args[0], node.args[1], dtype, transposed=True)
        if len(node.args) < 3 or node.args[2] is None:
            return made
        return self.writer.pointwise("add", [made, self._operand(node.args[2], dtype, shape)], dtype, shape)

    def _reduction(self, node: Any, short: str, dtype: str) -> Value:
        value = self._tensor(self.known[node.args[0]])
        if value.dtype != dtype:
            value = self.writer.tensor(self.writer.pointwise("cast", [value], dtype, dtype=dtype))
        rank = len(value.shape)
        asked = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
        dims = sorted({dim % rank for dim in ([asked] if isinstance(asked, int) else asked or range(rank))}) if rank else []
        seen = self.writer.seen(value)
        keep = bool(node.args[2] if len(node.args) > 2 else node.kwargs.get("keepdim", False))
        made: Value = self.writer.reduce(value, dims, REDUCTIONS[short], None, keep) if dims else value
        if short == "mean":
            made = self.writer.pointwise("div", [made, self._scalar(math.prod(seen[dim] for dim in dims), dtype)], dtype, self.writer.seen(made))
        return made

    def _var_mean(self, node: Any) -> list[Any]:
        value = self._tensor(self.known[node.args[0]])
        seen, dtype = self.writer.seen(value), value.dtype
        dims = sorted(dim % len(seen) for dim in (node.args[1] if len(node.args) > 1 and node.args[1] else range(len(seen))))
        count = math.prod(seen[dim] for dim in dims)
        correction = node.kwargs.get("correction", node.args[2] if len(node.args) > 2 else 1)

        def mean(of: Value, number: float) -> Tensor:
            total = self.writer.reduce(of, dims, "sum", None, True)
            return self.writer.tensor(self.writer.pointwise("div", [total, self._scalar(number, dtype)], dtype, self.writer.seen(total)))
        middle = mean(value, count)
        away = self.writer.pointwise("sub", [value, View(middle, tuple(range(len(seen))), seen)], dtype, seen)
        found = [mean(self.writer.pointwise("mul", [away, away], dtype, seen), count - (1 if correction is None else correction)), middle]
        if node.kwargs.get("keepdim", False):
            return found
        return [self.writer.reshape(one, tuple(size for dim, size in enumerate(self.writer.seen(one)) if dim not in dims)) for one in found]

    def _var(self, node: Any) -> Value:
        made: Value = self._var_mean(node)[0]
        return made

    # Shapes.

    def _view(self, node: Any) -> Seen:
        shape = self._type(node)[1]
        value = self.known[node.args[0]]
        if isinstance(value, (Tensor, Folded)):
            made = self._folded(value).viewed(shape)
            return made if made is not None else self.writer.reshape(self._plain(value), shape)
        return self.writer.reshape(self._plain(value), shape)

    _reshape = _unsafe_view = _unsqueeze = _squeeze = _flatten = _view

    def _permute(self, node: Any) -> Seen:
        rank = len(self._type(node)[1])
        short = str(node.target).split(".")[1]
        perm = list(range(rank))
        if short == "permute":
            perm = [dim % rank for dim in node.args[1]]
        elif rank > 1:
            a, b = (0, 1) if short == "t" else (dim % rank for dim in node.args[1:3])
            perm[a], perm[b] = b, a
        return self._folded(self._spread(self.known[node.args[0]])).permuted(perm)

    _t = _transpose = _permute

    def _spread(self, value: Seen) -> Seen:
        return value if isinstance(value, Folded) else self._tensor(value)

    def _expand(self, node: Any) -> Value:
        shape = self._type(node)[1]
        return self._operand(node.args[0], self._type(node)[0], shape) if len(self.writer.seen(self._plain(self.known[node.args[0]]))) else View(self._plain(self.known[node.args[0]]), (), shape)  # type: ignore[arg-type]

    def _slice(self, node: Any) -> Seen:
        whole = tuple(node.args[0].meta["val"].shape)
        if self._type(node)[1] == whole:
            return self.known[node.args[0]]
        dim = (node.args[1] if len(node.args) > 1 else 0) % len(whole)
        if len(node.args) > 4 and node.args[4] != 1:
            raise NotUnderstood("a slice with steps")
        return self._cut(node, dim, lambda mine: mine.args[2] if len(mine.args) > 2 and mine.args[2] is not None else 0)

    def _select(self, node: Any) -> Seen:
        whole = tuple(node.args[0].meta["val"].shape)
        dim = node.args[1] % len(whole)
        value: Seen = self.known[node.args[0]]
        if whole[dim] != 1:
            value = self._cut(node, dim, lambda mine: mine.args[2] % whole[dim], 1)
        made = self._folded(value).viewed(self._type(node)[1])
        return made if made is not None else self.writer.reshape(self._plain(value), self._type(node)[1])

    def _cut(self, node: Any, dim: int, begin: Any, size: int | None = None) -> Tensor:
        """The rank's own part of a dimension."""
        value = self._tensor(self.known[node.args[0]])
        seen = self.writer.seen(value)
        begins = [at + seen[dim] if at < 0 else at for at in self._numbers(begin)]
        sizes = [seen[d] if d != dim else size or int(node.meta["val"].shape[dim]) for d in range(len(seen))]
        if len({tuple(other[self.step].meta["val"].shape) for other in self.nodes}) > 1:
            raise NotUnderstood("parts of different sizes")
        if len(set(begins)) == 1:
            raise NotUnderstood("a slice at a fixed place" + ("" if len(self.nodes) > 1 else ": if it is the rank's own part, give the programs of all ranks"))
        starts: list[Value] = [Known(np.array(begins), "i64") if d == dim else Known(np.zeros(1, np.int64), "i64") for d in range(len(seen))]
        return self.writer.tensor(self.writer.own_part(value, starts, sizes))

    def _split_with_sizes(self, node: Any) -> list[_Chunk]:
        dim = (node.args[2] if len(node.args) > 2 else node.kwargs.get("dim", 0)) % len(node.args[0].meta["val"].shape)
        sizes = node.args[1]
        if len(set(sizes)) != 1:
            raise NotUnderstood("chunks of different sizes")
        whole = self._folded(self.known[node.args[0]])
        return [_Chunk(whole, dim, len(sizes), number) for number in range(len(sizes))]

    def _cat(self, node: Any) -> Seen:
        shape = self._type(node)[1]
        dim = (node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)) % len(shape)
        parts = [self.known[part] for part in node.args[0]]
        first = parts[0]
        if len(parts) == 1:
            return first
        if not isinstance(first, _Chunk) or [(p.whole, p.dim, p.count, p.number) if isinstance(p, _Chunk) else None for p in parts] != [(first.whole, first.dim, first.count, n) for n in range(first.count)]:
            raise NotUnderstood("a cat of values that are not all chunks of one, in order")
        whole = self._folded(first.whole)
        return whole if dim == first.dim else whole.moved_ahead(first.dim, first.count, dim)

    # Communication.

    def _axes(self, names: Sequence[str]) -> list[str]:
        """The axes whose line through each rank is its group of this name."""
        found: set[tuple[str, ...]] = set()
        for rank, groups, name in zip(self.ranks, self.groups, names):
            if name not in groups:
                raise NotUnderstood(f"a process group {name!r}, whose ranks are not known")
            here = self.writer.ranks()[rank] if rank < len(self.writer.ranks()) else self._refuse(f"rank {rank}, which the mesh has not")
            axes = tuple(axis for axis in self.writer.axes if any(self.writer.ranks()[other][axis] != here[axis] for other in groups[name] if other < len(self.writer.ranks())))
            line = [number for number, place in enumerate(self.writer.ranks()) if all(place[axis] == here[axis] for axis in self.writer.axes if axis not in axes)]
            if list(groups[name]) != line:
                raise NotUnderstood(f"the group {list(groups[name])} of rank {rank}, which is no axis of the mesh {', '.join(f'{axis} {size}' for axis, size in self.writer.axes.items())}")
            found.add(axes)
        if len(found) > 1:
            raise NotUnderstood("groups that are other axes on other ranks")
        return list(found.pop())

    def _collective(self, node: Any, short: str) -> Seen:
        if short == "wait_tensor":
            return self.known[node.args[0]]
        axes = self._axes(self._numbers(lambda mine: next((argument for argument in [*reversed(mine.args), *mine.kwargs.values()] if isinstance(argument, str)), "")))
        count = math.prod(self.writer.axes[axis] for axis in axes)
        values = [self.known[value] for value in (node.args[0] if isinstance(node.args[0], (list, tuple)) else [node.args[0]])]
        if not axes:
            made: list[Seen] = values
        elif short.removesuffix("_coalesced") in ("all_reduce", "reduce_scatter_tensor"):
            made = [self._reduced(value, axes, count, node.args[1], short.startswith("reduce_scatter")) for value in values]
        elif short.removesuffix("_coalesced") in ("all_gather_into_tensor", "all_gather_into_tensor_out"):
            made = [gathered(self.writer, self._folded(value), axes, count) for value in values]
        elif short == "all_to_all_single":
            if len(set(node.args[1])) > 1 or list(node.args[1]) != list(node.args[2]):
                raise NotUnderstood("an all_to_all_single with parts of different sizes")
            made = [exchanged(self.writer, self._folded(values[0]), axes, count)]
        elif short == "broadcast" and not any(axis in self._tensor(values[0]).layout for axis in axes):
            made = values  # all have the same
        elif short == "broadcast":
            tensor = self.writer.own(self._tensor(values[0]), axes)
            made = [self.writer.write("broadcast_from", [tensor], tensor.dtype, tensor.shape, {axis: where for axis, where in tensor.layout.items() if axis not in axes}, axes=axes, root=node.args[1])]
        else:
            raise NotUnderstood(f"the collective {short}")
        return made if isinstance(node.args[0], (list, tuple)) else made[0]  # type: ignore[return-value]

    def _reduced(self, value: Seen, axes: list[str], count: int, kind: str, scatter: bool) -> Seen:
        reduce = {"sum": "sum", "avg": "sum", "product": "prod", "max": "max", "min": "min"}.get(kind.lower())
        if reduce is None:
            raise NotUnderstood(f"a reduction by {kind}")
        made: Seen = scattered(self.writer, self._folded(value), axes, count, reduce) if scatter else self.writer.all_reduce(self._tensor(value), axes, reduce)
        if kind.lower() != "avg":
            return made
        tensor = self._tensor(made)
        return self.writer.pointwise("div", [tensor, self._scalar(count, tensor.dtype)], tensor.dtype, self.writer.seen(tensor))


def _place(node: Any) -> str:
    """Of a node: its name, and the line of the source that it comes from."""
    lines = re.findall(r'File "([^"]+)", line (\d+)', str(node.meta.get("stack_trace") or ""))
    return f"node {node.name}" + (f" ({lines[-1][0]}:{lines[-1][1]})" if lines else "")

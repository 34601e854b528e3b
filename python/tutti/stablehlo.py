"""StableHLO to tensor programs: what `jax.jit(f).lower(...).as_text()` or `jax.export` writes, read with jaxlib's own bindings.

Bodies of shard_map (`sdy.manual_computation`) and plain jit with shardings are understood, in one module together, too; and, with a mesh given, programs that say what
each device does (as a partitioner leaves them). Functions are inlined, loops over constants unrolled, numbers computed from the device's id evaluated for every device.
What has no counterpart is named with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tutti.errors import InputError
from tutti.rank_programs import LOCAL, NUMPY, IDENTITY, Known, Layout, NotUnderstood, Outside, Tensor, Value, View, Writer

UNARY = {"abs": "abs", "negate": "neg", "sqrt": "sqrt", "rsqrt": "rsqrt", "exponential": "exp", "log": "log", "tanh": "tanh", "logistic": "sigmoid", "not": "not", "erf": "erf"}
BINARY = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "minimum": "min", "power": "pow", "and": "and", "or": "or"}
COMPARE = {"EQ": "eq", "NE": "ne", "LT": "lt", "LE": "le", "GT": "gt", "GE": "ge"}
REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
DTYPES = {"f64": "f64", "f32": "f32", "bf16": "bf16", "f16": "f16", "i64": "i64", "i32": "i32", "ui32": "u32", "i8": "i8", "ui8": "u8", "i1": "bool", "ui64": "u64", "i16": "i16", "ui16": "u16"}
BITS = ("u32", "u64", "i16", "u16")  # what random numbers are made of
MOST_TURNS = 4096  # of a loop that is unrolled


def from_stablehlo(text: str, name: str | None = None, mesh: Mapping[str, int] | None = None, function: str = "main", file: str = "") -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """The program in its JSON form, the values of inputs that stand for constant arrays, and for inputs that stand for random numbers the operation that makes them.

    With `mesh`, the function says what each of its devices does: every argument and result is the device's own.
    """
    ir, module = _parsed(text, file)
    with module.context:
        reading = _Import(ir, module, file, mesh)
        try:
            return reading.program(name, function)
        except NotUnderstood as error:  # in what a function takes or returns
            raise InputError(str(error), file, reading.place_of(function)) from None


def _parsed(text: str, file: str) -> tuple[Any, Any]:
    try:
        from jaxlib.mlir import ir
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext
        from jaxlib.mlir.dialects import chlo, sdy, stablehlo
    except ImportError as error:
        raise ImportError("reading StableHLO needs jaxlib (pip install jaxlib)") from error
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    for dialect in (sdy, stablehlo, chlo):
        dialect.register_dialect(context)
    context.load_all_available_dialects()
    context.allow_unregistered_dialects = True
    try:
        with context:
            return ir, ir.Module.parse(text)
    except ir.MLIRError as error:
        place = re.search(r"(\d+:\d+): (.*)", str(error))
        raise InputError(f"expected StableHLO: {place[2] if place else error}", file, place[1] if place else "") from None


class _Import:
    def __init__(self, ir: Any, module: Any, file: str, mesh: Mapping[str, int] | None) -> None:
        from jaxlib.mlir.dialects import sdy
        self.ir, self.sdy, self.module, self.file = ir, sdy, module, file
        self.functions = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in module.body.operations if op.operation.name == "func.func"}
        self.given_mesh = dict(mesh) if mesh is not None else None
        self.meshes = {ir.StringAttr(op.attributes["sym_name"]).value: sdy.MeshAttr(op.attributes["mesh"]) for op in module.body.operations if op.operation.name == "sdy.mesh"}
        self.writer = Writer(self._axes())
        self.known: dict[Any, Value] = {}
        self.steps: list[str] = []

    # The mesh and its shardings.

    def _axes(self) -> dict[str, int]:
        if self.given_mesh is not None:
            return self.given_mesh
        found: list[tuple[dict[str, int], list[int]]] = []
        for mesh in self.meshes.values():
            axes = {self.sdy.MeshAxisAttr(axis).name: self.sdy.MeshAxisAttr(axis).size for axis in mesh.axes}
            if axes and (axes, list(mesh.device_ids)) not in found:
                found.append((axes, list(mesh.device_ids)))
        if len(found) != 1:
            raise InputError(f"expected one mesh, found {len(found)}" + ("; give the mesh of the devices where each does what the program says" if not found else ""), self.file)
        axes, devices = found[0]
        if devices and devices != list(range(len(devices))):
            raise InputError("expected the devices of the mesh in order", self.file)
        return axes

    def _layout(self, sharding: Any, rank: int) -> Layout:
        sharding = self.sdy.TensorShardingAttr(sharding)
        layout: Layout = {}
        for dim, part in enumerate(sharding.dimension_shardings):
            names = []
            for axis in self.sdy.DimensionShardingAttr(part).axes:
                axis = self.sdy.AxisRefAttr(axis)
                if axis.sub_axis_info is not None:
                    raise NotUnderstood(f"a sharding by a part of axis {axis.name}")
                names.append(axis.name)
            order = [axis for axis in self.writer.axes if axis in names]
            if names != order:
                raise NotUnderstood(f"a dimension sharded by {', '.join(names)}, in another order than the mesh has")
            layout |= {axis: dim for axis in names}
        return {axis: where for axis, where in layout.items() if self.writer.axes[axis] > 1}

    def _per_value(self, attribute: Any, types: Sequence[Any]) -> list[Layout]:
        return [self._layout(one, len(kind.shape)) for one, kind in zip(self.sdy.TensorShardingPerValueAttr(attribute).shardings, types)]

    # The function.

    def program(self, name: str | None, function: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
        if function not in self.functions:
            raise InputError(f"expected a function @{function}; there are {', '.join(sorted(self.functions)) or 'none'}", self.file)
        main = self.functions[function]
        block = main.regions[0].blocks[0]
        own = self.given_mesh is not None
        self.writer.manual = frozenset(self.writer.axes) if own else frozenset()
        arguments = self._attributes(main, "arg_attrs", len(block.arguments))
        results = self._attributes(main, "res_attrs", len(main.type.results))
        states: list[Tensor | None] = []
        for number, argument in enumerate(block.arguments):
            donated = any(key in arguments[number] for key in ("tf.aliasing_output", "jax.buffer_donor"))
            states.append(self._argument(number, argument, arguments[number], donated, own))
        returned = self._run(block, main)
        outputs = [self._result(value, results[number], block, own) for number, value in enumerate(returned)]
        self._update(outputs, states, arguments)
        attribute = self.module.operation.attributes["sym_name"] if "sym_name" in self.module.operation.attributes else None
        title = name or (self.ir.StringAttr(attribute).value.removeprefix("jit_") if attribute is not None else function)
        program = {"tutti_tensor": 1, "name": title, "mesh": {"axes": [[axis, size] for axis, size in self.writer.axes.items()]}, "sizes": {},
                   "values": _needed(self.writer.values, [output.name for output in outputs]), "outputs": [output.name for output in outputs]}
        return program, self.writer.given, self.writer.outside

    def _attributes(self, function: Any, which: str, count: int) -> list[dict[str, Any]]:
        if which not in function.attributes:
            return [{} for _ in range(count)]
        return [{key: one[key] for key in ("sdy.sharding", "tf.aliasing_output", "jax.buffer_donor") if key in one} for one in self.ir.ArrayAttr(function.attributes[which])]

    def _argument(self, number: int, argument: Any, attributes: dict[str, Any], donated: bool, own: bool) -> Tensor | None:
        dtype, shape = self._type(argument)
        uses = list(argument.uses)
        users = [use for use in uses if use.owner.name == "sdy.manual_computation"]
        if own:
            layout: Layout = {axis: LOCAL for axis, size in self.writer.axes.items() if size > 1}
        elif "sdy.sharding" in attributes and (self._layout(attributes["sdy.sharding"], len(shape)) or not users):
            layout = self._layout(attributes["sdy.sharding"], len(shape))
        elif users:
            layout = self._per_value(users[0].owner.attributes["in_shardings"], [use.type for use in users[0].owner.operands])[users[0].operand_number]
        else:
            layout = {}
        made: Value
        if users and len(uses) == 1 and not donated:
            inside = users[0].owner.regions[0].blocks[0].arguments[users[0].operand_number]
            rows = [dim for dim, size in enumerate(self._type(inside)[1]) if size == 1 and shape[dim] > 1]
            drops = [use.owner for use in inside.uses]
            if rows and all(op.name == "stablehlo.reshape" and _blocks_drop(self._type(inside)[1], self._type(op.results[0])[1]) for op in drops):
                # Each rank has one row, which is its own value.
                kept = [dim for dim in range(len(shape)) if dim not in rows]
                mine: Layout = {axis: LOCAL if where in rows else kept.index(int(where)) for axis, where in layout.items()}
                tensor = self.writer.input(f"arg{number}", dtype, [shape[dim] for dim in kept], mine)
                self.known[argument] = _Rows(tensor, tuple(kept), self._type(inside)[1], layout)
                return None
        made = self.writer.input(f"arg{number}", dtype, shape, layout, state=donated)
        self.known[argument] = made
        return made if donated else None

    def _result(self, value: Value, attributes: dict[str, Any], block: Any, own: bool) -> Tensor:
        tensor = self.writer.tensor(value)
        if not own and "sdy.sharding" in attributes:
            tensor = self.writer.place(tensor, self._layout(attributes["sdy.sharding"], len(tensor.shape)), "a result")
        return tensor

    def _update(self, outputs: list[Tensor], states: list[Tensor | None], arguments: list[dict[str, Any]]) -> None:
        """Donated arguments are states, and the results that take their memory their next values."""
        taken: dict[int, Tensor] = {}
        for state, attributes in zip(states, arguments):
            if state is not None and "tf.aliasing_output" in attributes:
                taken[self.ir.IntegerAttr(attributes["tf.aliasing_output"]).value] = state
        for state, attributes in zip(states, arguments):
            if state is not None and "jax.buffer_donor" in attributes:
                fitting = (number for number, output in enumerate(outputs) if number not in taken and (output.dtype, output.shape, output.layout) == (state.dtype, state.shape, state.layout))
                number = next(fitting, None)
                if number is not None:
                    taken[number] = state
        for number, state in taken.items():
            new = outputs[number]
            if (new.dtype, new.shape, new.layout) == (state.dtype, state.shape, state.layout):
                outputs[number] = self.writer.write("update", [state, new], new.dtype, new.shape, new.layout)
        kept = {state.name for state in taken.values()}
        for value in self.writer.values:
            if value.get("state") and value["id"] not in kept:
                del value["state"]

    # Operations.

    def _type(self, value: Any) -> tuple[str, tuple[int, ...]]:
        kind = value.type
        if not hasattr(kind, "element_type"):
            raise NotUnderstood(f"a value of type {kind}")
        element = str(kind.element_type)
        return DTYPES.get(element, element), tuple(kind.shape)

    def _run(self, block: Any, owner: Any) -> list[Value]:
        """Translates a block, and returns what it returns."""
        for op in block.operations:
            name = op.operation.name
            if name.endswith(".return"):
                return [self.known[operand] for operand in op.operands]
            try:
                made = self._operation(op, name)
            except NotUnderstood as error:
                raise InputError(str(error), self.file, self._place(op)) from None
            for result, value in zip(op.results, made):
                self.known[result] = value
        raise InputError("expected a block that ends with a return", self.file, self._place(owner))

    def place_of(self, function: str) -> str:
        return self._place(self.functions[function])

    def _place(self, op: Any) -> str:
        found = re.search(r":(\d+):(\d+)", str(op.location))
        return f"{found[1]}:{found[2]}" if found else str(op.location)

    def _operation(self, op: Any, name: str) -> Sequence[Value]:
        short = name.partition(".")[2]
        operands = [self._now(self.known[operand]) for operand in op.operands] if name != "sdy.manual_computation" else []
        if name in ("func.call", "stablehlo.composite"):
            called = self.functions[self.ir.FlatSymbolRefAttr(op.attributes["callee" if short == "call" else "decomposition"]).value]
            return self._inlined(called.regions[0].blocks[0], operands, called)
        if name == "sdy.manual_computation":
            return self._manual(op)
        if name == "sdy.named_computation":
            return self._inlined(op.regions[0].blocks[0], operands, op)
        if short == "optimization_barrier" or name == "sdy.propagation_barrier":
            return operands
        if name in ("sdy.sharding_constraint", "sdy.reshard"):
            layout = self._layout(op.attributes["sharding"], len(self._type(op.results[0])[1]))
            inside = {axis: where for axis, where in layout.items() if axis not in self.writer.manual}
            tensor = self.writer.tensor(operands[0])
            return [self.writer.place(tensor, inside | {axis: where for axis, where in tensor.layout.items() if axis in self.writer.manual}, "a value")]
        if short == "custom_call":
            target = self.ir.StringAttr(op.attributes["call_target_name"]).value
            if target != "Sharding":
                raise NotUnderstood(f"a custom call of {target}")
            return operands
        if short == "while":
            return self._loop(op, operands)
        if short in ("case", "if"):
            return self._branch(op, short, operands)
        translate: Callable[[Any, list[Value]], Value | Sequence[Value]] | None = getattr(self, f"_{short}", None) if name.startswith(("stablehlo.", "chlo.")) else None
        dtype, shape = self._type(op.results[0]) if len(op.results) else ("", ())
        outside = [operand for operand in operands if isinstance(operand, Outside)]
        bits = dtype in BITS or (outside and dtype not in ("f64", "f32", "bf16", "f16", "bool"))
        if name in ("stablehlo.partition_id", "stablehlo.replica_id"):
            return [self._device(short)]
        pointwise = short in UNARY or short in BINARY or short in ("compare", "select", "convert", "clamp", "remainder", "xor", "exponential_minus_one", "log_plus_one", "square")
        if pointwise and not (bits and not all(isinstance(operand, Known) or isinstance(operand, View) and isinstance(operand.source, Known) for operand in operands)):
            if not (outside and len(outside) == len(operands) and dtype not in ("bool",)):
                return [self._pointwise(op, short, operands, dtype, shape)]
        elif translate is not None and not outside and not (bits and short not in ("constant", "iota", "broadcast_in_dim", "reshape")):
            made = translate(op, operands)
            return [made] if isinstance(made, (Tensor, Known, View, Outside)) else made
        return self._outside(op, name, operands)

    def _now(self, value: Value) -> Value:
        return value.view() if isinstance(value, _Rows) else value

    def _outside(self, op: Any, name: str, operands: Sequence[Value]) -> list[Value]:
        """Random numbers and other bit patterns made of keys: no operations of ours, but what comes of them can be given."""
        axes: set[str] = set()
        reason = f"{name} at line {self._place(op)}"
        for operand in operands:
            source = operand.source if isinstance(operand, View) else operand
            if isinstance(source, Tensor) and (source.dtype not in BITS or name in ("stablehlo.all_reduce", "stablehlo.all_gather")):
                raise NotUnderstood(f"the operation {name}")
            if isinstance(source, Outside):
                axes |= source.axes
                reason = source.reason
            elif isinstance(source, Known):
                axes |= set(self.writer.varying(source.values))
            else:
                axes |= {axis for axis, where in source.layout.items()}
        if not operands or any(self._type(result)[0] not in NUMPY for result in op.results):
            raise NotUnderstood(f"the operation {name}")
        return [Outside(reason, *self._type(result), frozenset(axes)) for result in op.results]

    def _inlined(self, block: Any, operands: Sequence[Value], owner: Any) -> list[Value]:
        before = {argument: self.known.get(argument) for argument in block.arguments}
        for argument, value in zip(block.arguments, operands):
            self.known[argument] = value
        made = self._run(block, owner)
        self.known.update({argument: value for argument, value in before.items() if value is not None})
        return made

    def _manual(self, op: Any) -> list[Value]:
        if self.writer.manual:
            raise NotUnderstood("a shard_map inside another")
        block = op.regions[0].blocks[0]
        names = [self.ir.StringAttr(axis).value for axis in self._strings(op.attributes["manual_axes"])]
        operands: list[Value] = []
        layouts = self._per_value(op.attributes["in_shardings"], [operand.type for operand in op.operands])
        for operand, layout in zip(op.operands, layouts):
            value = self.known[operand]
            if isinstance(value, _Rows) and value.layout == layout:
                operands.append(value.view())
            else:
                operands.append(self.writer.place(self._now(value), layout, "an argument"))
        self.writer.manual = frozenset(names)
        made = self._inlined(block, operands, op)
        results = self._per_value(op.attributes["out_shardings"], [result.type for result in op.results])
        placed: list[Value] = []
        for value, layout in zip(made, results):
            tensor = self.writer.tensor(value)
            free = {axis: where for axis, where in tensor.layout.items() if axis not in self.writer.manual}
            placed.append(self.writer.place(tensor, {axis: where for axis, where in layout.items() if axis in self.writer.manual} | free, "a result of shard_map"))
        self.writer.manual = frozenset()
        return placed

    def _strings(self, attribute: Any) -> list[Any]:
        try:
            return list(self.ir.ArrayAttr(attribute))
        except ValueError:
            return [self.ir.StringAttr.get(name) for name in re.findall(r'"([^"]*)"', str(attribute))]

    def _loop(self, op: Any, operands: list[Value]) -> Sequence[Value]:
        condition, body = (region.blocks[0] for region in op.regions)
        if any(isinstance(operand, Outside) for operand in operands) and all(self._type(result)[0] not in ("f64", "f32", "bf16", "f16") for result in op.results):
            return self._outside(op, op.operation.name, operands)
        for _ in range(MOST_TURNS):
            (go,) = self._inlined(condition, operands, op)
            if not isinstance(go, Known) or len(set(go.values.ravel().tolist())) != 1:
                if all(isinstance(operand, (Known, Outside)) for operand in operands):
                    return self._outside(op, op.operation.name, operands)
                raise NotUnderstood("a loop whose end depends on data or on the device")
            if not go.values.ravel()[0]:
                return operands
            operands = [self._now(value) for value in self._inlined(body, operands, op)]
        raise NotUnderstood(f"a loop of more than {MOST_TURNS} turns")

    def _branch(self, op: Any, short: str, operands: list[Value]) -> Sequence[Value]:
        index = operands[0]
        if not isinstance(index, Known) or len(set(index.values.ravel().tolist())) != 1:
            raise NotUnderstood("a branch that depends on data or on the device")
        number = int(index.values.ravel()[0])
        number = (0 if number else 1) if short == "if" else min(max(number, 0), len(op.regions) - 1)
        return self._run(op.regions[number].blocks[0], op)

    def _device(self, short: str) -> Known:
        if not self.writer.manual and self.given_mesh is None:
            raise NotUnderstood(f"{short} outside of shard_map")
        ranks = self.writer.ranks()
        if self.given_mesh is not None and {"replica", "partition"} & set(self.writer.axes):
            kind = short.removesuffix("_id")
            return Known(np.array([rank.get(kind, 0) for rank in ranks], np.uint32), "u32")
        if short == "replica_id":
            return Known(np.zeros(1, np.uint32), "u32")
        return Known(np.arange(len(ranks), dtype=np.uint32), "u32")

    def _pointwise(self, op: Any, short: str, operands: list[Value], dtype: str, shape: tuple[int, ...]) -> Value:
        write = self.writer.pointwise
        def number(value: float) -> Value:
            return View(Known(np.full(1, value, NUMPY[dtype]), dtype), (), shape) if shape else Known(np.full(1, value, NUMPY[dtype]), dtype)
        if short == "compare":
            return write(COMPARE[str(op.attributes["comparison_direction"]).split()[-1].rstrip(">")], operands, "bool", shape)
        if short == "convert":
            return operands[0] if operands[0].dtype == dtype else write("cast", operands, dtype, shape, dtype=dtype)
        if short == "select" and shape:
            operands = [View(operand, (), shape) if isinstance(operand, (Tensor, Known)) and operand.shape == () else operand for operand in operands]
        if short == "select":
            return write("select", operands, dtype, shape)
        if short == "clamp":
            low, value, high = (View(operand, (), shape) if shape and isinstance(operand, (Tensor, Known)) and operand.shape == () else operand for operand in operands)
            return write("min", [write("max", [value, low], dtype, shape), high], dtype, shape)
        if short == "square":
            return write("mul", [operands[0], operands[0]], dtype, shape)
        if short == "exponential_minus_one":
            return write("sub", [write("exp", operands, dtype, shape), number(1)], dtype, shape)
        if short == "log_plus_one":
            return write("log", [write("add", [operands[0], number(1)], dtype, shape)], dtype, shape)
        if short == "remainder":
            folded = self.writer._folded("rem", [o for o in operands if isinstance(o, Known)], dtype) if all(isinstance(o, Known) for o in operands) else None
            if folded is None:
                raise NotUnderstood("the operation stablehlo.remainder")
            return folded
        if short == "xor":
            if dtype != "bool":
                return self._outside(op, "stablehlo.xor", operands)[0]
            return write("ne", operands, dtype, shape)
        if short in ("and", "or", "not") and dtype != "bool":
            return self._outside(op, f"stablehlo.{short}", operands)[0]
        return write(UNARY.get(short) or BINARY[short], operands, dtype, shape)

    def _constant(self, op: Any, operands: list[Value]) -> Value:
        dtype, shape = self._type(op.results[0])
        if dtype not in NUMPY:
            raise NotUnderstood(f"a constant of type {dtype}")
        value = op.attributes["value"]
        kind = self.ir.DenseFPElementsAttr if dtype in ("f64", "f32", "bf16", "f16") else self.ir.DenseIntElementsAttr
        dense = kind(value)
        if dense.is_splat and shape:
            scalar = Known(np.full(1, _number(dense.get_splat_value()), NUMPY[dtype]), dtype)
            return View(scalar, (), shape)
        numbers = np.array([_number(dense.get_splat_value())] if dense.is_splat else list(dense))
        return Known(numbers.astype(NUMPY[dtype]).reshape(1, *shape), dtype)

    def _iota(self, op: Any, operands: list[Value]) -> Value:
        dtype, shape = self._type(op.results[0])
        dim = self.ir.IntegerAttr(op.attributes["iota_dimension"]).value
        if dtype in BITS:
            return Outside(f"stablehlo.iota at line {self._place(op)}", dtype, shape, frozenset())
        return self.writer.write("iota", [], dtype, shape, {}, shape=list(shape), dtype=dtype, dim=dim)

    def _ints(self, op: Any, name: str) -> list[int]:
        return list(self.ir.DenseI64ArrayAttr(op.attributes[name]))

    def _broadcast_in_dim(self, op: Any, operands: list[Value]) -> Value:
        value, dims, shape = operands[0], self._ints(op, "broadcast_dimensions"), self._type(op.results[0])[1]
        if isinstance(value, View):
            if tuple(value.shape) != tuple(shape[dim] for dim in dims) and any(value.shape[d] == 1 and shape[at] != 1 and d in value.dims for d, at in enumerate(dims)):
                inner = self.writer.reshape(value, tuple(size for d, size in enumerate(value.shape) if not (size == 1 and shape[dims[d]] != 1)))
                dims = [at for d, at in enumerate(dims) if not (value.shape[d] == 1 and shape[at] != 1)]
                value = inner
            if isinstance(value, View):
                return View(value.source, tuple(dims[dim] for dim in value.dims), shape)
        assert isinstance(value, (Tensor, Known))
        if self.writer.seen(value) == shape and dims == list(range(len(shape))):
            return value
        ones = [d for d, size in enumerate(self.writer.seen(value)) if size == 1 and shape[dims[d]] != 1]
        if ones and dims != list(range(len(shape) - len(dims), len(shape))):
            smaller = self.writer.reshape(value, tuple(size for d, size in enumerate(self.writer.seen(value)) if d not in ones))
            assert isinstance(smaller, (Tensor, Known))
            return View(smaller, tuple(at for d, at in enumerate(dims) if d not in ones), shape)
        return View(value, tuple(dims), shape)

    def _reshape(self, op: Any, operands: list[Value]) -> Value:
        return self.writer.reshape(operands[0], self._type(op.results[0])[1])

    def _transpose(self, op: Any, operands: list[Value]) -> Value:
        perm = self._ints(op, "permutation")
        return operands[0] if perm == sorted(perm) else self.writer.transpose(operands[0], perm)

    def _slice(self, op: Any, operands: list[Value]) -> Value:
        dtype, shape = self._type(op.results[0])
        if self.writer.seen(operands[0]) == shape:
            return operands[0]
        if isinstance(operands[0], Known):
            cut = tuple(slice(*bounds) for bounds in zip(self._ints(op, "start_indices"), self._ints(op, "limit_indices"), self._ints(op, "strides")))
            return Known(operands[0].values[(slice(None),) + cut], dtype)
        raise NotUnderstood("a slice at fixed places")

    def _dot_general(self, op: Any, operands: list[Value]) -> Value:
        from jaxlib.mlir.dialects import stablehlo
        numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        left, right = (len(self.writer.seen(operand)) for operand in operands)
        pairs = list(zip([*numbers.lhs_batching_dimensions, *numbers.lhs_contracting_dimensions], [*numbers.rhs_batching_dimensions, *numbers.rhs_contracting_dimensions]))
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        first = [next(letters) for _ in range(left)]
        second = [""] * right
        for a, b in pairs:
            second[b] = first[a]
        second = [letter or next(letters) for letter in second]
        batch = [first[dim] for dim in numbers.lhs_batching_dimensions]
        summed = [first[dim] for dim in numbers.lhs_contracting_dimensions]
        out = batch + [letter for letter in first if letter not in batch + summed] + [letter for letter in second if letter not in batch + summed]
        dtype = self._type(op.results[0])[0]
        cast = [operand if operand.dtype == dtype else self.writer.pointwise("cast", [operand], dtype, self.writer.seen(operand), dtype=dtype) for operand in operands]
        return self.writer.einsum(cast, ["".join(first), "".join(second)], "".join(out), dtype)

    def _combining(self, op: Any, region: int = 0) -> str:
        body = [inner for inner in op.regions[region].blocks[0].operations if not inner.operation.name.endswith(".return") and not inner.operation.name.startswith("sdy.")]
        names = [inner.operation.name.partition(".")[2] for inner in body]
        dtype = self._type(op.results[0])[0]
        if dtype == "bool" and names in (["or"], ["and"]):
            return "max" if names == ["or"] else "min"
        if len(names) != 1 or names[0] not in REDUCTIONS:
            raise NotUnderstood(f"a reduction by {', '.join(names)}")
        return REDUCTIONS[names[0]]

    def _reduce(self, op: Any, operands: list[Value]) -> Value:
        if len(operands) != 2:
            raise NotUnderstood("a reduction of several values at once")
        return self.writer.reduce(operands[0], self._ints(op, "dimensions"), self._combining(op), operands[1])

    # Communication.

    def _groups(self, op: Any) -> list[list[int]]:
        """The groups of devices, by their numbers."""
        value = self.ir.DenseIntElementsAttr(op.attributes["replica_groups"])
        rows, width = value.type.shape
        flat = list(value)
        groups = [flat[row * width:(row + 1) * width] for row in range(rows)]
        if any(device < 0 for group in groups for device in group):
            raise NotUnderstood("groups of different sizes")
        axes = self.writer.axes
        if self.given_mesh is None or not {"replica", "partition"} & set(axes) or "use_global_device_ids" in op.attributes:
            return groups
        # The three ways in which StableHLO numbers processes: by replica, by replica with all their partitions, by partition.
        replicas, partitions = axes.get("replica", 1), axes.get("partition", 1)
        channel = re.search(r"handle = (\d+)", str(op.attributes["channel_handle"])) if "channel_handle" in op.attributes else None
        if op.operation.name == "stablehlo.collective_broadcast" and channel and int(channel[1]) > 0 or op.operation.name == "stablehlo.all_to_all" and channel and int(channel[1]) > 0:
            return [[replica * partitions + device for device in group] for replica in range(replicas) for group in groups]
        if channel and int(channel[1]) > 0:
            return [[replica * partitions + part for part in range(partitions) for replica in group] for group in groups]
        return [[replica * partitions + part for replica in group] for group in groups for part in range(partitions)]

    def _all_reduce(self, op: Any, operands: list[Value]) -> list[Value]:
        axes = self.writer.groups_axes(self._groups(op), ordered=False)
        return [self.writer.all_reduce(operand, axes, self._combining(op)) for operand in operands]

    def _reduce_scatter(self, op: Any, operands: list[Value]) -> Value:
        axes = self.writer.groups_axes(self._groups(op), ordered=True)
        return self.writer.reduce_scatter(operands[0], axes, self._combining(op), self.ir.IntegerAttr(op.attributes["scatter_dimension"]).value)

    def _all_gather(self, op: Any, operands: list[Value]) -> list[Value]:
        axes = self.writer.groups_axes(self._groups(op), ordered=True)
        return [self.writer.all_gather(operand, axes, self.ir.IntegerAttr(op.attributes["all_gather_dim"]).value) for operand in operands]

    def _all_to_all(self, op: Any, operands: list[Value]) -> list[Value]:
        axes = self.writer.groups_axes(self._groups(op), ordered=True)
        split, concat = (self.ir.IntegerAttr(op.attributes[name]).value for name in ("split_dimension", "concat_dimension"))
        return [self.writer.all_to_all(operand, axes, split, concat) for operand in operands]

    def _collective_broadcast(self, op: Any, operands: list[Value]) -> Value:
        return self.writer.broadcast_from(operands[0], self._groups(op))

    def _collective_permute(self, op: Any, operands: list[Value]) -> Value:
        flat = list(self.ir.DenseIntElementsAttr(op.attributes["source_target_pairs"]))
        pairs = list(zip(flat[::2], flat[1::2]))
        return self.writer.permute(operands[0], pairs)

    def _dynamic_slice(self, op: Any, operands: list[Value]) -> Value:
        return self.writer.own_part(operands[0], operands[1:], self._ints(op, "slice_sizes"))


class _Rows(Tensor):
    """An argument of which each rank has one row, written without that dimension."""

    def __init__(self, tensor: Tensor, dims: tuple[int, ...], seen: tuple[int, ...], layout: Layout) -> None:
        super().__init__(tensor.name, tensor.dtype, tensor.shape, layout)
        object.__setattr__(self, "rows", View(tensor, dims, seen))

    def view(self) -> View:
        return self.rows  # type: ignore[attr-defined,no-any-return]


def _number(attribute: Any) -> Any:
    return getattr(attribute, "value", attribute)


def _blocks_drop(old: tuple[int, ...], new: tuple[int, ...]) -> bool:
    """Whether a reshape only leaves out dimensions of one element."""
    return [size for size in old if size != 1] == [size for size in new if size != 1] and len(new) < len(old)


def _needed(values: list[dict[str, Any]], outputs: list[str]) -> list[dict[str, Any]]:
    """Inputs, and what the outputs are made of."""
    used = set(outputs)
    for value in reversed(values):
        if value["id"] in used:
            used.update(value.get("args", []))
    return [value for value in values if value["id"] in used or value["op"] == "input" and value["id"].startswith("arg")]

"""Tensor programs: computation and communication in one program, transformed under proof and tuned for a network (docs/tensor-programs.md, docs/tuning.md).

    from tutti import tensor as tt

    p = tt.Program("sgd", data=8)
    g = p.input("g", ["N"], layout={"data": "local"})
    w = p.state("w", ["N"], fixed=True)
    p.update(w, w - 0.01 * g.all_reduce("data", name="sum") / 8)
    q = p.split("sum").reorder("sum.ag")

This module builds the JSON form and calls the command; what is right is for the command to say.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Union

from tutti.command import command
from tutti.errors import Error, InputError, InternalError, LimitError

PathLike = Union[str, "os.PathLike[str]"]
Size = Union[int, str]
Number = Union[int, float, bool]
LayoutLike = Mapping[str, Union[int, str, Mapping[str, int]]]  # axis: a dimension that it slices, "local", or as in JSON
Json = dict[str, Any]


class Refused(Error):
    """A program is ill-typed, or a transformation's conditions do not hold. `code` is one of docs/tensor-programs.md, `words` say why."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(f"{code}: {words}" if code else words)
        self.code = code
        self.words = words


class NotEquivalent(Error):
    """Two programs do not mean the same; the message names the output and the subterm where they part."""


class Value:
    """A value of a program that is being built. Shapes are whole; operators broadcast as numpy does."""

    def __init__(self, program: Program, name: str, dtype: str, shape: Sequence[Size]) -> None:
        self.program = program
        self.name = name
        self.dtype = dtype
        self.shape = tuple(shape)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]>"

    def _binary(self, op: str, other: Value | Number, swapped: bool = False, name: str | None = None) -> Value:
        theirs = other if isinstance(other, Value) else self.program.constant(other, self.dtype)
        left, right = (theirs, self) if swapped else (self, theirs)
        return self.program._add(op, [left, right], "bool" if op in _COMPARISONS else left.dtype, _broadcast(left.shape, right.shape), name)

    def _unary(self, op: str, name: str | None = None) -> Value:
        return self.program._add(op, [self], self.dtype, self.shape, name)

    def __add__(self, other: Value | Number) -> Value: return self._binary("add", other)
    def __radd__(self, other: Number) -> Value: return self._binary("add", other, True)
    def __sub__(self, other: Value | Number) -> Value: return self._binary("sub", other)
    def __rsub__(self, other: Number) -> Value: return self._binary("sub", other, True)
    def __mul__(self, other: Value | Number) -> Value: return self._binary("mul", other)
    def __rmul__(self, other: Number) -> Value: return self._binary("mul", other, True)
    def __truediv__(self, other: Value | Number) -> Value: return self._binary("div", other)
    def __rtruediv__(self, other: Number) -> Value: return self._binary("div", other, True)
    def __pow__(self, other: Value | Number) -> Value: return self._binary("pow", other)
    def __rpow__(self, other: Number) -> Value: return self._binary("pow", other, True)
    def __lt__(self, other: Value | Number) -> Value: return self._binary("lt", other)
    def __le__(self, other: Value | Number) -> Value: return self._binary("le", other)
    def __gt__(self, other: Value | Number) -> Value: return self._binary("gt", other)
    def __ge__(self, other: Value | Number) -> Value: return self._binary("ge", other)
    def __and__(self, other: Value) -> Value: return self._binary("and", other)
    def __or__(self, other: Value) -> Value: return self._binary("or", other)
    def __invert__(self) -> Value: return self._unary("not")
    def __neg__(self) -> Value: return self._unary("neg")
    def __abs__(self) -> Value: return self._unary("abs")
    def equal(self, other: Value | Number) -> Value: return self._binary("eq", other)
    def not_equal(self, other: Value | Number) -> Value: return self._binary("ne", other)
    def __matmul__(self, other: Value) -> Value: return matmul(self, other)

    def named(self, name: str) -> Value:
        """The same value, called `name` in schedules and tables."""
        self.program._rename(self, name)
        return self

    # Communication. Axes are those of the mesh; none given means all of them.

    def _collective(self, op: str, axes: Sequence[str], name: str | None, **more: Any) -> Value:
        return self.program._add(op, [self], self.dtype, self.shape, name, axes=list(axes or self.program.axes), **more)

    def all_reduce(self, *axes: str, reduce: str = "sum", name: str | None = None) -> Value: return self._collective("all_reduce", axes, name, reduce=reduce)
    def reduce_scatter(self, *axes: str, dim: int = 0, reduce: str = "sum", name: str | None = None) -> Value: return self._collective("reduce_scatter", axes, name, reduce=reduce, dim=dim)
    def all_gather(self, *axes: str, name: str | None = None) -> Value: return self._collective("all_gather", axes, name)
    def reduce_to(self, *axes: str, root: int = 0, reduce: str = "sum", name: str | None = None) -> Value: return self._collective("reduce_to", axes, name, reduce=reduce, root=root)
    def broadcast_from(self, *axes: str, root: int = 0, name: str | None = None) -> Value: return self._collective("broadcast_from", axes, name, root=root)
    def own_part(self, *axes: str, dim: int = 0, name: str | None = None) -> Value: return self._collective("slice", axes, name, dim=dim)

    def all_to_all(self, axis: str, split: int, concat: int, name: str | None = None) -> Value:
        return self.program._add("all_to_all", [self], self.dtype, self.shape, name, axis=axis, split=split, concat=concat)

    def shift(self, axis: str, by: int = 1, name: str | None = None) -> Value:
        return self.program._add("shift", [self], self.dtype, self.shape, name, axis=axis, by=by)

    # Shapes.

    def cast(self, dtype: str, name: str | None = None) -> Value: return self.program._add("cast", [self], dtype, self.shape, name, dtype=dtype)

    def reduce(self, dims: int | Iterable[int] | None = None, reduce: str = "sum", keepdims: bool = False, name: str | None = None) -> Value:
        rank = len(self.shape)
        gone = sorted({dim % rank for dim in ([dims] if isinstance(dims, int) else range(rank) if dims is None else dims)})
        shape = [1 if dim in gone else size for dim, size in enumerate(self.shape) if keepdims or dim not in gone]
        return self.program._add("reduce", [self], self.dtype, shape, name, dims=gone, reduce=reduce, **({"keepdims": True} if keepdims else {}))

    def sum(self, dims: int | Iterable[int] | None = None, keepdims: bool = False, name: str | None = None) -> Value: return self.reduce(dims, "sum", keepdims, name)
    def max(self, dims: int | Iterable[int] | None = None, keepdims: bool = False, name: str | None = None) -> Value: return self.reduce(dims, "max", keepdims, name)
    def min(self, dims: int | Iterable[int] | None = None, keepdims: bool = False, name: str | None = None) -> Value: return self.reduce(dims, "min", keepdims, name)

    def mean(self, dims: int | Iterable[int] | None = None, keepdims: bool = False, name: str | None = None) -> Value:
        total = self.reduce(dims, "sum", keepdims)
        count = 1
        for dim in range(len(self.shape)) if dims is None else [dims] if isinstance(dims, int) else dims:
            count *= self.program.size(self.shape[dim])
        return total._binary("div", float(count), name=name)

    def transpose(self, *perm: int, name: str | None = None) -> Value:
        order = list(perm or reversed(range(len(self.shape))))
        return self.program._add("transpose", [self], self.dtype, [self.shape[dim] for dim in order], name, perm=order)

    def reshape(self, *shape: Size, name: str | None = None) -> Value: return self.program._add("reshape", [self], self.dtype, shape, name, shape=list(shape))

    def broadcast(self, shape: Sequence[Size], dims: Sequence[int], name: str | None = None) -> Value:
        return self.program._add("broadcast", [self], self.dtype, shape, name, shape=list(shape), dims=list(dims))

    def stack(self, axis: str, dim: int = 0, name: str | None = None) -> Value: return self.program._add("stack", [self], self.dtype, self._scaled(axis, dim, True), name, axis=axis, dim=dim)
    def unstack(self, axis: str, dim: int = 0, name: str | None = None) -> Value: return self.program._add("unstack", [self], self.dtype, self._scaled(axis, dim, False), name, axis=axis, dim=dim)

    def _scaled(self, axis: str, dim: int, up: bool) -> list[Size]:
        shape = list(self.shape)
        ranks, size = self.program.axes[axis], self.program.size(shape[dim])
        shape[dim] = size * ranks if up else size // ranks
        return shape


_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def _broadcast(left: Sequence[Size], right: Sequence[Size]) -> list[Size]:
    rank = max(len(left), len(right))
    ones: list[Size] = [1] * rank
    wide = [ones[len(shape):] + list(shape) for shape in (left, right)]
    return [b if a == 1 else a for a, b in zip(*wide)]


# Functions of the library.

def sqrt(x: Value, name: str | None = None) -> Value: return x._unary("sqrt", name)
def rsqrt(x: Value, name: str | None = None) -> Value: return x._unary("rsqrt", name)
def exp(x: Value, name: str | None = None) -> Value: return x._unary("exp", name)
def log(x: Value, name: str | None = None) -> Value: return x._unary("log", name)
def tanh(x: Value, name: str | None = None) -> Value: return x._unary("tanh", name)
def erf(x: Value, name: str | None = None) -> Value: return x._unary("erf", name)
def sigmoid(x: Value, name: str | None = None) -> Value: return x._unary("sigmoid", name)
def maximum(x: Value, y: Value | Number, name: str | None = None) -> Value: return x._binary("max", y, name=name)
def minimum(x: Value, y: Value | Number, name: str | None = None) -> Value: return x._binary("min", y, name=name)
def relu(x: Value, name: str | None = None) -> Value: return x._binary("max", 0.0, name=name)


def where(condition: Value, x: Value | Number, y: Value | Number, name: str | None = None) -> Value:
    """`x` where the condition holds, else `y`. One of them at least is a value."""
    typed = x if isinstance(x, Value) else y
    if not isinstance(typed, Value):
        raise InputError("expected a value as one of the two alternatives")
    program = condition.program
    a, b = (one if isinstance(one, Value) else program.constant(one, typed.dtype) for one in (x, y))
    return program._add("select", [condition, a, b], typed.dtype, _broadcast(condition.shape, _broadcast(a.shape, b.shape)), name)


def einsum(spec: str, *operands: Value, name: str | None = None) -> Value:
    """Products summed over the letters that the result has not: `einsum("bk,kh->bh", x, w)`."""
    words, arrow, out = spec.replace(" ", "").partition("->")
    sizes: dict[str, Size] = {}
    letters = words.split(",")
    if not arrow or len(letters) != len(operands) or any(len(word) != len(o.shape) for word, o in zip(letters, operands)) or set(out) - set("".join(letters)):
        raise InputError(f"expected a specification like \"bk,kh->bh\" for {', '.join(map(repr, operands))}; found {spec!r}")
    for word, operand in zip(letters, operands):
        sizes.update(zip(word, operand.shape))
    return operands[0].program._add("einsum", operands, operands[0].dtype, [sizes[letter] for letter in out], name, spec=f"{words}->{out}")


def matmul(x: Value, y: Value, name: str | None = None) -> Value:
    """The matrix product over x's last and y's first dimension."""
    names = "abcdefghijklmnopqrstuvwxyz"
    left, right = names[:len(x.shape)], names[len(x.shape) - 1:len(x.shape) - 1 + len(y.shape)]
    return einsum(f"{left},{right}->{left[:-1]}{right[1:]}", x, y, name=name)


def softmax(x: Value, dim: int = -1, name: str | None = None) -> Value:
    dim %= len(x.shape)
    shifted = exp(x - x.max(dim, keepdims=True))
    return shifted._binary("div", shifted.sum(dim, keepdims=True), name=name)


def norm(x: Value, name: str | None = None) -> Value:
    """The Euclidean norm of all elements."""
    return sqrt((x * x).sum(), name)


def rms_norm(x: Value, scale: Value, eps: float = 1e-6, name: str | None = None) -> Value:
    return (x * rsqrt((x * x).mean(len(x.shape) - 1, keepdims=True) + eps))._binary("mul", scale, name=name)


def layer_norm(x: Value, scale: Value, bias: Value, eps: float = 1e-5, name: str | None = None) -> Value:
    centred = x - x.mean(len(x.shape) - 1, keepdims=True)
    variance = (centred * centred).mean(len(x.shape) - 1, keepdims=True)
    return (centred * rsqrt(variance + eps) * scale)._binary("add", bias, name=name)


def gelu(x: Value, approximate: bool = False, name: str | None = None) -> Value:
    if approximate:
        return (0.5 * x)._binary("mul", 1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)), name=name)
    return (0.5 * x)._binary("mul", 1.0 + erf(x / 2 ** 0.5), name=name)


def dropout(x: Value, rate: float, seed: int, name: str | None = None) -> Value:
    """Zero with probability `rate`, else scaled up. The numbers belong to elements of the whole, wherever their parts lie."""
    return where(x.program.uniform(x.shape, x.dtype, seed) >= rate, x / (1.0 - rate), 0.0, name)


class Program:
    """A tensor program, with the steps of a schedule that were applied to it.

    `Program("adam", data=8)` is empty, on a mesh of one axis of eight ranks; values are added by `input`, `state`, operators and functions. `split`, `reorder`, `fuse`
    and so on return a program with one step more, which the command has accepted and verified; they raise `Refused`.
    """

    def __init__(self, name: str, sizes: Mapping[str, int] | None = None, devices: Sequence[int] | None = None, **axes: int) -> None:
        self.name = name
        self.axes: dict[str, int] = dict(axes)
        self.sizes: dict[str, int] = dict(sizes or {})
        self.devices = list(devices) if devices is not None else None
        self.steps: tuple[Json, ...] = ()
        self.given: dict[str, Any] = {}  #: values of inputs that stand for constant arrays of an imported program
        self.outside: dict[str, str] = {}  #: inputs of an imported program that stand for random numbers, and the operation that made them
        self._values: list[Json] = []
        self._outputs: list[str] = []
        self._constants: dict[tuple[str, str], Value] = {}
        self._extra: Json = {}
        self._transformed: Json | None = None

    # Building.

    def size(self, size: Size) -> int:
        if isinstance(size, str):
            if size not in self.sizes:
                raise InputError(f"the size {size} has no number; give it as Program(..., sizes={{{size!r}: ...}})")
            return self.sizes[size]
        return size

    def _fresh(self, op: str) -> str:
        taken = {value["id"] for value in self._values}
        number = 1
        while f"{op}{number}" in taken:
            number += 1
        return f"{op}{number}"

    def _add(self, op: str, args: Sequence[Value], dtype: str, shape: Sequence[Size], name: str | None, /, **attributes: Any) -> Value:
        if self.steps:
            raise InputError("a program that steps were applied to does not grow: build first, transform then")
        name = name or self._fresh({"constant": "c"}.get(op, op))
        if any(value["id"] == name for value in self._values):
            raise InputError(f"the name {name} is taken")
        entry: Json = {"id": name, "op": op}
        if args:
            entry["args"] = [arg.name for arg in args]
        self._values.append(entry | attributes)
        return Value(self, name, dtype, shape)

    def _rename(self, value: Value, name: str) -> None:
        if any(entry["id"] == name for entry in self._values):
            raise InputError(f"the name {name} is taken")
        for entry in self._values:
            entry["id"] = name if entry["id"] == value.name else entry["id"]
            if value.name in entry.get("args", ()):
                entry["args"] = [name if arg == value.name else arg for arg in entry["args"]]
        self._outputs = [name if output == value.name else output for output in self._outputs]
        value.name = name

    def input(self, name: str, shape: Sequence[Size] = (), dtype: str = "f32", layout: LayoutLike | None = None, *, positive: bool = False, **more: Any) -> Value:
        """What the caller gives. `layout` says for an axis which dimension it slices (a number), or "local"; replicated where it says nothing."""
        placed = {axis: {"sliced": at} if isinstance(at, int) else at for axis, at in (layout or {}).items()}
        attributes: Json = {"shape": list(shape), "dtype": dtype}
        attributes |= ({"layout": placed} if placed else {}) | ({"positive": True} if positive else {}) | more
        return self._add("input", [], dtype, shape, name, **attributes)

    def state(self, name: str, shape: Sequence[Size] = (), dtype: str = "f32", layout: LayoutLike | None = None, *, fixed: bool = False, positive: bool = False) -> Value:
        """An input that lives across calls and can be updated; `fixed` if its layout is the caller's."""
        return self.input(name, shape, dtype, layout, positive=positive, state=True, **({"fixed": True} if fixed else {}))

    def constant(self, value: Number, dtype: str = "f32") -> Value:
        key = (repr(value), dtype)
        if key not in self._constants:
            self._constants[key] = self._add("constant", [], dtype, (), None, value=value, dtype=dtype)
        return self._constants[key]

    def uniform(self, shape: Sequence[Size], dtype: str = "f32", seed: int = 0, name: str | None = None) -> Value:
        return self._add("uniform", [], dtype, shape, name, shape=list(shape), dtype=dtype, seed=seed)

    def iota(self, shape: Sequence[Size], dtype: str = "i32", dim: int = 0, name: str | None = None) -> Value:
        return self._add("iota", [], dtype, shape, name, shape=list(shape), dtype=dtype, dim=dim)

    def update(self, state: Value, value: Value, name: str | None = None) -> Value:
        """Gives the state its next value, which is an output."""
        made = self._add("update", [state, value], value.dtype, value.shape, name or f"{state.name}_out")
        self._outputs.append(made.name)
        return made

    def output(self, *values: Value) -> None:
        self._outputs += [value.name for value in values]

    # As JSON.

    def to_dict(self) -> Json:
        """The program without its steps, in the form of docs/tensor-programs.md."""
        mesh: Json = {"axes": [[axis, size] for axis, size in self.axes.items()]}
        if self.devices is not None:
            mesh["devices"] = self.devices
        return {"tutti_tensor": 1, "name": self.name, "mesh": mesh, "sizes": self.sizes, "values": self._values, "outputs": self._outputs} | self._extra

    @staticmethod
    def from_dict(value: Json) -> Program:
        program = Program(value["name"], value.get("sizes"), value["mesh"].get("devices"), **dict(value["mesh"]["axes"]))
        program._values, program._outputs = list(value["values"]), list(value["outputs"])
        program._extra = {key: value[key] for key in ("about", "fused", "overlaps", "resharded") if key in value}
        return program

    @staticmethod
    def load(path: PathLike) -> Program:
        try:
            return Program.from_dict(json.loads(Path(path).read_text()))
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"expected a tensor program: {error}", os.fspath(path)) from None

    def save(self, path: PathLike) -> None:
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n")

    def schedule(self) -> Json:
        return {"tutti_tensor_schedule": 1, "program": self.name, "steps": list(self.steps)}

    def save_schedule(self, path: PathLike) -> None:
        Path(path).write_text(json.dumps(self.schedule(), indent=1) + "\n")

    @property
    def transformed(self) -> Json:
        """The program with all steps applied."""
        if self._transformed is None:
            with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
                target = Path(folder) / "transformed.json"
                self._command("convert", folder, "--to", "program", "-o", target)
                self._transformed = json.loads(target.read_text())
        return self._transformed

    # Transforming. Each returns a program with one step more.

    def apply(self, step: Json) -> Program:
        """One step in its JSON form."""
        result = Program.from_dict(self.to_dict())
        result.steps = (*self.steps, step)
        result.given, result.outside = self.given, self.outside
        result.verify()
        return result

    def with_steps(self, steps: Iterable[Json]) -> Program:
        """Several steps, which are verified as one."""
        result = Program.from_dict(self.to_dict())
        result.steps = (*self.steps, *steps)
        result.given, result.outside = self.given, self.outside
        result.verify()
        return result

    def split(self, op: str, dim: int = 0) -> Program:
        """An all_reduce becomes a reduce_scatter, `op`.rs, and an all_gather, `op`.ag."""
        return self.apply({"do": "split", "op": op, "into": "rs_ag", "dim": dim})

    def split_root(self, op: str, root: int = 0) -> Program:
        """An all_reduce becomes `op`.reduce to a root and `op`.broadcast from it."""
        return self.apply({"do": "split", "op": op, "into": "reduce_broadcast", "root": root})

    def split_axes(self, op: str, *axes: str) -> Program:
        """An all_reduce over several axes becomes `op`.inner over some of them, and the rest."""
        return self.apply({"do": "split", "op": op, "into": "axes", "axes": list(axes)})

    def reorder(self, gather: str, *ops: str) -> Program:
        """What follows a gather is computed on parts; all that can be if no values are named."""
        return self.apply({"do": "reorder", "gather": gather, "ops": list(ops) or "all"})

    def distribute(self, value: str, *axes: str, dim: int = 0) -> Program:
        """What every rank computes is computed once, each rank its part."""
        return self.apply({"do": "distribute", "value": value, "dim": dim, "axes": list(axes or self.axes)})

    def as_slice(self, *states: str) -> Program:
        """States are stored sliced."""
        return self.with_steps({"do": "as_slice", "tensor": state} for state in states)

    def fuse(self, *ops: str, name: str | None = None) -> Program:
        """One kernel."""
        return self.apply({"do": "fuse", "ops": list(ops)} | ({"name": name} if name else {}))

    def coalesce(self, *ops: str, name: str | None = None) -> Program:
        """One call over several buffers."""
        return self.apply({"do": "coalesce", "ops": list(ops)} | ({"name": name} if name else {}))

    def overlap(self, *chain: str, pieces: int = 8) -> Program:
        """Piece i of each kernel runs when piece i of the one before is done."""
        return self.apply({"do": "overlap", "chain": list(chain), "pieces": pieces})

    # The command.

    def _command(self, verb: str, folder: PathLike, *words: object) -> Json:
        program, schedule = Path(folder) / "program.json", Path(folder) / "schedule.json"
        self.save(program)
        files = [program]
        if self.steps or verb != "tune":
            self.save_schedule(schedule)
            files.append(schedule)
        return _run(verb, *files, *words)

    def verify(self, *words: object) -> Json:
        """Raises `Refused` if the program is ill-typed or a step is refused, `NotEquivalent` if the transformed program means something else. `words` are options of
        `tutti verify`, as "--field"."""
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            return self._command("verify", folder, *words)

    def tune(self, topology: PathLike | Json, device: PathLike | Json, output: PathLike | None = None, pieces: Sequence[int] = (), memory_GB: float | None = None, top: int | None = None,
             time_limit: float | None = None) -> Tuned:
        """The best schedules for a network: `topology` and `device` are files or what they hold. With `output`, that folder gets all files and the timeline."""
        if self.steps:
            raise InputError("tune finds the steps itself: call it on the program without any")
        words: list[object] = ["--pieces", ",".join(map(str, pieces))] if pieces else []
        for option, value in (("--memory", memory_GB), ("--top", top), ("--time-limit", time_limit)):
            words += [option, value] if value is not None else []
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            files: list[PathLike] = []
            for name, given in (("topology", topology), ("device", device)):
                if isinstance(given, Mapping):
                    (Path(folder) / f"{name}.json").write_text(json.dumps(given))
                    files.append(Path(folder) / f"{name}.json")
                else:
                    files.append(given)
            words += ["-o", output] if output is not None else []
            return Tuned(self, self._command("tune", folder, "--topology", files[0], "--device", files[1], *words))

    def emit(self, target: str, path: PathLike) -> None:
        """Writes the transformed program as "torch", "cpp", "cuda", "dot" or "program", after verifying it."""
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            self._command("convert", folder, "--to", target, "-o", path)


@dataclass(frozen=True)
class Tuned:
    """What a search found, the best first."""

    program: Program
    facts: Mapping[str, Any] = field(repr=False)  #: all that `tutti tune --json` prints (docs/tuning.md)

    @cached_property
    def schedules(self) -> list[Json]:
        return list(self.facts["schedules"])

    @property
    def best(self) -> Program:
        """The program with the best schedule."""
        return self.program.with_steps(self.schedules[self.facts["best"]]["steps"])

    @property
    def predicted_us(self) -> float:
        return float(self.schedules[self.facts["best"]]["predicted_us"])

    def __str__(self) -> str:
        lines = [f"{one['predicted_us']:12.1f} us  {one['state_bytes']:>14} bytes of state  {one['kernels']:3} kernels  {'; '.join(map(step_text, one['steps'])) or 'as written'}"
                 for one in self.schedules]
        return "\n".join(lines)


def step_text(step: Json) -> str:
    """A step in the text form of schedules."""
    do = step["do"]
    if do == "split":
        return f"split {step['op']} {step['into']}"
    if do == "reorder":
        return f"reorder {step['gather']} past {step['ops'] if isinstance(step['ops'], str) else ' '.join(step['ops'])}"
    if do == "overlap":
        return f"overlap {' '.join(step['chain'])} pieces {step['pieces']}"
    if do == "as_slice":
        return f"as_slice {step['tensor']}"
    if do == "distribute":
        return f"distribute {step['value']} dim {step.get('dim', 0)} axes {' '.join(step['axes'])}"
    return f"{do} {step['name'] + ': ' if 'name' in step else ''}{' '.join(step['ops'])}"


# "sum: wrong-op: only an all_reduce can be split", the code in the middle: what stands before it is the value at fault.
_REFUSAL = re.compile(r"(?:^|: )([a-z]+(?:-[a-z]+)+|arguments|attribute|axis|cycle|depends|devices|dtype|fused|incomplete|malformed|name|nothing|op|order|outputs|pieces|reduction|resharded|root|scalar|shape|size|spec|transformation): ")


def _run(verb: str, *words: object) -> Json:
    done = subprocess.run([command(), verb, *map(str, words), "--json"], capture_output=True, text=True)
    try:
        answer: Json = json.loads(done.stdout) if done.stdout.strip() else {}
    except json.JSONDecodeError:
        answer = {}
    if done.returncode == 0:
        return answer
    violations = answer.get("violations") or [{}]
    words_said = str(answer.get("message") or answer.get("error") or violations[0].get("message") or done.stderr.strip())
    if answer.get("code"):
        raise Refused(str(answer["code"]), words_said)
    named = _REFUSAL.search(words_said)
    if done.returncode == 2 and named is not None:
        raise Refused(named[1], words_said)
    if done.returncode == 1:
        where = [f"{kind} {violations[0][kind]}" for kind in ("output", "subterm", "step") if violations[0].get(kind) not in (None, "")]
        raise NotEquivalent(": ".join([", ".join(where), words_said] if where else [words_said]))
    if done.returncode == 2:
        raise InputError(words_said, str(answer.get("file", "")), str(answer.get("place", "")))
    raise (LimitError if done.returncode == 3 else InternalError)(words_said)


# What others write.

def from_stablehlo(text: str, name: str | None = None, mesh: Mapping[str, int] | None = None, function: str = "main", file: str = "") -> Program:
    """A program from StableHLO as `jax.jit(f).lower(...).as_text()` prints it (needs jaxlib). With `mesh`, the function says what each device does with its own values.

    `Program.given` has values of inputs that stand for constant arrays, `Program.outside` names inputs that stand for random numbers."""
    from tutti import stablehlo

    value, given, outside = stablehlo.from_stablehlo(text, name, mesh, function, file)
    program = Program.from_dict(value)
    program.given, program.outside = given, outside
    return program


def from_jax(function: Any, *arguments: Any, name: str | None = None) -> Program:
    """A program from a jax function with shardings (jitted, or a shard_map), for arguments of these shapes."""
    import jax

    jitted = function if hasattr(function, "lower") else jax.jit(function)
    return from_stablehlo(jitted.lower(*arguments).as_text(), name)


def from_torch(graphs: Any, mesh: Mapping[str, int], layouts: Mapping[str, Mapping[str, Union[int, str]]] | None = None, name: str = "imported") -> Program:
    """A program from a torch.export program with functional collectives, or from those of all ranks (torch_export.export_ranks): see tutti.torch_export."""
    from tutti import torch_export

    return torch_export.from_torch(graphs, mesh, layouts, name)

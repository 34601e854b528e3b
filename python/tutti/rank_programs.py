"""From programs as one rank sees them to tensor programs.

StableHLO and torch.export say what every rank does with the arrays it holds; a tensor program says what the whole values are and where their parts lie. `Writer`
translates one operation after the other. Each value has its whole shape and, on each mesh axis, a layout; what a rank sees of it is its shape with the *manual* axes'
cuts applied. On a manual axis the ranks may hold anything (inside shard_map); where two operands cannot be combined as they lie, the sliced one is taken as the rank's
own value (`unstack`: other words for the same memory). On every other axis the compiler places values (plain jit): there partial sums are totalled at once, and operands
that disagree are gathered.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np

Layout = dict[str, Union[int, str]]  # axis: the dimension that it slices, or "local"; nothing where it is replicated
LOCAL = "local"
FLOATS = ("f64", "f32", "bf16", "f16")
NUMPY = {"f64": np.float64, "f32": np.float32, "bf16": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "u32": np.uint32, "i8": np.int8, "u8": np.uint8,
         "bool": np.bool_, "i16": np.int16, "u16": np.uint16, "u64": np.uint64}
IDENTITY = {"sum": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}
COMBINE = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}
FOLDED: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "eq": np.equal, "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "neg": np.negative, "abs": np.abs, "select": np.where}


class NotUnderstood(Exception):
    """What has no counterpart in tensor programs. The front end adds the place."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of the program, with its whole shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    layout: Layout


@dataclass(frozen=True, eq=False)
class Known:
    """Numbers known while translating: one array, or one for each rank (first dimension)."""

    values: np.ndarray[Any, Any]
    dtype: str

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape[1:])


@dataclass(frozen=True, eq=False)
class View:
    """`source` broadcast to `shape`: its dimension i is the view's dimension dims[i]. Shapes are as a rank sees them."""

    source: Tensor | Known
    dims: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def dtype(self) -> str:
        return self.source.dtype


@dataclass(frozen=True, eq=False)
class Outside:
    """The result of an operation that we have not, made of constants and keys only (random numbers): an input takes its place where it is used."""

    reason: str
    dtype: str
    shape: tuple[int, ...]
    axes: frozenset[str]


Value = Union[Tensor, Known, View, Outside]


@dataclass
class Writer:
    axes: dict[str, int]
    manual: frozenset[str] = frozenset()
    values: list[dict[str, Any]] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    _constants: dict[tuple[Any, ...], Tensor] = field(default_factory=dict)
    _inputs: dict[int, Tensor] = field(default_factory=dict)
    _uncut: dict[tuple[str, ...], Tensor] = field(default_factory=dict)

    # What a rank sees.

    def cuts(self, layout: Layout, dim: int) -> list[str]:
        """The axes that slice a dimension, the coarsest first."""
        return [axis for axis in self.axes if layout.get(axis) == dim]

    def seen(self, value: Value) -> tuple[int, ...]:
        if not isinstance(value, Tensor):
            return value.shape
        return tuple(size // math.prod(self.axes[axis] for axis in self.cuts(value.layout, dim) if axis in self.manual) for dim, size in enumerate(value.shape))

    def ranks(self) -> list[dict[str, int]]:
        """The coordinates of every rank, in order."""
        return [dict(zip(self.axes, place)) for place in itertools.product(*(range(size) for size in self.axes.values()))]

    def varying(self, values: np.ndarray[Any, Any]) -> list[str]:
        """The axes along which numbers known for each rank differ."""
        if len(values) == 1:
            return []
        grid = values.reshape(*self.axes.values(), *values.shape[1:])
        return [axis for number, axis in enumerate(self.axes) if not (grid == grid.take([0], axis=number)).all()]

    # Writing values.

    def write(self, op: str, args: Sequence[Tensor], dtype: str, shape: Sequence[int], layout: Mapping[str, int | str], /, **more: Any) -> Tensor:
        name = more.pop("id", None) or f"v{sum(value['op'] != 'input' for value in self.values) + 1}"
        entry: dict[str, Any] = {"id": name, "op": op}
        if args:
            entry["args"] = [arg.name for arg in args]
        self.values.append(entry | {key: value for key, value in more.items() if value is not None})
        return Tensor(name, dtype, tuple(shape), {axis: layout[axis] for axis in self.axes if axis in layout})

    def input(self, name: str, dtype: str, shape: Sequence[int], layout: Layout, state: bool = False) -> Tensor:
        placed = {axis: LOCAL if where == LOCAL else {"sliced": where} for axis, where in layout.items()}
        return self.write("input", [], dtype, shape, layout, id=name, shape=list(shape), dtype=dtype, layout=placed or None, state=state or None)

    def constant(self, number: Any, dtype: str) -> Tensor:
        plain = bool(number) if dtype == "bool" else float(number) if dtype in FLOATS else int(number)
        if isinstance(plain, float) and not math.isfinite(plain):
            # JSON has no infinities; at the end of the type's range, max and min do the same.
            widest = float(np.finfo(np.float16 if dtype == "f16" else np.float64 if dtype == "f64" else np.float32).max)
            if math.isnan(plain):
                raise NotUnderstood("a constant that is not a number")
            plain = math.copysign(widest, plain)
        key = (str(plain), dtype)
        if key not in self._constants:
            self._constants[key] = self.write("constant", [], dtype, (), {}, value=int(plain) if dtype == "bool" else plain, dtype=dtype)
        return self._constants[key]

    def index(self, axis: str, dtype: str = "i32") -> Tensor:
        """A rank's own coordinate: the own part of 0, 1, 2, ..."""
        key = ("index", axis, dtype)
        if key not in self._constants:
            size = self.axes[axis]
            count = self.write("iota", [], dtype, (size,), {}, shape=[size], dtype=dtype, dim=0)
            own = self.write("slice", [count], dtype, (size,), {axis: 0}, axes=[axis], dim=0)
            local = self.write("unstack", [own], dtype, (1,), {axis: LOCAL}, axis=axis, dim=0)
            self._constants[key] = self.write("reshape", [local], dtype, (), {axis: LOCAL}, shape=[])
        return self._constants[key]

    def known(self, value: Known) -> Tensor:
        """Numbers known for each rank as a value: a constant, iota, a function of the ranks' coordinates, or an input whose values are given."""
        values, dtype = value.values, value.dtype
        flat = values.reshape(len(values), -1)
        if flat.size and (flat == flat[:, :1]).all():
            scalar = self._scalar(flat[:, 0], dtype)
            return scalar if not value.shape else self.write("broadcast", [scalar], dtype, value.shape, scalar.layout, shape=list(value.shape), dims=[])
        if not self.varying(values):
            for dim, size in enumerate(value.shape):
                ramp = np.arange(size).reshape([-1 if d == dim else 1 for d in range(len(value.shape))])
                if (values[0] == np.broadcast_to(ramp, value.shape)).all():
                    return self.write("iota", [], dtype, value.shape, {}, shape=list(value.shape), dtype=dtype, dim=dim)
            name = f"given{len(self.given) + 1}"
            self.given[name] = values[0].tolist()
            return self.input(name, dtype, value.shape, {})
        raise NotUnderstood("an array whose numbers depend on the rank")

    def _scalar(self, numbers: np.ndarray[Any, Any], dtype: str) -> Tensor:
        varying = self.varying(numbers)
        if not varying:
            return self.constant(numbers[0], dtype)
        if len(varying) > 1:
            raise NotUnderstood(f"a number that depends on the rank's place on {' and '.join(varying)}")
        axis = varying[0]
        grid = numbers.reshape(*self.axes.values())
        line = np.moveaxis(grid, list(self.axes).index(axis), -1).reshape(-1, self.axes[axis])[0]
        if dtype != "bool" and (line == np.arange(len(line))).all():
            return self.index(axis, dtype)
        kinds, counts = np.unique(line, return_counts=True)
        usual = kinds[counts.argmax()]
        result: Tensor | None = None
        for place, number in enumerate(line):
            if number != usual:
                here = self.pointwise("eq", [self.index(axis), Known(np.full(1, place), "i32")], "bool")
                if dtype == "bool" and not usual:
                    result = here if result is None else self.tensor(self.pointwise("or", [result, here], "bool"))  # type: ignore[assignment]
                else:
                    rest: Value = result if result is not None else Known(np.full(1, usual), dtype)
                    result = self.tensor(self.pointwise("select", [here, Known(np.full(1, number), dtype), rest], dtype))
        assert isinstance(result, Tensor)
        return result

    def tensor(self, value: Value) -> Tensor:
        """A value of the program that a rank sees with exactly the shape of `value`."""
        if isinstance(value, Known):
            return self.known(value)
        if isinstance(value, Outside):
            return self.from_outside(value)
        if isinstance(value, View):
            source = self.tensor(self._kept(value.source, [value.shape[dim] for dim in value.dims]))
            if list(value.dims) == sorted(value.dims) and all(size == 1 for dim, size in enumerate(value.shape) if dim not in value.dims) and self._fills(source, value):
                if len(value.shape) == len(source.shape):
                    return source
                return self.write("reshape", [source], source.dtype, self._spread(source, value), self._moved(source.layout, value.dims), shape=self._spread(source, value))
            return self.write("broadcast", [source], source.dtype, self._spread(source, value), self._moved(source.layout, value.dims), shape=self._spread(source, value), dims=list(value.dims))
        return value

    def from_outside(self, value: Outside) -> Tensor:
        if id(value) not in self._inputs:
            name = f"outside{len(self.outside) + 1}"
            self.outside[name] = value.reason
            self._inputs[id(value)] = self.input(name, value.dtype, value.shape, {axis: LOCAL for axis in value.axes})
        return self._inputs[id(value)]

    def _fills(self, source: Tensor, view: View) -> bool:
        """Whether nothing is spread: each dimension has the view's size."""
        return list(self.seen(source)) == [view.shape[dim] for dim in view.dims]

    def _spread(self, source: Tensor, view: View) -> list[int]:
        """The whole shape of a view whose source has its place: sliced dimensions are whole there."""
        shape = list(view.shape)
        for dim, at in enumerate(view.dims):
            if self.cuts(source.layout, dim):
                shape[at] = source.shape[dim]
        return shape

    def _moved(self, layout: Layout, dims: Sequence[int]) -> Layout:
        return {axis: LOCAL if where == LOCAL else dims[int(where)] for axis, where in layout.items()}

    def _kept(self, value: Tensor | Known, wanted: Sequence[int]) -> Tensor | Known:
        """`value` without cuts along dimensions that are to be spread: one element there, many in `wanted`."""
        if isinstance(value, Tensor):
            for dim, (size, want) in enumerate(zip(self.seen(value), wanted)):
                if size != want and self.cuts(value.layout, dim):
                    value = self.uncut(value, self.cuts(value.layout, dim))
        return value

    # Changing where a value lies.

    def uncut(self, value: Tensor, axes: Iterable[str]) -> Tensor:
        """Not sliced along `axes`: what a rank has becomes its own value on manual axes, the whole is gathered on others. Finer cuts go first."""
        key = (value.name, *sorted(axes))
        if key not in self._uncut:
            self._uncut[key] = self._without_cuts(value, key[1:])
        return self._uncut[key]

    def _without_cuts(self, value: Tensor, axes: Sequence[str]) -> Tensor:
        leave = {axis for axis in axes if isinstance(value.layout.get(axis), int)}
        for dim in range(len(value.shape)):
            cuts = self.cuts(value.layout, dim)
            first = next((at for at, axis in enumerate(cuts) if axis in leave), len(cuts))
            for axis in reversed(cuts[first:]):
                rest = {a: where for a, where in value.layout.items() if a != axis}
                if axis in self.manual:
                    shape = [size // self.axes[axis] if d == dim else size for d, size in enumerate(value.shape)]
                    value = self.write("unstack", [value], value.dtype, shape, rest | {axis: LOCAL}, axis=axis, dim=dim)
                else:
                    value = self.write("all_gather", [value], value.dtype, value.shape, rest, axes=[axis])
        return value

    def own(self, value: Tensor, axes: Iterable[str]) -> Tensor:
        """Local on `axes`. A replicated value becomes so by adding zero, made of the rank's coordinate."""
        axes = list(axes)
        value = self.uncut(value, axes)
        for axis in axes:
            if axis not in value.layout:
                zero = self.pointwise("mul", [self.index(axis, value.dtype if value.dtype != "bool" else "i32"), Known(np.zeros(1), "i32" if value.dtype == "bool" else value.dtype)],
                                      "i32" if value.dtype == "bool" else value.dtype)
                if value.dtype == "bool":
                    zero = self.pointwise("ne", [zero, Known(np.zeros(1, int), "i32")], "bool")
                value = self.tensor(self.pointwise("or" if value.dtype == "bool" else "add", [value, zero], value.dtype))
        return value

    def place(self, value: Value, wanted: Layout, what: str) -> Tensor:
        """With the layout `wanted`, as boundaries of shard_map and sharding constraints demand it."""
        value = self.tensor(value)
        for axis in [a for a in self.axes if a in self.manual]:  # the coarsest first, so that parts nest
            have, want = value.layout.get(axis), wanted.get(axis)
            if have == LOCAL and isinstance(want, int):
                shape = [size * self.axes[axis] if d == want else size for d, size in enumerate(value.shape)]
                finer = [a for a in self.cuts(value.layout, want) if list(self.axes).index(a) > list(self.axes).index(axis)]
                if finer:
                    return self.place(self.uncut(value, finer), wanted, what)
                value = self.write("stack", [value], value.dtype, shape, value.layout | {axis: want}, axis=axis, dim=want)
            elif have != want and not (have is None and want is not None and self.axes[axis] == 1):
                if isinstance(have, int):
                    return self.place(self.uncut(value, [axis]), wanted, what)
                if isinstance(want, int):  # replicated, and each rank's is its part of the whole
                    return self.place(self.own(value, [axis]), wanted, what)
                raise NotUnderstood(f"{what} is said to be the same on all ranks of axis {axis}, but need not be")
        for axis in [a for a in self.axes if a not in self.manual]:
            have, want = value.layout.get(axis), wanted.get(axis)
            if isinstance(have, int) and have != want:
                if isinstance(want, int) and self.cuts(value.layout, have) == [axis] and not self.cuts(value.layout, want):
                    value = self.write("all_to_all", [value], value.dtype, value.shape, value.layout | {axis: want}, axis=axis, split=want, concat=have)
                else:
                    value = self.uncut(value, [axis])
        for axis in [a for a in self.axes if a not in self.manual]:
            want = wanted.get(axis)
            if isinstance(want, int) and axis not in value.layout:
                finer = [a for a in self.cuts(value.layout, want) if list(self.axes).index(a) > list(self.axes).index(axis)]
                value = self.uncut(value, finer)
                value = self.write("slice", [value], value.dtype, value.shape, value.layout | {axis: want}, axes=[axis], dim=want)
        return value if all(value.layout.get(a) == wanted.get(a) for a in self.axes) else self.place(value, wanted, what)

    def totalled(self, value: Tensor, reduce: str) -> Tensor:
        """Partial results on axes that the compiler places are reduced at once."""
        axes = [axis for axis in self.axes if value.layout.get(axis) == LOCAL and axis not in self.manual]
        if not axes:
            return value
        return self.write("all_reduce", [value], value.dtype, value.shape, {a: w for a, w in value.layout.items() if a not in axes}, axes=axes, reduce=reduce)

    def agreed(self, operands: list[Tensor], dims: Sequence[Sequence[int]]) -> list[Tensor]:
        """Operands that the layout rules let stand together. dims[i][d] is the common dimension (a letter of an einsum, a dimension of the result) of dimension d of
        operand i."""
        while True:
            bad = self._disagreement(operands, dims)
            if bad is None:
                return operands
            for i in bad[0]:
                operands[i] = self.uncut(operands[i], bad[1])

    def _disagreement(self, operands: list[Tensor], dims: Sequence[Sequence[int]]) -> tuple[list[int], list[str]] | None:
        """Which operands must not be sliced along which axes, for a reason that is found first."""
        for axis in self.axes:
            laid = [operand.layout.get(axis) for operand in operands]
            where = [dims[i][lay] if isinstance(lay, int) else lay for i, lay in enumerate(laid)]
            holders = [i for i, at in enumerate(where) if isinstance(at, int)]
            if holders and (LOCAL in where or len({where[i] for i in holders}) > 1):
                return (holders if axis in self.manual else sorted(holders, key=lambda i: math.prod(operands[i].shape))[:1]), [axis]
            for i in holders:  # a part of one that has the size of another's whole
                whole = {operand.shape[list(dims[j]).index(where[i])] for j, operand in enumerate(operands) if where[i] in dims[j]}  # type: ignore[arg-type]
                if whole - {1, operands[i].shape[laid[i]]}:  # type: ignore[index]
                    return [i], [axis]
        for dim in sorted({at for places in dims for at in places}):  # cuts of one dimension nest: each operand's are the coarsest of all
            cuts = [self.cuts(operand.layout, list(dims[i]).index(dim)) if dim in dims[i] else [] for i, operand in enumerate(operands)]
            union = [axis for axis in self.axes if any(axis in cut for cut in cuts)]
            for i, cut in enumerate(cuts):
                extra = [axis for at, axis in enumerate(cut) if union[at] != axis]
                if extra:
                    return [i], extra
        return None

    # Operations.

    def pointwise(self, op: str, operands: Sequence[Value], dtype: str, shape: tuple[int, ...] | None = None, /, **more: Any) -> Value:
        """`operands` have one shape, or none (scalars)."""
        if any(isinstance(o, Outside) for o in operands):
            operands = [self.from_outside(o) if isinstance(o, Outside) else o for o in operands]
        if shape is None:
            shape = max((self.seen(o) for o in operands), key=len, default=())
        known = [o.source if isinstance(o, View) else o for o in operands]
        views = [o for o in operands if isinstance(o, View) and o.source.shape != ()]
        full = [o for o in operands if not isinstance(o, View) and self.seen(o) != ()]
        if not full:
            alike = {(v.dims, tuple(self.seen(v.source)), v.shape) for v in views}
            if len(alike) <= 1 and (views or shape != ()):  # on the source, and broadcast afterwards
                inner = self.pointwise(op, [o.source if isinstance(o, View) else o for o in operands], dtype, **more)
                assert not isinstance(inner, (View, Outside))
                return View(inner, views[0].dims if views else (), shape)
        if all(isinstance(o, Known) for o in known) and not views:
            folded = self._folded(op, [o for o in known if isinstance(o, Known)], dtype)
            if folded is not None:
                return folded
        tensors: list[Tensor] = []
        reach: tuple[int, ...] = ()
        for operand in operands:
            if isinstance(operand, View):
                tensors.append(self._aligned(operand))
            elif isinstance(operand, Known) and operand.shape == ():
                tensors.append(self.known(operand))
            else:
                tensors.append(self.tensor(operand))
            reach = np.broadcast_shapes(reach, self.seen(tensors[-1]))
        if reach != shape:
            widest = next(i for i, o in enumerate(operands) if isinstance(o, View))
            tensors[widest] = self.tensor(operands[widest])
        rank = len(shape)
        tensors = self.agreed(tensors, [range(rank - len(t.shape), rank) for t in tensors])
        layout: Layout = {}
        for t in tensors:
            layout |= self._moved(t.layout, range(rank - len(t.shape), rank))
        return self.write(op, tensors, dtype, np.broadcast_shapes(*(t.shape for t in tensors)), layout, **more)

    def _folded(self, op: str, operands: list[Known], dtype: str) -> Known | None:
        values = [o.values for o in operands]
        if op == "cast":
            return Known(values[0].astype(NUMPY[dtype]), dtype)
        integers = all(o.dtype not in FLOATS for o in operands)
        if op in ("div", "rem") and integers and (values[1] != 0).all():
            return Known((np.trunc(values[0] / values[1]) if op == "div" else np.fmod(values[0], values[1])).astype(NUMPY[dtype]), dtype)
        if op not in FOLDED or not (integers or op == "select" or all(len(v) == 1 for v in values)):
            return None
        with np.errstate(all="ignore"):
            return Known(np.asarray(FOLDED[op](*values)).astype(NUMPY[dtype]), dtype)

    def _aligned(self, view: View) -> Tensor:
        """A tensor that right-aligned broadcasting spreads as the view says."""
        source = self.tensor(self._kept(view.source, [view.shape[dim] for dim in view.dims]))
        rank = len(view.shape)
        first = min(view.dims, default=rank)
        if list(view.dims) == list(range(first, rank)):
            return source
        if list(view.dims) != sorted(view.dims):
            return self.tensor(view)
        shape = [1] * (rank - first)
        for dim, at in enumerate(view.dims):
            shape[at - first] = source.shape[dim]
        return self.write("reshape", [source], source.dtype, shape, self._moved(source.layout, [at - first for at in view.dims]), shape=shape)

    def einsum(self, operands: Sequence[Value], letters: Sequence[str], out: str, dtype: str) -> Tensor:
        tensors = [self.tensor(o) for o in operands]
        numbers = {letter: number for number, letter in enumerate(sorted(set("".join(letters))))}
        dims = [[numbers[letter] for letter in word] for word in letters]
        tensors = self.agreed(tensors, dims)
        layout: Layout = {}
        sizes: dict[str, int] = {}
        for t, word in zip(tensors, letters):
            sizes |= dict(zip(word, t.shape))
            for axis, where in t.layout.items():
                layout[axis] = LOCAL if where == LOCAL or word[int(where)] not in out else out.index(word[int(where)])
        made = self.write("einsum", tensors, dtype, [sizes[letter] for letter in out], layout, spec=f"{','.join(letters)}->{out}")
        return self.totalled(made, "sum")

    def reduce(self, value: Value, dims: Sequence[int], reduce: str, start: Value | None, keepdims: bool = False) -> Value:
        tensor = self.tensor(value)
        kept = [dim for dim in range(len(tensor.shape)) if keepdims or dim not in dims]
        layout: Layout = {axis: LOCAL if where == LOCAL or where in dims else kept.index(int(where)) for axis, where in tensor.layout.items()}
        shape = [1 if dim in dims else tensor.shape[dim] for dim in kept]
        made: Value = self.write("reduce", [tensor], tensor.dtype, shape, layout, dims=list(dims), reduce=reduce, keepdims=keepdims or None)
        made = self.totalled(self.tensor(made), reduce)
        if start is not None and not (isinstance(start, Known) and (start.values == self.neutral(reduce, tensor.dtype)).all()):
            made = self.pointwise(COMBINE[reduce], [View(start, (), self.seen(made)) if isinstance(start, (Tensor, Known)) else start, made], tensor.dtype)
        return made

    def neutral(self, reduce: str, dtype: str) -> Any:
        number = IDENTITY[reduce]
        if dtype not in FLOATS and math.isinf(number):
            if dtype == "bool":
                return number > 0
            limits = np.iinfo(NUMPY[dtype])
            return limits.max if number > 0 else limits.min
        return number

    def transpose(self, value: Value, perm: Sequence[int]) -> Tensor:
        tensor = self.tensor(value)
        layout: Layout = {axis: where if where == LOCAL else list(perm).index(int(where)) for axis, where in tensor.layout.items()}
        return self.write("transpose", [tensor], tensor.dtype, [tensor.shape[dim] for dim in perm], layout, perm=list(perm))

    def reshape(self, value: Value, shape: tuple[int, ...]) -> Value:
        """`shape` is what a rank sees. Dimensions of one element come and go; others are split and merged where no axis slices the value."""
        if isinstance(value, Outside):
            return Outside(value.reason, value.dtype, shape, value.axes)
        if isinstance(value, Known):
            return Known(value.values.reshape(len(value.values), *shape), value.dtype)
        old = self.seen(value)
        if old == shape:
            return value
        blocks = _blocks(old, shape)
        if isinstance(value, View):
            where = {was[0]: now[0] for was, now in blocks if len(was) == 1 and len(now) == 1}
            if all(dim in where for dim in value.dims):
                return View(value.source, tuple(where[dim] for dim in value.dims), shape)
            value = self.tensor(value)
        if any(len(was) > 1 or len(now) > 1 for was, now in blocks):
            value = self.uncut(value, self.axes)
        whole = list(shape)
        layout: Layout = {axis: where for axis, where in value.layout.items() if where == LOCAL}
        for was, now in blocks:
            for dim in was:
                cuts = self.cuts(value.layout, dim)
                if cuts and (len(was) != 1 or len(now) != 1):
                    return self.reshape(self.uncut(value, cuts), shape)
                if cuts:
                    whole[now[0]] = value.shape[dim]
                    layout |= {axis: now[0] for axis in cuts}
        return self.write("reshape", [value], value.dtype, whole, layout, shape=whole)

    # Communication.

    def groups_axes(self, groups: Sequence[Sequence[int]], ordered: bool) -> list[str]:
        """The mesh axes whose groups these are."""
        wanted = {tuple(group) if ordered else tuple(sorted(group)) for group in groups}
        for count in range(len(self.axes) + 1):
            for axes in itertools.combinations(self.axes, count):
                lines: dict[tuple[int, ...], list[int]] = {}
                for rank, place in enumerate(self.ranks()):
                    lines.setdefault(tuple(at for axis, at in place.items() if axis not in axes), []).append(rank)
                if {tuple(line) for line in lines.values()} == wanted:
                    return [axis for axis in axes if self.axes[axis] > 1]
        raise NotUnderstood(f"the groups {[list(group) for group in groups]} are no axes of the mesh {', '.join(f'{axis} {size}' for axis, size in self.axes.items())}")

    def all_reduce(self, value: Value, axes: Sequence[str], reduce: str) -> Value:
        if not axes:
            return value
        tensor = self.tensor(value)
        alike = [axis for axis in axes if axis not in tensor.layout]  # everybody adds the same
        rest = [axis for axis in axes if axis in tensor.layout]
        if rest:
            tensor = self.uncut(tensor, rest)
            tensor = self.write("all_reduce", [tensor], tensor.dtype, tensor.shape, {a: w for a, w in tensor.layout.items() if a not in rest}, axes=rest, reduce=reduce)
        times = math.prod(self.axes[axis] for axis in alike)
        if times > 1 and reduce in ("sum", "prod"):
            return self.pointwise("mul" if reduce == "sum" else "pow", [tensor, View(Known(np.full(1, times), tensor.dtype), (), self.seen(tensor))], tensor.dtype)
        return tensor

    def reduce_scatter(self, value: Value, axes: Sequence[str], reduce: str, dim: int) -> Value:
        if not axes:
            return value
        tensor = self.own(self.tensor(value), axes)
        tensor = self.uncut(tensor, self._coming_after(tensor, axes, dim))
        return self.write("reduce_scatter", [tensor], tensor.dtype, tensor.shape, tensor.layout | {axis: dim for axis in axes}, axes=list(axes), reduce=reduce, dim=dim)

    def _coming_after(self, tensor: Tensor, axes: Sequence[str], dim: int) -> list[str]:
        """Axes that cut `dim` finer than `axes` would; their cuts are of parts, not of the whole."""
        order = list(self.axes)
        return [axis for axis in self.cuts(tensor.layout, dim) if any(order.index(axis) > order.index(new) for new in axes)]

    def all_gather(self, value: Value, axes: Sequence[str], dim: int) -> Value:
        if not axes:
            return value
        tensor = self.tensor(value)
        if self.cuts(tensor.layout, dim)[-len(axes):] != list(axes):
            tensor = self.own(tensor, axes)
            tensor = self.uncut(tensor, self._coming_after(tensor, axes, dim))
            tensor = self._stacked(tensor, axes, dim)
        return self.write("all_gather", [tensor], tensor.dtype, tensor.shape, {a: w for a, w in tensor.layout.items() if a not in axes}, axes=list(axes))

    def _stacked(self, tensor: Tensor, axes: Sequence[str], dim: int) -> Tensor:
        for axis in axes:
            shape = [size * self.axes[axis] if d == dim else size for d, size in enumerate(tensor.shape)]
            # The coarsest first: what it stacks are the ranks' values, and the finer axes then stack inside each of its parts.
            tensor = self.write("stack", [tensor], tensor.dtype, shape, tensor.layout | {axis: dim}, axis=axis, dim=dim)
        return tensor

    def all_to_all(self, value: Value, axes: Sequence[str], split: int, concat: int) -> Value:
        if not axes:
            return value
        if len(axes) > 1:
            raise NotUnderstood(f"an all_to_all over several axes ({', '.join(axes)})")
        (axis,) = axes
        tensor = self.tensor(value)
        if tensor.layout.get(axis) == concat and split != concat and self.cuts(tensor.layout, concat) == [axis] and not self.cuts(tensor.layout, split):
            return self.write("all_to_all", [tensor], tensor.dtype, tensor.shape, tensor.layout | {axis: split}, axis=axis, split=split, concat=concat)
        tensor = self.own(tensor, [axis])
        tensor = self.uncut(tensor, self.cuts(tensor.layout, split) + self.cuts(tensor.layout, concat))
        shape = list(tensor.shape)
        shape[split] //= self.axes[axis]
        shape[concat] *= self.axes[axis]
        return self.write("all_to_all", [tensor], tensor.dtype, shape, tensor.layout, axis=axis, split=split, concat=concat)

    def broadcast_from(self, value: Value, groups: Sequence[Sequence[int]]) -> Value:
        axes = self.groups_axes(groups, ordered=False)
        if not axes:
            return value
        ranks = self.ranks()
        roots = {tuple(ranks[group[0]][axis] for axis in axes) for group in groups}
        if len(roots) != 1:
            raise NotUnderstood(f"the groups {[list(group) for group in groups]} have their roots in different places")
        root = 0
        for axis, at in zip(axes, roots.pop()):
            root = root * self.axes[axis] + at
        tensor = self.own(self.tensor(value), axes)
        return self.write("broadcast_from", [tensor], tensor.dtype, tensor.shape, {a: w for a, w in tensor.layout.items() if a not in axes}, axes=axes, root=root)

    def permute(self, value: Value, pairs: Sequence[tuple[int, int]]) -> Value:
        """Pairs of ranks as shifts along one axis, one for each distance; where only some ranks get something, the others get zeros."""
        ranks = self.ranks()
        moves: dict[tuple[str, int], set[int]] = {}
        for source, target in pairs:
            apart = [axis for axis in self.axes if ranks[source][axis] != ranks[target][axis]]
            if len(apart) > 1:
                raise NotUnderstood(f"a value goes from rank {source} to rank {target}, which differ on {' and '.join(apart)}")
            axis = apart[0] if apart else ""
            moves.setdefault((axis, ranks[target][axis] - ranks[source][axis] if axis else 0), set()).add(target)
        total: Value | None = None
        tensor = self.tensor(value)
        for (axis, by), targets in moves.items():
            if axis:
                moved = self.uncut(tensor, [axis])
                moved = self.write("shift", [moved], tensor.dtype, moved.shape, moved.layout | {axis: LOCAL}, axis=axis, by=by)
                all_of_them = {rank for rank, place in enumerate(ranks) if 0 <= place[axis] - by < self.axes[axis]}
            else:
                moved, all_of_them = tensor, set(range(len(ranks)))
            part: Value = moved
            if targets != all_of_them:
                here = Known(np.array([rank in targets for rank in range(len(ranks))]), "bool")
                seen = self.seen(part)
                part = self.pointwise("select", [View(here, (), seen), part, View(Known(np.zeros(1), tensor.dtype), (), seen)], tensor.dtype)
            total = part if total is None else self.pointwise("add", [total, part], tensor.dtype)
        if total is None:
            return View(Known(np.zeros(1), tensor.dtype), (), self.seen(tensor))
        return total

    def own_part(self, value: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Value:
        """A dynamic slice that takes each rank's own part along one dimension."""
        tensor = self.tensor(value)
        seen = self.seen(tensor)
        cut = [dim for dim, (have, want) in enumerate(zip(seen, sizes)) if have != want]
        if not cut:
            return tensor
        start = starts[cut[0]]
        if len(cut) > 1 or not isinstance(start, Known):
            raise NotUnderstood("a dynamic slice whose place is computed from data" if len(cut) == 1 else "a dynamic slice along several dimensions")
        dim, part = cut[0], sizes[cut[0]]
        at = np.clip(np.broadcast_to(start.values, (len(self.ranks()),)), 0, seen[dim] - part)
        for count in range(1, len(self.axes) + 1):
            for axes in itertools.combinations([axis for axis in self.axes if axis in self.manual], count):
                place = np.zeros(len(self.ranks()), int)
                for axis in axes:
                    place = place * self.axes[axis] + np.array([rank[axis] for rank in self.ranks()])
                if (at == place * part).all() and part * math.prod(self.axes[axis] for axis in axes) == seen[dim]:
                    if any(axis in tensor.layout for axis in axes):
                        raise NotUnderstood(f"a dynamic slice of a value that is not the same on all ranks of {' and '.join(axes)}")
                    tensor = self.uncut(tensor, self._coming_after(tensor, axes, dim))
                    return self.write("slice", [tensor], tensor.dtype, tensor.shape, tensor.layout | {axis: dim for axis in axes}, axes=list(axes), dim=dim)
        raise NotUnderstood(f"a dynamic slice that is not each rank's own part: it starts at {', '.join(str(number) for number in at[:8])}")


def _blocks(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Runs of dimensions of two shapes that hold the same elements, as short as they can be."""
    blocks: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and old[i] == new[j]:
            blocks.append(([i], [j]))
            i, j = i + 1, j + 1
        elif i < len(old) and old[i] == 1:
            blocks.append(([i], []))
            i += 1
        elif j < len(new) and new[j] == 1:
            blocks.append(([], [j]))
            j += 1
        else:
            was, now, left, right = [i], [j], old[i], new[j]
            i, j = i + 1, j + 1
            while left != right:
                if left < right:
                    was.append(i)
                    left *= old[i]
                    i += 1
                else:
                    now.append(j)
                    right *= new[j]
                    j += 1
            blocks.append((was, now))
    return blocks

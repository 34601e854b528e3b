"""What a tensor program means, with numpy: one array of the whole shape for every coordinate on its local axes.

An array has one dimension for each mesh axis first (of its size where the value is local there, else 1), then the tensor's own. Only what right programs do is
looked at: whether a program is right is for the command to say.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

Layout = dict[str, Any]
UNARY: dict[str, Any] = {"neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp, "log": np.log, "tanh": np.tanh, "not": np.logical_not,
         "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "erf": np.vectorize(math.erf, otypes=[float])}
BINARY: dict[str, Any] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "pow": np.power, "lt": np.less, "le": np.less_equal, "gt": np.greater,
          "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or}
REDUCE: dict[str, Any] = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


def evaluate(program: dict[str, Any], inputs: dict[str, Any]) -> tuple[list[np.ndarray[Any, Any]], list[Layout]]:
    """The outputs and their layouts ({axis: dimension or "local"})."""
    axes = dict(program["mesh"]["axes"])
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    layouts: dict[str, Layout] = {}
    for value in program["values"]:
        args = [arrays[name] for name in value.get("args", [])]
        lays = [layouts[name] for name in value.get("args", [])]
        arrays[value["id"]], layouts[value["id"]] = _value(value, args, lays, axes, inputs)
    return [arrays[name] for name in program["outputs"]], [layouts[name] for name in program["outputs"]]


def part(array: np.ndarray[Any, Any], layout: Layout, axes: dict[str, int], rank: int) -> np.ndarray[Any, Any]:
    """What a rank has of a value."""
    place = np.unravel_index(rank, list(axes.values()))
    own: np.ndarray[Any, Any] = array[tuple(min(p, s - 1) for p, s in zip(place, array.shape))]
    for (axis, count), at in zip(axes.items(), place):
        if isinstance(layout.get(axis), int):
            size = -(-own.shape[layout[axis]] // count)
            own = own.take(range(min(at * size, own.shape[layout[axis]]), min((at + 1) * size, own.shape[layout[axis]])), axis=layout[axis])
    return own


def uniform(shape: list[int], seed: int) -> np.ndarray[Any, Any]:
    """Philox4x32-10: word n mod 4 of counter n / 4, its upper 24 bits."""
    numbers = np.arange(math.prod(shape), dtype=np.uint64)
    low = np.uint64(0xFFFFFFFF)
    x = [(numbers // np.uint64(4)) & low, numbers // np.uint64(4) >> np.uint64(32), np.zeros_like(numbers), np.zeros_like(numbers)]
    keys = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        first, second = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(second >> np.uint64(32)) ^ x[1] ^ np.uint64(keys[0]), second & low, (first >> np.uint64(32)) ^ x[3] ^ np.uint64(keys[1]), first & low]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    words = np.choose((numbers % np.uint64(4)).astype(int), x)
    made: np.ndarray[Any, Any] = ((words >> np.uint64(8)).astype(float) * 2.0**-24).reshape(shape)
    return made


def _value(value: dict[str, Any], args: list[Any], lays: list[Layout], axes: dict[str, int], inputs: dict[str, Any]) -> tuple[Any, Layout]:
    op, m = value["op"], len(axes)
    order = list(axes)
    first = dict(lays[0]) if lays else {}
    layout: Layout = {}
    if op == "input":
        layout = {axis: "local" if lay == "local" else lay["sliced"] for axis, lay in value.get("layout", {}).items() if lay != "replicated"}
        ahead = [axes[axis] if layout.get(axis) == "local" else 1 for axis in axes]
        return np.asarray(inputs[value["id"]]).reshape(*ahead, *value["shape"]), layout
    if op == "constant":
        return np.full([1] * m, bool(value["value"]) if value["dtype"] == "bool" else value["value"]), {}
    if op == "iota":
        shape = value["shape"]
        return np.broadcast_to(np.arange(shape[value["dim"]]).reshape([-1 if d == value["dim"] else 1 for d in range(len(shape))]), shape).reshape([1] * m + shape), {}
    if op == "uniform":
        return uniform(value["shape"], value.get("seed", 0)).reshape([1] * m + list(value["shape"])), {}
    if op in UNARY:
        return UNARY[op](args[0]), first
    if op == "cast":
        kind = {"f": float, "b": bool if value["dtype"] == "bool" else float}.get(value["dtype"][0], int)
        return args[0].astype(kind), first
    if op == "update":
        return args[1], lays[1]
    if op in BINARY or op in ("div", "select"):
        rank = max(a.ndim for a in args) - m
        wide = [a.reshape(a.shape[:m] + (1,) * (rank - (a.ndim - m)) + a.shape[m:]) for a in args]
        for a, lay in zip(args, lays):
            layout |= {axis: at if at == "local" else at + rank - (a.ndim - m) for axis, at in lay.items()}
        if op == "select":
            return np.where(*wide), layout
        if op == "div":
            return (np.trunc(wide[0] / wide[1]).astype(int) if all(a.dtype.kind in "iu" for a in args) else wide[0] / wide[1]), layout
        return BINARY[op](*wide), layout
    if op == "einsum":
        words, out = value["spec"].split("->")
        letters = words.split(",")
        return _partial(args, lays, letters, out, axes, lambda parts: np.einsum(value["spec"], *parts))
    if op == "reduce":
        names = "abcdefghij"[: args[0].ndim - m]
        out = "".join(letter for d, letter in enumerate(names) if d not in value["dims"])
        made, layout = _partial(args, lays, [names], out, axes, lambda parts: REDUCE[value["reduce"]](parts[0], axis=tuple(value["dims"])))
        if value.get("keepdims"):
            made = np.expand_dims(made, tuple(m + dim for dim in value["dims"]))
            layout = {axis: at if at == "local" else names.index(out[at]) for axis, at in layout.items()}
        return made, layout
    if op == "transpose":
        return args[0].transpose(*range(m), *(m + d for d in value["perm"])), {axis: at if at == "local" else value["perm"].index(at) for axis, at in first.items()}
    if op == "broadcast":
        shape = [1] * len(value["shape"])
        for d, at in enumerate(value["dims"]):
            shape[at] = args[0].shape[m + d]
        spread = args[0].reshape(*args[0].shape[:m], *shape)
        return np.broadcast_to(spread, (*args[0].shape[:m], *value["shape"])), {axis: at if at == "local" else value["dims"][at] for axis, at in first.items()}
    if op == "reshape":
        old, new = list(args[0].shape[m:]), list(value["shape"])
        for axis, at in first.items():  # a dimension that is sliced stays: as many elements before it as before
            layout[axis] = at if at == "local" else next(d for d in range(len(new)) if new[d] == old[at] and math.prod(new[:d]) == math.prod(old[:at]))
        return args[0].reshape(*args[0].shape[:m], *new), layout
    if op == "slice":
        return args[0], first | {axis: value["dim"] for axis in value["axes"]}
    if op in ("stack", "unstack"):
        axis, dim, at = value["axis"], m + value["dim"], order.index(value["axis"])
        coarser = math.prod(axes[other] for other in order[:at] if first.get(other) == value["dim"])
        assert not any(first.get(other) == value["dim"] for other in order[at + 1:])
        shape = args[0].shape
        if op == "stack":
            split = args[0].reshape(*shape[:dim], coarser, shape[dim] // coarser, *shape[dim + 1:])
            moved = np.moveaxis(split, at, dim)  # between the coarser parts and what each rank has
            return moved.reshape(*shape[:at], 1, *shape[at + 1:dim], -1, *shape[dim + 1:]), first | {axis: value["dim"]}
        split = args[0].reshape(*shape[:dim], coarser, axes[axis], shape[dim] // coarser // axes[axis], *shape[dim + 1:])
        moved = np.moveaxis(np.squeeze(split, at), dim, at)
        return moved.reshape(*shape[:at], axes[axis], *shape[at + 1:dim], -1, *shape[dim + 1:]), first | {axis: "local"}
    if op in ("all_reduce", "reduce_scatter"):
        assert all(first.get(axis) == "local" for axis in value["axes"]), value
        total = REDUCE[value["reduce"]](args[0], axis=tuple(order.index(axis) for axis in value["axes"]), keepdims=True)
        return total, {axis: at for axis, at in first.items() if axis not in value["axes"]} | ({axis: value["dim"] for axis in value["axes"]} if op == "reduce_scatter" else {})
    if op == "all_gather":
        assert all(isinstance(first.get(axis), int) for axis in value["axes"]), value
        return args[0], {axis: at for axis, at in first.items() if axis not in value["axes"]}
    if op == "broadcast_from":
        places = np.unravel_index(value["root"], [axes[axis] for axis in value["axes"]])
        result = args[0]
        for axis, place in zip(value["axes"], places):
            result = result.take([place], axis=order.index(axis))
        return result, {axis: at for axis, at in first.items() if axis not in value["axes"]}
    if op == "all_to_all":
        axis, split, concat = value["axis"], value["split"], value["concat"]
        if first.get(axis) != "local":
            assert first.get(axis) == concat, value
            return args[0], first | {axis: split}
        at = order.index(axis)
        ranks = np.split(args[0], axes[axis], axis=at)
        parts = [np.split(rank, axes[axis], axis=m + split) for rank in ranks]
        return np.concatenate([np.concatenate([row[r] for row in parts], axis=m + concat) for r in range(axes[axis])], axis=at), first
    if op == "shift":
        at, by, n = order.index(value["axis"]), value["by"], axes[value["axis"]]
        whole = np.repeat(args[0], n, axis=at) if args[0].shape[at] == 1 else args[0]
        result = np.zeros_like(whole)
        for place in range(n):
            if 0 <= place - by < n:
                result[(slice(None),) * at + (place,)] = whole[(slice(None),) * at + (place - by,)]
        return result, first | {value["axis"]: "local"}
    raise AssertionError(f"no meaning for {op}")


def _partial(args: list[Any], lays: list[Layout], letters: list[str], out: str, axes: dict[str, int], function: Any) -> tuple[Any, Layout]:
    """A contraction: along an axis that slices a letter that goes, one partial result for each coordinate."""
    layout: Layout = {}
    gone: dict[str, str] = {}
    for lay, word in zip(lays, letters):
        for axis, at in lay.items():
            if at != "local" and word[at] not in out:
                gone[axis] = word[at]
            layout[axis] = "local" if at == "local" or word[at] not in out else out.index(word[at])
    ahead = [axes[axis] if layout.get(axis) == "local" else 1 for axis in axes]
    results = []
    for place in itertools.product(*(range(n) for n in ahead)):
        parts = []
        for array, word in zip(args, letters):
            part = array[tuple(min(p, s - 1) for p, s in zip(place, array.shape))]
            for number, axis in enumerate(axes):
                if axis in gone and gone[axis] in word:
                    dim = word.index(gone[axis])
                    size = -(-part.shape[dim] // axes[axis])
                    part = part.take(range(min(place[number] * size, part.shape[dim]), min((place[number] + 1) * size, part.shape[dim])), axis=dim)
            parts.append(part)
        results.append(function(parts))
    return np.array(results).reshape(*ahead, *results[0].shape), layout

"""Plans called on numpy arrays: Plan.run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tutti import _core
from tutti.errors import InputError
from tutti.files import scratch_folder

if TYPE_CHECKING:
    from tutti.plans import Plan

_TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "uint8": "u8", "int32": "i32", "int64": "i64", "uint64": "u64"}


def run_on_arrays(plan: Plan, arrays: Sequence[Any], op: str, out: Sequence[Any] | None, engine: str, threads: int | None) -> None:
    if threads is not None and threads < 1:
        raise InputError(f"expected at least one thread, found {threads}")
    kind = _type_of([*arrays, *(out or [])])
    _check(arrays, kind, writable=out is None)
    if out is not None:
        _check(out, kind, writable=True)
    _check_apart([*arrays, *(out or [])])
    prepared = _prepared(plan, out is None, threads or 0)
    ins, outs = list(arrays), list(out or [])
    prepared.run([array.ctypes.data for array in ins], [array.size for array in ins], [array.ctypes.data for array in outs], [array.size for array in outs],
                 _TYPES[kind], op, engine)


def _prepared(plan: Plan, in_place: bool, threads: int) -> _core.ArrayPlan:
    """Read and judged once for each way of calling it, and kept with the plan."""
    kept: dict[tuple[bool, int], _core.ArrayPlan] = plan.__dict__.setdefault("_prepared", {})
    if (in_place, threads) not in kept:
        plan.verdict.check()
        with scratch_folder(len(plan.text)) as folder:
            kept[in_place, threads] = _core.ArrayPlan(plan.file_in(folder), in_place, threads)
    return kept[in_place, threads]


def _type_of(arrays: Sequence[Any]) -> str:
    for array in arrays:
        if not isinstance(array, np.ndarray):
            raise InputError(f"expected numpy arrays, one of each rank, found {type(array).__name__}")
    kinds = {array.dtype.name for array in arrays}
    if len(kinds) != 1:
        raise InputError(f"expected arrays of one type, found {', '.join(sorted(kinds)) or 'none'}")
    kind = str(kinds.pop())
    if kind == "uint16":
        raise InputError("found uint16; expected float16 or ml_dtypes.bfloat16 (array.view gives the same bits that type), which of the two cannot be told")
    if kind not in _TYPES:
        raise InputError(f"expected arrays of {', '.join(_TYPES)}, found {kind}")
    return kind


def _check(arrays: Sequence[Any], kind: str, *, writable: bool) -> None:
    for rank, array in enumerate(arrays):
        if not array.flags.c_contiguous:
            raise InputError(f"the array of rank {rank} is not contiguous; np.ascontiguousarray makes a copy that is")
        if writable and not array.flags.writeable:
            raise InputError(f"the array of rank {rank} is read-only")
        if not array.dtype.isnative or not array.flags.aligned:
            raise InputError(f"the array of rank {rank} has another byte order than this machine, or is not aligned")


def _check_apart(arrays: Sequence[Any]) -> None:
    places = sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays if array.nbytes)
    for (_, end), (begin, _) in zip(places, places[1:]):
        if begin < end:
            raise InputError("two of the arrays share memory; each rank has one of its own")

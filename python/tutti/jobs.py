"""Processes that call plans together, one for each rank: tutti.shared."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from tutti import _core
from tutti.errors import InputError
from tutti.files import scratch_folder

if TYPE_CHECKING:
    from tutti.plans import Plan

_TYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "uint64")


class Shared:
    """A job of several processes on one machine; this one is a rank of it. Made by `tutti.shared`."""

    def __init__(self, job: str, rank: int, size: int, timeout: float) -> None:
        if not 0 <= rank < size:
            raise InputError(f"expected a rank from 0 to {size - 1}, found {rank}")
        self.rank = rank  #: this process's
        self.size = size  #: of the job, in processes
        self._job = _core.SharedJob(job, rank, size, timeout)
        self._loaded: dict[int, tuple[Plan, int]] = {}

    def empty(self, shape: int | tuple[int, ...], dtype: Any = np.float32) -> np.ndarray[Any, Any]:
        """An array in memory that the other processes reach: calls on such arrays need no copies."""
        kind = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        if count < 0:
            raise InputError(f"expected a shape without negative numbers, found {shape}")
        address = self._job.allocate(max(count * kind.itemsize, 1))
        held = (ctypes.c_byte * (count * kind.itemsize)).from_address(address)
        weakref.finalize(held, self._job.free, address)
        return np.frombuffer(held, dtype=kind, count=count).reshape(shape)

    def run(self, plan: Plan, array: np.ndarray[Any, Any], out: np.ndarray[Any, Any] | None = None, *, op: str = "sum", engine: str = "pieces") -> None:
        """Calls the plan with this rank's array: in place, where it is the larger of the two buffers, or with the output in `out`. All processes call it
        alike.

        Arrays of `empty` are worked on where they are; others are copied piece by piece. The engine "streams" needs shared ones.
        """
        for each in (array,) if out is None else (array, out):
            self._check(each)
        if out is not None and out.dtype != array.dtype:
            raise InputError(f"expected an output of {array.dtype.name}, found {out.dtype.name}")
        changed = array if out is None else out
        if not changed.flags.writeable:
            raise InputError("the array that would be changed is read-only")
        self._job.run(self._number_of(plan), array.ctypes.data, array.size, None if out is None else out.ctypes.data, 0 if out is None else out.size,
                      array.dtype.name.replace("bfloat16", "bf16"), op, engine)

    def barrier(self) -> None:
        """Waits for all processes."""
        self._job.meet()

    def _number_of(self, plan: Plan) -> int:
        """Read and judged once; the plan is kept, so that its id stays its own."""
        if id(plan) not in self._loaded:
            plan.verdict.check()
            with scratch_folder(len(plan.text)) as folder:
                self._loaded[id(plan)] = (plan, self._job.load(plan.file_in(folder)))
        return self._loaded[id(plan)][1]

    @staticmethod
    def _check(array: Any) -> None:
        if not isinstance(array, np.ndarray) or array.dtype.name not in _TYPES:
            raise InputError(f"expected a numpy array of {', '.join(_TYPES)}, found {getattr(array, 'dtype', type(array).__name__)}")
        if not array.flags.c_contiguous or not array.flags.aligned or not array.dtype.isnative:
            raise InputError("expected a contiguous array with this machine's byte order; np.ascontiguousarray makes a copy that is")


def shared(job: str, rank: int, size: int, *, timeout: float = 60.0) -> Shared:
    """Joins the job as process `rank` of `size`, and returns when all are there.

    The processes are of one user on one machine, started by anybody; each is one rank. They find each other by the name of the job. If one of them ends, the
    calls of the others raise `tutti.Error`; nothing that they share outlives them.
    """
    return Shared(job, rank, size, timeout)

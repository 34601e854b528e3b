"""Schedules: sends as columns of numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tutti import _core
from tutti.files import PathLike
from tutti.instances import Instance, InstanceLike, instance as instance_of

COPY, REDUCE = 0, 1
_ANY = 1 << 32


@dataclass(frozen=True, eq=False)
class Schedule:
    """Who sends what when: one send for each position of the four arrays, which cannot be written to.

    `chunk` and `link` are numbers of the instance's, `start` is in ticks, `op` is 0 where the send replaces what the receiver has and 1 where it is added.
    `Schedule.of` makes one of any arrays.
    """

    chunk: NDArray[np.uint32]
    link: NDArray[np.uint32]
    start: NDArray[np.int64]
    op: NDArray[np.uint8]
    makespan: int
    instance_name: str = ""

    def __post_init__(self) -> None:
        for column in (self.chunk, self.link, self.start, self.op):
            column.setflags(write=False)

    @staticmethod
    def of(chunk: ArrayLike, link: ArrayLike, start: ArrayLike, op: ArrayLike | None = None, *, makespan: int, instance_name: str = "") -> Schedule:
        """From lists or arrays of numbers; without `op` all sends are copies."""
        chunks = np.array(chunk, dtype=np.uint32)
        ops = np.zeros(len(chunks), dtype=np.uint8) if op is None else np.array(op, dtype=np.uint8)
        return Schedule(chunks, np.array(link, dtype=np.uint32), np.array(start, dtype=np.int64), ops, int(makespan), instance_name)

    @staticmethod
    def load(path: PathLike, instance: InstanceLike | None = None) -> Schedule:
        """From a file of tutti's own. One in generator form needs its instance, and is written out."""
        core = None if instance is None else instance_of(instance).core
        name, makespan, chunk, link, start, op = _core.read_schedule(os.fspath(path), core)
        return Schedule(chunk, link, start, op, makespan, name)

    def __len__(self) -> int:
        return len(self.chunk)

    def save(self, path: PathLike, instance: Instance | None = None) -> None:
        """As JSON, or as a compact stream if the path ends in .tsch; a stream records the sizes of its instance, so that one is needed."""
        if instance is None and str(os.fspath(path)).endswith(".tsch"):
            raise ValueError("expected the instance too: a stream (.tsch) records how many chunks and links it has")
        chunks = _ANY if instance is None else instance.chunks
        links = _ANY if instance is None else len(instance.topology.links)
        _core.write_schedule(os.fspath(path), self.instance_name or (instance.name if instance else ""), self.makespan, self.chunk, self.link, self.start,
                             self.op, chunks, links)

    def file_in(self, folder: Path) -> str:
        """A file with it, for calls that take one."""
        file = folder / "a.schedule.json"
        self.save(file)
        return str(file)

    def __repr__(self) -> str:
        return f"<Schedule of {len(self)} sends, makespan {self.makespan} ticks>"

"""Operations as a program asks for them, and as they go into the plan."""

import os
import sys
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Callable, Optional

from .types import Chunk, ReduceOperationType, SyncType

_HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass(frozen=True)
class Operand:
    """Neighbouring chunks: of a buffer of this rank ("i", "o", "s"), of a remote buffer ("buffer_id"), or of all ranks of a switch channel ("switch_channel_id");
    the latter two by their number in the thread block. `buffer` is the kind of buffer that it lies in."""

    where: str
    buffer: str
    index: int
    size: int
    number: int = 0

    def part(self, start: int, stop: int) -> "Operand":
        return replace(self, index=self.index + start, size=stop - start)

    def json(self, place: "Place") -> dict[str, Any]:
        memory = {self.where: self.number} if self.where.endswith("_id") else {"type": self.where}
        return {**memory, "index": place(self), "size": self.size}


Place = Callable[[Operand], int]
"""The first chunk of an operand in one of the instances."""


def local(chunk: Chunk) -> Operand:
    return Operand(chunk.buffer.value, chunk.buffer.value, chunk.index, chunk.size)


@dataclass
class Operation:
    name: str
    place: str = ""  # the line of the program
    sources: list[Operand] = field(default_factory=list)
    targets: list[Operand] = field(default_factory=list)
    channels: list[int] = field(default_factory=list)  # by their number in the thread block
    channel_type: str = ""
    semaphores: list[int] = field(default_factory=list)
    barrier: tuple[int, int] = (0, 0)  # its number; the thread blocks that come to it
    sync: SyncType = SyncType.none
    reduce_op: Optional[ReduceOperationType] = None
    group: Optional[tuple[int, int]] = None  # part k of n
    rounds: tuple[int, int] = (0, 0)  # of a pipeline: bytes, chunks
    body: list["Operation"] = field(default_factory=list)

    def with_(self, **changes: Any) -> "Operation":
        return replace(self, **changes)

    def json(self, place: Place, number: Callable[[int], int]) -> dict[str, Any]:
        """With places and numbers as they are in one of the instances."""
        made: dict[str, Any] = {"name": self.name}
        if self.sources or self.targets:
            made["src_buff"] = [operand.json(place) for operand in self.sources]
            made["dst_buff"] = [operand.json(place) for operand in self.targets]
        if self.channels:
            made["channel_ids"] = self.channels
        if self.channel_type:
            made["channel_type"] = self.channel_type
        if self.reduce_op is not None:
            made["reduce_op"] = self.reduce_op.value
        if self.group is not None:
            made["tbg_info"] = {"tb_id": self.group[0], "tbg_size": self.group[1]}
        if self.name == "barrier":
            made["barrier_id"] = number(self.barrier[0])
            made["num_threadblocks"] = self.barrier[1]
        if self.semaphores:
            made["semaphore_ids"] = [number(semaphore) for semaphore in self.semaphores]
        if self.name == "pipeline":
            made["iter_context"] = {"unit_size": self.rounds[0], "num_chunks": self.rounds[1]}
            made["ops"] = [operation.json(place, number) for operation in self.body]
        return made


def place_of_call() -> str:
    """The line of the program that called: "prog.py:12"."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return f"{_file(frame.f_code.co_filename)}:{frame.f_lineno}"


@lru_cache(maxsize=None)
def _file(path: str) -> str:
    return os.path.relpath(path) if os.path.isabs(path) else path

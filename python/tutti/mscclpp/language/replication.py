"""Instances: copies of a program that share the data, each on thread blocks and channels of its own.

With m instances a chunk of the program is m chunks of the plan. The DSL gives instance i of the range [first, first + size) the chunks from first·m + i·size on
(`interleaved`). That is right where all ranges of a buffer are the same or apart: the instances of a range then are parts of what the range is. Where a program uses
[0:2] as well as [0:1], the instances of one would use the places of another instance of the other, and the plan would be wrong.

Such a program gets `Blocks`: the buffer is cut into the blocks within which chunks have one origin and one destination (of an all-gather one rank's share, of an
all-reduce everything), and instance i has the i-th part of each block of the plan, in the program's order. Any ranges within a block fit; one that
crosses from block to block is done in pieces first. Each piece is one operation more, so this is for programs that need it.
"""

from collections.abc import Iterable, Iterator
from typing import Callable, Protocol

from .operations import Operand, Operation

Number = Callable[[int], int]


class Placement(Protocol):
    """Where an instance has a range of the program."""

    def place(self, operand: Operand, instance: int, instances: int) -> int: ...


class Interleaved:
    def place(self, operand: Operand, instance: int, instances: int) -> int:
        return operand.index * instances + instance * operand.size


class AsWritten:
    def place(self, operand: Operand, instance: int, instances: int) -> int:
        return operand.index


class Blocks:
    def __init__(self, lengths: dict[str, int]) -> None:
        self.lengths = {buffer: max(length, 1) for buffer, length in lengths.items()}

    def place(self, operand: Operand, instance: int, instances: int) -> int:
        length = self.lengths[operand.buffer]
        block, within = divmod(operand.index, length)
        return (block * instances + instance) * length + within

    def pieces(self, operations: Iterable[Operation]) -> Iterator[Operation]:
        """The operations, none of which crosses from block to block."""
        for operation in operations:
            if operation.body:
                yield operation.with_(body=list(self.pieces(operation.body)))
                continue
            ranges = operation.sources + operation.targets
            if not ranges:
                yield operation
                continue
            cuts = sorted({0, ranges[0].size} | {cut for operand in ranges for cut in self._cuts(operand)})
            for start, stop in zip(cuts, cuts[1:]):
                last = stop == ranges[0].size
                # The signal of a put comes with its last piece.
                name = operation.name if last or operation.name not in ("pws", "pwsf") else "put"
                yield operation.with_(name=name, sources=[operand.part(start, stop) for operand in operation.sources],
                                      targets=[operand.part(start, stop) for operand in operation.targets])
            if len(cuts) < 2:
                yield operation

    def _cuts(self, operand: Operand) -> Iterable[int]:
        length = self.lengths[operand.buffer]
        first = length - operand.index % length
        return range(first, operand.size, length)


def mixes_ranges(operations: Iterable[Operation]) -> bool:
    """Whether two ranges of a buffer overlap and are not the same."""
    ranges: set[tuple[str, int, int]] = set()
    for operation in operations:
        for inner in operation.body or [operation]:
            ranges.update((operand.buffer, operand.index, operand.size) for operand in inner.sources + inner.targets)
    last = ("", 0, 0)
    for found in sorted(ranges):
        if found[0] == last[0] and found[1] < last[1] + last[2]:
            return True
        last = found
    return False

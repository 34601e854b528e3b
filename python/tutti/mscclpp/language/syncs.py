"""Where the threads of a block wait for each other: `nop`.

The executor shares out an operation among the threads of its block, and nothing makes these wait for each other but `nop`, `barrier` and what has a sync of its own.
`with_asked_syncs` writes down the syncs that the program asked for. `with_needed_syncs` adds one before an operation that uses a place which, since the last sync,
another operation of the block used, one of the two writing it. Only places of this rank count, packets do not (whoever reads one waits for it). Near-linear: the
places since the last sync are kept as ranges that do not overlap.
"""

from bisect import bisect_left
from typing import Iterator

from .fusion import SYNCED, ends_synced, starts_synced
from .operations import Operand, Operation
from .types import SyncType

_PACKET_SOURCES = frozenset({"upkt", "rppkt", "gstorepkt"})
_PACKET_SUMS = frozenset({"repkt", "respkt", "recpkt", "recspkt"})


def with_asked_syncs(operations: list[Operation]) -> list[Operation]:
    made: list[Operation] = []
    for operation in operations:
        if operation.name == "pipeline":
            operation = operation.with_(body=with_asked_syncs(operation.body))
        nop = Operation("nop", operation.place)
        synced = operation.name in SYNCED
        if synced and operation.sync & SyncType.before is SyncType.before:
            made.append(nop)
        made.append(operation)
        if synced and operation.sync & SyncType.after is SyncType.after:
            made.append(nop)
    return made


def with_needed_syncs(operations: list[Operation]) -> list[Operation]:
    made: list[Operation] = []
    used = _Used()
    for operation in operations:
        if operation.name in ("nop", "barrier"):
            used = _Used()
        else:
            if operation.name == "pipeline":
                operation = operation.with_(body=with_needed_syncs(operation.body))
                if starts_synced(operation):
                    used = _Used()
            uses = list(_local_uses(operation))
            if any(used.conflicts(operand, writes) for operand, writes in uses):
                made.append(Operation("nop", operation.place))
                used = _Used()
            for operand, writes in uses:
                used.add(operand, writes)
            if operation.name == "pipeline" and ends_synced(operation):
                used = _Used()
        made.append(operation)
    return made


def _local_uses(operation: Operation) -> Iterator[tuple[Operand, bool]]:
    """The places of this rank that it uses, and whether it writes them."""
    for inner in operation.body:
        yield from _local_uses(inner)
    name = operation.name
    for position, operand in enumerate(operation.sources):
        packets = name in _PACKET_SOURCES or (name in _PACKET_SUMS and position > 0) or (name == "ppkt" and operation.channel_type == "port")
        if not operand.where.endswith("_id") and not packets:
            yield operand, False
    for position, operand in enumerate(operation.targets):
        packets = name == "cpkt" or (name in _PACKET_SUMS and position > 0)
        if not operand.where.endswith("_id") and not packets:
            yield operand, True


class _Used:
    """Ranges of places that were used since the last sync, by buffer: disjoint, sorted, and each either only read or also written."""

    def __init__(self) -> None:
        self._ranges: dict[str, list[tuple[int, int, bool]]] = {}

    def _overlapping(self, operand: Operand) -> tuple[int, int]:
        ranges = self._ranges.setdefault(operand.where, [])
        first = bisect_left(ranges, operand.index + 1, key=lambda r: r[1])
        end = first
        while end < len(ranges) and ranges[end][0] < operand.index + operand.size:
            end += 1
        return first, end

    def conflicts(self, operand: Operand, writes: bool) -> bool:
        first, end = self._overlapping(operand)
        return any(writes or written for _, _, written in self._ranges[operand.where][first:end])

    def add(self, operand: Operand, writes: bool) -> None:
        if operand.size == 0:
            return
        first, end = self._overlapping(operand)
        ranges = self._ranges[operand.where]
        start, stop = operand.index, operand.index + operand.size
        pieces: list[tuple[int, int, bool]] = []
        for low, high, written in ranges[first:end]:
            if low < start:
                pieces.append((low, start, written))
            if start < low:
                pieces.append((start, low, writes))
            pieces.append((max(low, start), min(high, stop), writes or written))
            start = min(high, stop)
            if high > stop:
                pieces.append((stop, high, written))
        if start < stop:
            pieces.append((start, stop, writes))
        ranges[first:end] = sorted(pieces)

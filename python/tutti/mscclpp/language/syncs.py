"""Where the threads of a block wait for each other: `nop`.

The executor shares out an operation among the threads of its block, and nothing makes these wait for each other but `nop`, `barrier` and what has a sync of its own.
`with_asked_syncs` writes down the syncs that the program asked for. `with_needed_syncs` adds one before an operation that uses a place which, since the last sync,
another operation of the block used, one of the two writing it. Only places of this rank count, packets do not (whoever reads one waits for it). Near-linear: the
places since the last sync are kept as ranges that do not overlap.

A sum into a range that was only read since, as exactly this range, needs none, as in the DSL: the same threads do the same bytes. That is not so for packets,
which are cut into other pieces.
"""

from bisect import bisect_left
from typing import Iterator, NamedTuple, Optional

from .fusion import SYNCED, ends_synced, starts_synced
from .operations import Operand, Operation
from .types import SyncType

_PACKET_SOURCES = frozenset({"upkt", "rppkt", "gstorepkt"})
_PLAIN = frozenset({"copy", "get", "re", "res", "rre", "rres"})  # and put on a memory channel
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
            if any(used.conflicts(use) for use in uses):
                made.append(Operation("nop", operation.place))
                used = _Used()
            for use in uses:
                used.add(use)
            if operation.name == "pipeline" and ends_synced(operation):
                used = _Used()
        made.append(operation)
    return made


_Share = tuple[int, int, Optional[tuple[int, int]]]
"""A range and the part of it that the thread block does: which threads do which bytes."""


class _Use(NamedTuple):
    operand: Operand
    writes: bool
    share: Optional[_Share] = None  # None: other threads may do the same bytes
    adds: bool = False  # reads what it writes


class _Range(NamedTuple):
    start: int
    stop: int
    written: bool
    share: Optional[_Share]  # of all the uses, if it is one


def _local_uses(operation: Operation) -> Iterator[_Use]:
    """The places of this rank that it uses."""
    for inner in operation.body:
        yield from _local_uses(inner)
    name = operation.name
    plain = name in _PLAIN or (name == "put" and operation.channel_type == "memory")

    def use(operand: Operand, writes: bool) -> _Use:
        return _Use(operand, writes, (operand.index, operand.size, operation.group) if plain else None, writes and operand in operation.sources)

    for position, operand in enumerate(operation.sources):
        packets = name in _PACKET_SOURCES or (name in _PACKET_SUMS and position > 0) or (name == "ppkt" and operation.channel_type == "port")
        if not operand.where.endswith("_id") and not packets:
            yield use(operand, False)
    for position, operand in enumerate(operation.targets):
        packets = name == "cpkt" or (name in _PACKET_SUMS and position > 0)
        if not operand.where.endswith("_id") and not packets:
            yield use(operand, True)


class _Used:
    """Ranges of places that were used since the last sync, by buffer: disjoint and sorted."""

    def __init__(self) -> None:
        self._ranges: dict[str, list[_Range]] = {}

    def _overlapping(self, operand: Operand) -> tuple[int, int]:
        ranges = self._ranges.setdefault(operand.where, [])
        first = bisect_left(ranges, operand.index + 1, key=lambda r: r.stop)
        end = first
        while end < len(ranges) and ranges[end].start < operand.index + operand.size:
            end += 1
        return first, end

    def conflicts(self, use: _Use) -> bool:
        first, end = self._overlapping(use.operand)
        for found in self._ranges[use.operand.where][first:end]:
            same_threads = use.adds and use.share is not None and use.share == found.share
            if found.written or (use.writes and not same_threads):
                return True
        return False

    def add(self, use: _Use) -> None:
        operand = use.operand
        if operand.size == 0:
            return
        first, end = self._overlapping(operand)
        ranges = self._ranges[operand.where]
        start, stop = operand.index, operand.index + operand.size
        pieces: list[_Range] = []
        for found in ranges[first:end]:
            if found.start < start:
                pieces.append(found._replace(stop=start))
            if start < found.start:
                pieces.append(_Range(start, found.start, use.writes, use.share))
            share = use.share if use.share == found.share else None
            pieces.append(_Range(max(found.start, start), min(found.stop, stop), use.writes or found.written, share))
            start = min(found.stop, stop)
            if found.stop > stop:
                pieces.append(found._replace(start=stop))
        if start < stop:
            pieces.append(_Range(start, stop, use.writes, use.share))
        ranges[first:end] = sorted(pieces, key=lambda r: r.start)

"""Neighbouring operations of a thread block that are one operation of MSCCL++, and syncs that another one makes superfluous.

A thread block's operations are looked at from the front: each one takes in the ones behind it as long as the two can be one. What can be one is what the executor
has an operation for: puts and gets of one kind and size; signals and waits on several channels; sums of more than two; a sum, and where it is put next ("res",
"rres", and the forms with packets); a load that adds up and the store behind it on one switch channel ("glres"). Of two syncs with nothing between them one goes.
The rules are those of the DSL, because programs are written to them: a sum into a third place that is followed by another one into it is one sum of all.
One pass; each operation is looked at once as the second one.
"""

from typing import Optional

from .operations import Operation
from .types import SyncType

SYNCED = frozenset({"signal", "wait", "rlxsignal", "rlxwait", "flush", "sem_acquire", "sem_release"})
_PUTS = frozenset({"put", "ppkt", "pws", "pwsf"})
_SENDING = {"re": "res", "res": "res", "rre": "rres", "rres": "rres"}
_SENDING_PACKETS = {"repkt": "respkt", "respkt": "respkt", "recpkt": "recspkt", "recspkt": "recspkt"}


def fused(operations: list[Operation]) -> list[Operation]:
    made: list[Operation] = []
    for operation in operations:
        if operation.name == "pipeline":
            operation = operation.with_(body=fused(operation.body))
        both = _fused(made[-1], operation) if made else None
        if both is not None:
            made[-1] = both
            continue
        if made:
            made[-1], operation = _without_double_sync(made[-1], operation)
        made.append(operation)
    return made


def starts_synced(operation: Operation) -> bool:
    if operation.name in ("nop", "barrier"):
        return True
    if operation.name == "pipeline":
        return bool(operation.body) and starts_synced(operation.body[0])
    return operation.sync & SyncType.before is SyncType.before


def ends_synced(operation: Operation) -> bool:
    if operation.name in ("nop", "barrier"):
        return True
    if operation.name == "pipeline":
        return bool(operation.body) and ends_synced(operation.body[-1])
    return operation.sync & SyncType.after is SyncType.after


def _without_double_sync(first: Operation, second: Operation) -> tuple[Operation, Operation]:
    """Of the sync after the first and the one before the second, one is left."""
    if first.name in SYNCED:
        if starts_synced(second):
            first = first.with_(sync=first.sync & SyncType.before)
    elif ends_synced(first) and second.name in SYNCED:
        second = second.with_(sync=second.sync & SyncType.after)
    return first, second


def _fused(first: Operation, second: Operation) -> Optional[Operation]:
    """The one operation that does both, if there is one."""
    a, b = first.name, second.name
    if b == "nop" and a not in SYNCED and ends_synced(first):
        return first
    if a == "nop" and b in ("barrier", "pipeline") and starts_synced(second):
        return second
    if a == b and a in SYNCED:
        return _both_synced(first, second)
    if first.group != second.group:
        return None
    if a == "glre" and b == "gstore":
        return _load_and_store(first, second)
    if a in _SENDING or a in _SENDING_PACKETS:
        return _sum_and_next(first, second)
    if a != b or first.channel_type != second.channel_type:
        return None
    channels = first.channels + second.channels
    if a == "rppkt" and first.sources == second.sources:
        return first.with_(targets=first.targets + second.targets, channels=channels)
    if (a in _PUTS or a == "get") and first.sources[0].size == second.sources[0].size:
        return first.with_(sources=first.sources + second.sources, targets=first.targets + second.targets, channels=channels)
    return None


def _both_synced(first: Operation, second: Operation) -> Optional[Operation]:
    if first.channel_type != second.channel_type:
        return None
    shared = set(first.channels) & set(second.channels)
    if first.name == "flush":
        return first.with_(channels=sorted(set(first.channels) | set(second.channels)), sync=first.sync | second.sync)
    if shared:
        return None
    return first.with_(channels=first.channels + second.channels, semaphores=first.semaphores + second.semaphores, sync=first.sync | second.sync)


def _load_and_store(first: Operation, second: Operation) -> Optional[Operation]:
    if first.targets != second.sources or first.sources[0].number != second.targets[0].number:
        return None
    return first.with_(name="glres", targets=second.targets)


def _sum_and_next(first: Operation, second: Operation) -> Optional[Operation]:
    a, b = first.name, second.name
    if a == b and a in ("re", "repkt", "rre"):
        same = (first.sources[0], first.targets, first.reduce_op) == (second.sources[0], second.targets, second.reduce_op)
        return first.with_(sources=first.sources + second.sources[1:]) if same else None
    if a == "repkt" and b == "cpkt" and first.targets[0] == second.sources[0]:
        return first.with_(name="recpkt", targets=first.targets + second.targets)
    if second.channel_type != "memory":
        return None
    sends = (a in _SENDING and b == "put" or a in _SENDING_PACKETS and b == "ppkt") and first.targets[0] == second.sources[0]
    sends_packets = a in ("recpkt", "recspkt") and b == "rppkt" and first.targets[1] == second.sources[0]
    if not sends and not sends_packets:
        return None
    return first.with_(name=_SENDING.get(a) or _SENDING_PACKETS[a], targets=first.targets + second.targets, channel_type="memory")

"""Words of the language: buffers, channels, syncs, chunks."""

from dataclasses import dataclass
from enum import Enum

from tutti.errors import ProgramError


class MisuseError(ProgramError, RuntimeError, ValueError):
    """A call that cannot be meant. A RuntimeError and a ValueError too, as programs may expect."""


class SyncType(Enum):
    """When the threads of the block wait for each other: before an operation, after it."""

    none = "none"
    before = "before"
    after = "after"
    both = "both"

    def __str__(self) -> str:
        return self.value

    def __or__(self, other: "SyncType") -> "SyncType":
        return _SYNCS[_SYNCS.index(self) | _SYNCS.index(other)]

    def __and__(self, other: "SyncType") -> "SyncType":
        return _SYNCS[_SYNCS.index(self) & _SYNCS.index(other)]

    def __xor__(self, other: "SyncType") -> "SyncType":
        return _SYNCS[_SYNCS.index(self) ^ _SYNCS.index(other)]


_SYNCS = [SyncType.none, SyncType.before, SyncType.after, SyncType.both]


def checked_sync(data_sync: object) -> SyncType:
    if not isinstance(data_sync, SyncType):
        raise MisuseError(f"expected a SyncType as data_sync, found {data_sync!r}")
    return data_sync


class ReduceOperationType(Enum):
    sum = "sum"
    min = "min"
    max = "max"

    def __str__(self) -> str:
        return self.value


class BufferType(Enum):
    input = "i"
    output = "o"
    scratch = "s"

    def __str__(self) -> str:
        return self.value


class ChannelType(Enum):
    port = "port"
    memory = "memory"
    switch = "switch"
    none = "none"

    def __str__(self) -> str:
        return self.value


class ReplicationPolicy(Enum):
    interleaved = "interleaved"
    none = "none"

    def __str__(self) -> str:
        return self.value


@dataclass(unsafe_hash=True)
class Chunk:
    """Neighbouring chunks of a buffer of a rank."""

    rank: int
    buffer: BufferType
    index: int
    size: int


@dataclass
class RankGroup:
    size: int
    ranks: list[int]


def whole(value: object, name: str, least: int, most: int) -> int:
    """A number that came from the program, as an int; numpy's are welcome."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        number = value.__index__()  # type: ignore[attr-defined]
    except AttributeError:
        raise MisuseError(f"expected a whole number as {name}, found {value!r}") from None
    if not least <= number <= most:
        raise MisuseError(f"expected {name} from {least} to {most}, found {number}")
    return int(number)

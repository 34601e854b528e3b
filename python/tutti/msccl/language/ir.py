"""Names that programs take from msccl-tools' language.ir."""

from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum

__all__ = ["Buffer", "ThreadblockPolicy", "ReplicationPolicy", "Instruction", "defaultdict", "dataclass", "field", "Enum"]


class _Named(Enum):
    __hash__ = object.__hash__  # not in Python: buffers are keys of what every verb looks up

    def __str__(self):
        return self.value


class Buffer(_Named):
    input = "i"
    output = "o"
    scratch = "s"

    def __lt__(self, other):
        return self.value < other.value


class ThreadblockPolicy(_Named):
    auto = "auto"
    manual = "manual"


class ReplicationPolicy(_Named):
    duplicated = "duplicated"
    interleaved = "interleaved"


class Instruction(_Named):
    nop = "nop"
    send = "s"
    recv = "r"
    recv_copy_send = "rcs"
    recv_reduce_send = "rrs"
    recv_reduce_copy = "rrc"
    recv_reduce_copy_send = "rrcs"
    copy = "cpy"
    reduce = "re"
    delete = "d"
    start = "st"

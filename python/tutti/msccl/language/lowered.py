"""A plan as the objects that `MSCCLProgram.lower` of msccl-tools returns: GPUs, their thread blocks, and these blocks' operations."""

import xml.etree.ElementTree
from dataclasses import dataclass

from .ir import Buffer, Instruction

__all__ = ["Lowered"]


@dataclass
class Place:
    buffer: Buffer
    index: int
    size: int


@dataclass
class Op:
    inst: Instruction
    rank: int
    src: Place
    dst: Place
    tb: int
    step: int
    depends: list


@dataclass
class Threadblock:
    id: int
    channel: int
    send: int
    recv: int
    ops: list


@dataclass
class Gpu:
    rank: int
    threadblocks: list


def _op(step, rank, block):
    def place(end):
        return Place(Buffer(step.get(f"{end}buf")), int(step.get(f"{end}off")), int(step.get("cnt")))
    waited = int(step.get("depid")), int(step.get("deps"))
    return Op(Instruction(step.get("type")), rank, place("src"), place("dst"), block, int(step.get("s")), [] if waited[0] < 0 else [waited])


def _threadblock(block, rank):
    number = int(block.get("id"))
    return Threadblock(number, int(block.get("chan")), int(block.get("send")), int(block.get("recv")), [_op(step, rank, number) for step in block.iter("step")])


class Lowered:
    def __init__(self, plan):
        algo = xml.etree.ElementTree.fromstring(plan)
        self.name, self.collective, self.protocol = algo.get("name"), algo.get("coll"), algo.get("proto")
        self.inplace = algo.get("inplace") == "1"
        self.gpus = [Gpu(int(gpu.get("id")), [_threadblock(block, int(gpu.get("id"))) for block in gpu.iter("tb")]) for gpu in algo.iter("gpu")]

"""Forgets the last copy of the ring."""
from msccl.language import *
from msccl.language.collectives import AllReduce
from msccl.topologies import fully_connected

with MSCCLProgram("short", fully_connected(3), AllReduce(3, 1, True), 1):
    x = chunk(0, Buffer.input, 0)
    x = chunk(1, Buffer.input, 0).reduce(x)
    x = chunk(2, Buffer.input, 0).reduce(x)
    x.copy(0, Buffer.input, 0)
    XML()

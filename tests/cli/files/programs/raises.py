from msccl.language import *
from msccl.language.collectives import AllReduce
from msccl.topologies import line

with MSCCLProgram("raises", line(3), AllReduce(3, 1, True), 1):
    chunk(0, Buffer.input, 0).copy(2, Buffer.input, 0)
    XML()

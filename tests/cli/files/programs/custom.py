"""Two collectives of our own, each with a plan: rank 0 tells everybody, then everybody tells rank 0 the sum."""
from msccl.language import *
from msccl.language.collectives import Collective
from msccl.topologies import fully_connected


class Tell(Collective):
    def init_buffers(self):
        return [{Buffer.input: [Chunk(r, 0) if r == 0 else None], Buffer.output: [None]} for r in range(self.num_ranks)]

    def check(self, prog):
        return all(prog.buffers[r][Buffer.output][0] == Chunk(0, 0) for r in range(1, self.num_ranks))


class Sum(Collective):
    def init_buffers(self):
        return [{Buffer.input: [Chunk(r, 0)], Buffer.output: [None]} for r in range(self.num_ranks)]

    def check(self, prog):
        return prog.buffers[0][Buffer.output][0] == ReduceChunk(0, [Chunk(r, 0) for r in range(self.num_ranks)])


with MSCCLProgram("tell", fully_connected(3), Tell(3, 1, False), 1):
    for r in (1, 2):
        chunk(0, Buffer.input, 0).copy(r, Buffer.output, 0, ch=r)
    XML()

with MSCCLProgram("sum", fully_connected(3), Sum(3, 1, False), 1):
    c = chunk(0, Buffer.input, 0).copy(0, Buffer.output, 0)
    for r in (1, 2):
        parked = chunk(r, Buffer.input, 0).copy(0, "parked")
        c.reduce(parked)
    assert Check()
    XML()

"""Collectives of chunk programs: what is in the buffers at first, and what must be at the end."""

from . import *
from .chunk import Chunk, ReduceChunk
from .ir import Buffer


class Collective:
    """A custom one is a subclass with init_buffers and check."""

    def __init__(self, num_ranks, chunk_factor, inplace):
        self.num_ranks = num_ranks
        self.chunk_factor = chunk_factor
        self.inplace = inplace
        self.name = "custom"

    def init_buffers(self):
        pass

    def check(self, prog):
        pass

    def get_buffer_index(self, rank, buffer, index):
        return buffer, index


class _Known(Collective):
    """One that tutti knows. `kind` is its name there."""

    kind = ""

    def _expected(self, rank, index):
        """What output[index] of a rank must hold: chunks, of which there may be one; None: anything."""
        raise NotImplementedError

    def _outputs(self):
        return self.chunk_factor

    def check(self, prog):
        correct = True
        for rank in range(self.num_ranks):
            for index in range(self._outputs()):
                expected = self._expected(rank, index)
                if expected is None:
                    continue
                buffer, place = self.get_buffer_index(rank, Buffer.output, index)
                found = prog.buffers[rank][buffer][place]
                chunks = found.chunks if isinstance(found, ReduceChunk) else [found] if found is not None else []
                if sorted(chunks) != sorted(expected):
                    print(f"Rank {rank} chunk {index} is incorrect: expected {expected}, given {found}")
                    correct = False
        return correct

    def _alike(self, inputs, outputs, wanted):
        """Buffers of every rank: `wanted(rank, index)` is where an input chunk shall end."""
        buffers = []
        for rank in range(self.num_ranks):
            input_ = [Chunk(rank, index, *wanted(rank, index)) for index in range(inputs)]
            buffers.append({Buffer.input: input_, Buffer.output: input_ if self.inplace else [None] * outputs})
        return buffers


class AllReduce(_Known):
    kind = "all_reduce"

    def __init__(self, num_ranks, chunk_factor, inplace):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "allreduce"

    def init_buffers(self):
        return self._alike(self.chunk_factor, self.chunk_factor, lambda rank, index: (-1, index))

    def get_buffer_index(self, rank, buffer, index):
        return (Buffer.input, index) if self.inplace and buffer == Buffer.output else (buffer, index)

    def _expected(self, rank, index):
        return [Chunk(r, index) for r in range(self.num_ranks)]


class AllToAll(_Known):
    kind = "all_to_all"

    def __init__(self, num_ranks, chunk_factor, inplace):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "alltoall"

    def _outputs(self):
        return self.num_ranks * self.chunk_factor

    def init_buffers(self):
        k = self.chunk_factor
        return self._alike(self._outputs(), self._outputs(), lambda rank, index: (index // k, index % k + rank * k))

    def _expected(self, rank, index):
        return [Chunk(index // self.chunk_factor, rank * self.chunk_factor + index % self.chunk_factor)]


class AllGather(_Known):
    kind = "all_gather"

    def __init__(self, num_ranks, chunk_factor, inplace):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "allgather"

    def _outputs(self):
        return self.num_ranks * self.chunk_factor

    def init_buffers(self):
        k, buffers = self.chunk_factor, []
        for rank in range(self.num_ranks):
            input_ = [Chunk(rank, index, -1, rank * k + index) for index in range(k)]
            output = [None] * self._outputs()
            if self.inplace:
                output[rank * k:(rank + 1) * k] = input_
            buffers.append({Buffer.input: input_, Buffer.output: output})
        return buffers

    def get_buffer_index(self, rank, buffer, index):
        if self.inplace and buffer == Buffer.input:
            return Buffer.output, index + rank * self.chunk_factor
        return buffer, index

    def _expected(self, rank, index):
        return [Chunk(index // self.chunk_factor, index % self.chunk_factor)]


class ReduceScatter(_Known):
    kind = "reduce_scatter"

    def __init__(self, num_ranks, chunk_factor, inplace):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "reduce_scatter"

    def init_buffers(self):
        k, buffers = self.chunk_factor, []
        for rank in range(self.num_ranks):
            input_ = [Chunk(rank, index, index // k, index % k) for index in range(self.num_ranks * k)]
            buffers.append({Buffer.input: input_} if self.inplace else {Buffer.input: input_, Buffer.output: [None] * k})
        return buffers

    def get_buffer_index(self, rank, buffer, index):
        if self.inplace and buffer == Buffer.output:
            return Buffer.input, index + rank * self.chunk_factor
        return buffer, index

    def _expected(self, rank, index):
        return [Chunk(r, rank * self.chunk_factor + index) for r in range(self.num_ranks)]


class Broadcast(_Known):
    kind = "broadcast"

    def __init__(self, num_ranks, chunk_factor, inplace, root=0):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "broadcast"
        self.root = root

    def init_buffers(self):
        buffers = []
        for rank in range(self.num_ranks):
            input_ = [Chunk(rank, index, -1, index) if rank == self.root else None for index in range(self.chunk_factor)]
            buffers.append({Buffer.input: input_, Buffer.output: input_ if self.inplace else [None] * self.chunk_factor})
        return buffers

    def get_buffer_index(self, rank, buffer, index):
        return (Buffer.input, index) if self.inplace and buffer == Buffer.output else (buffer, index)

    def _expected(self, rank, index):
        return [Chunk(self.root, index)]

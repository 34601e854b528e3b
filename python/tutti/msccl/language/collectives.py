"""Collectives of chunk programs: what is in the buffers at first, and what must be at the end."""

import functools

from . import *
from .chunk import Chunk, ReduceChunk
from .ir import Buffer

_MOST_TOLD = 8  # wrong chunks that Check() prints


class _All:
    def __contains__(self, buffer):
        return True


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

    def renamed_buffers(self):
        """The buffers for which get_buffer_index has to be asked; one that a program has written may do anything."""
        owner = next(one for one in type(self).__mro__ if "get_buffer_index" in vars(one))
        if owner is Collective:
            return ()
        renamed = vars(owner).get("renamed")
        return _All() if renamed is None else (renamed,) if self.inplace else ()


class _Known(Collective):
    """One that tutti knows. `kind` is its name there, `renamed` the buffer that get_buffer_index renames in place."""

    kind = ""

    def _expected(self, rank, index):
        """The chunk that output[index] of a rank must hold, as the rank and index of its origin. Rank None: the sum of that chunk of all ranks."""
        raise NotImplementedError

    def _outputs(self):
        return self.chunk_factor

    def _word(self, rank, index):
        """For sums: equal words mean equal chunks, and sums of different chunks are different but for a chance of some 2^-100."""
        if rank is None:
            return sum(self._word(rank, index) for rank in range(self.num_ranks))
        return hash((rank, index)) << 64 ^ hash((index, rank, index))

    def _sums(self, verbs):
        """What is in the places after these verbs, as sums of words; 0: nothing."""
        word = functools.lru_cache(maxsize=None)(self._word)
        sums = []
        for buffers in self.init_buffers():
            lists = {id(values): [0 if value is None else word(value.origin_rank, value.origin_index) for value in values] for values in buffers.values()}
            sums.append({buffer: lists[id(values)] for buffer, values in buffers.items()})
        for reduces, source, target in verbs:
            from_ = sums[source.rank].setdefault(source.buffer, [])
            to = sums[target.rank].setdefault(target.buffer, [])
            first, into = source.index, target.index
            for i in range(target.size):
                value = from_[first + i] if first + i < len(from_) else 0
                if into + i >= len(to):
                    to += [0] * (into + i + 1 - len(to))
                to[into + i] = to[into + i] + value if reduces else value
        return sums

    def check(self, prog):
        sums, word, wrong = self._sums(prog.verbs()), functools.lru_cache(maxsize=None)(self._word), 0
        for rank in range(self.num_ranks):
            for index in range(self._outputs()):
                expected = self._expected(rank, index)
                buffer, place = self.get_buffer_index(rank, Buffer.output, index)
                if sums[rank][buffer][place] == word(*expected):
                    continue
                wrong += 1
                if wrong <= _MOST_TOLD:
                    found = prog.buffers[rank][buffer][place]
                    chunks = [Chunk(r, expected[1]) for r in (range(self.num_ranks) if expected[0] is None else expected[:1])]
                    print(f"Rank {rank} chunk {index} is incorrect: expected {chunks}, given {found}")
        if wrong > _MOST_TOLD:
            print(f"and {wrong - _MOST_TOLD} more chunks are incorrect")
        return wrong == 0

    def _alike(self, inputs, outputs, wanted):
        """Buffers of every rank: `wanted(rank, index)` is where an input chunk shall end."""
        buffers = []
        for rank in range(self.num_ranks):
            input_ = [Chunk(rank, index, *wanted(rank, index)) for index in range(inputs)]
            buffers.append({Buffer.input: input_, Buffer.output: input_ if self.inplace else [None] * outputs})
        return buffers


class AllReduce(_Known):
    kind = "all_reduce"
    renamed = Buffer.output

    def __init__(self, num_ranks, chunk_factor, inplace):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "allreduce"

    def init_buffers(self):
        return self._alike(self.chunk_factor, self.chunk_factor, lambda rank, index: (-1, index))

    def get_buffer_index(self, rank, buffer, index):
        return (Buffer.input, index) if self.inplace and buffer == Buffer.output else (buffer, index)

    def _expected(self, rank, index):
        return None, index


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
        return index // self.chunk_factor, rank * self.chunk_factor + index % self.chunk_factor


class AllGather(_Known):
    kind = "all_gather"
    renamed = Buffer.input

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
        return index // self.chunk_factor, index % self.chunk_factor


class ReduceScatter(_Known):
    kind = "reduce_scatter"
    renamed = Buffer.output

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
        return None, rank * self.chunk_factor + index


class Broadcast(_Known):
    kind = "broadcast"
    renamed = Buffer.output

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
        return self.root, index

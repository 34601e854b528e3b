"""What the ranks want: the sizes of their buffers and, by the name, what these hold in the end. `tutti verify` knows the names."""

from .rank import BaseBuffer
from .types import BufferType, whole

__all__ = ["Collective", "TestCollective", "AllGather", "AllReduce", "ReduceScatter", "AllToAll", "SendRecv", "BaseBuffer", "BufferType"]

Buffers = list[dict[BufferType, BaseBuffer]]


class Collective:
    """A collective that only the program knows, unless a subclass says more: its plan is checked for deadlocks and races, not for values."""

    def __init__(self, num_ranks: int, chunk_factor: int, inplace: bool) -> None:
        self.num_ranks = whole(num_ranks, "the number of ranks", 1, 65536)
        self.chunk_factor = whole(chunk_factor, "the chunk factor", 0, 1 << 24)
        self.inplace = inplace
        self.name = "custom"

    def init_buffers(self) -> Buffers:
        return self.buffers_of(self.chunk_factor, self.chunk_factor)

    def check(self, prog: object) -> bool | None:
        return None

    def buffers_of(self, inputs: int, outputs: int) -> Buffers:
        return [{BufferType.input: BaseBuffer(rank, BufferType.input, 0, inputs), BufferType.output: BaseBuffer(rank, BufferType.output, 0, outputs)}
                for rank in range(self.num_ranks)]


class TestCollective(Collective):
    """Buffers of any sizes, and nothing that they must hold."""

    __test__ = False  # pytest: this is no test

    def __init__(self, num_ranks: int, input_size: int, output_size: int) -> None:
        super().__init__(num_ranks, 1, False)
        self.name = "test"
        self.input_size = whole(input_size, "the input's size", 0, 1 << 24)
        self.output_size = whole(output_size, "the output's size", 0, 1 << 24)

    def init_buffers(self) -> Buffers:
        return self.buffers_of(self.input_size, self.output_size)


class AllGather(Collective):
    def __init__(self, num_ranks: int, chunk_factor: int, inplace: bool) -> None:
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "allgather"

    def init_buffers(self) -> Buffers:
        return self.buffers_of(self.chunk_factor, self.num_ranks * self.chunk_factor)


class AllReduce(Collective):
    def __init__(self, num_ranks: int, chunk_factor: int, inplace: bool) -> None:
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "allreduce"

    def init_buffers(self) -> Buffers:
        return self.buffers_of(self.num_ranks * self.chunk_factor, self.num_ranks * self.chunk_factor)


class ReduceScatter(Collective):
    def __init__(self, num_ranks: int, chunk_factor: int, inplace: bool) -> None:
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "reducescatter"

    def init_buffers(self) -> Buffers:
        return self.buffers_of(self.num_ranks * self.chunk_factor, self.chunk_factor)


class AllToAll(Collective):
    def __init__(self, num_ranks: int, chunk_factor: int, inplace: bool) -> None:
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "alltoall"

    def init_buffers(self) -> Buffers:
        return self.buffers_of(self.num_ranks * self.chunk_factor, self.num_ranks * self.chunk_factor)


class SendRecv(Collective):
    def __init__(self, num_ranks: int, chunk_factor: int, inplace: bool) -> None:
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "sendrecv"

"""What a rank does by itself: copies, sums, barriers, semaphores; and its buffers."""

from typing import Optional

from . import core as _core
from .operations import Operation, local, place_of_call
from .thread_block_group import ThreadBlockGroup, shares
from .types import BufferType, Chunk, MisuseError, ReduceOperationType, SyncType, checked_sync, whole

__all__ = ["Rank", "BaseBuffer", "Buffer", "Semaphore", "ThreadBlockGroup", "BufferType", "Chunk", "SyncType", "ReduceOperationType"]


class BaseBuffer:
    """A buffer of a rank; slices of it are chunks. `offset` is where it begins in the rank's memory of its type, `size` where it ends."""

    def __init__(self, rank: int, buffer_type: BufferType, offset: int, size: int) -> None:
        self.rank = rank
        self.buffer_type = buffer_type
        self.offset = offset
        self.size = offset + size

    def __len__(self) -> int:
        return self.size - self.offset

    def __getitem__(self, key: slice) -> Chunk:
        if not isinstance(key, slice):
            raise MisuseError(f"expected a slice of the buffer as in buffer[0:1], found {key!r}")
        if key.step is not None and key.step != 1:
            raise MisuseError(f"expected neighbouring chunks, found the step {key.step}")
        chunks = len(self)
        start = 0 if key.start is None else whole(key.start, "the first chunk", 0, 1 << 40)
        stop = chunks if key.stop is None else whole(key.stop, "the end of the chunks", 0, 1 << 40)
        if start > stop or stop > chunks:
            name = self.buffer_type.name
            raise MisuseError(f"chunks [{start}:{stop}] are not in the {name} buffer of rank {self.rank}, which has {chunks}")
        return Chunk(self.rank, self.buffer_type, self.offset + start, stop - start)


class Buffer(BaseBuffer):
    """Scratch memory of a rank."""

    def __init__(self, rank: int, size: int) -> None:
        program = _core.get_program()
        rank = program.checked_rank(rank)
        chunks = whole(size, "the size of a buffer", 0, 1 << 24)
        super().__init__(rank, BufferType.scratch, program.gpus[rank].scratch_chunks, chunks)
        program.gpus[rank].scratch_chunks += chunks


class Rank:
    def __init__(self, rank: int) -> None:
        self.rank = _core.get_program().checked_rank(rank)

    def __repr__(self) -> str:
        return f"Rank(rank={self.rank})"

    def get_input_buffer(self) -> BaseBuffer:
        return _core.get_program().buffers[self.rank][BufferType.input]

    def get_output_buffer(self) -> BaseBuffer:
        return _core.get_program().buffers[self.rank][BufferType.output]

    def _check(self, *chunks: Chunk) -> None:
        for chunk in chunks:
            if chunk.rank != self.rank:
                raise MisuseError(f"expected chunks of rank {self.rank}, found one of rank {chunk.rank}")
            if chunk.size != chunks[0].size:
                raise MisuseError(f"expected chunks of one size, found {chunks[0].size} and {chunk.size}")

    def _copy(self, name: str, dst: Chunk, src: Chunk, tb: Optional[int], tb_group: Optional[ThreadBlockGroup]) -> None:
        self._check(dst, src)
        place = place_of_call()
        for block, part in shares(tb, tb_group):
            _core.get_program().add(self.rank, block, Operation(name, place, [local(src)], [local(dst)], group=part))

    def copy(self, dst_chunk: Chunk, src_chunk: Chunk, tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None) -> None:
        self._copy("copy", dst_chunk, src_chunk, tb, tb_group)

    def unpack_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None) -> None:
        expect_scratch(src_chunk)
        self._copy("upkt", dst_chunk, src_chunk, tb, tb_group)

    def copy_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None) -> None:
        expect_scratch(dst_chunk)
        self._copy("cpkt", dst_chunk, src_chunk, tb, tb_group)

    unpack_packet = unpack_packets
    copy_packet = copy_packets

    def reduce(self, src_chunk: Chunk, other_chunks: list[Chunk], tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None,
               dst_chunk: Optional[Chunk] = None, reduce_op: ReduceOperationType = ReduceOperationType.sum, packet: bool = False) -> None:
        target = src_chunk if dst_chunk is None else dst_chunk
        others = list(other_chunks)
        if not others:
            raise MisuseError("expected chunks to add, found none")
        self._check(src_chunk, target, *others)
        if packet:
            for chunk in others:
                expect_scratch(chunk)
        place = place_of_call()
        for block, part in shares(tb, tb_group):
            _core.get_program().add(self.rank, block, Operation("repkt" if packet else "re", place, [local(chunk) for chunk in [src_chunk, *others]], [local(target)],
                                                                   reduce_op=reduce_op, group=part))

    def barrier(self, tb_list: list[int]) -> None:
        blocks = [whole(tb, "a thread block", 0, 65535) for tb in tb_list]
        if not blocks:
            raise MisuseError("expected thread blocks that wait for each other, found none")
        place = place_of_call()
        program = _core.get_program()
        if len(blocks) == 1:
            program.add(self.rank, blocks[0], Operation("nop", place))
            return
        number = program.gpus[self.rank].barrier_number(tuple(blocks))
        for block in blocks:
            program.add(self.rank, block, Operation("barrier", place, barrier=(number, len(blocks))))


class Semaphore:
    """A counter of a rank by which its thread blocks wait for each other."""

    def __init__(self, rank: int, initial_value: int) -> None:
        program = _core.get_program()
        self.rank = program.checked_rank(rank)
        self.initial_value = whole(initial_value, "the initial value", 0, 2**31 - 1)
        semaphores = program.gpus[self.rank].semaphores
        self.id = len(semaphores)
        semaphores.append(self.initial_value)

    def acquire(self, tb: int, data_sync: SyncType = SyncType.both) -> None:
        self._add("sem_acquire", tb, data_sync)

    def release(self, tb: int, data_sync: SyncType = SyncType.both) -> None:
        self._add("sem_release", tb, data_sync)

    def _add(self, name: str, tb: int, data_sync: SyncType) -> None:
        for block, _ in shares(tb, None):
            _core.get_program().add(self.rank, block, Operation(name, place_of_call(), semaphores=[self.id], sync=checked_sync(data_sync)))


def expect_scratch(chunk: Chunk) -> None:
    if chunk.buffer is not BufferType.scratch:
        raise MisuseError(f"expected packets in a scratch buffer, found the {chunk.buffer.name} buffer of rank {chunk.rank}")

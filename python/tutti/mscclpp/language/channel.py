"""What ranks do to each other: puts, gets and sums over channels, signals and waits."""

from typing import Optional

from . import core as _core
from .operations import Operand, Operation, local, place_of_call
from .rank import expect_scratch
from .thread_block_group import ThreadBlockGroup, shares
from .types import BufferType, ChannelType, Chunk, MisuseError, RankGroup, ReduceOperationType, SyncType, checked_sync

__all__ = ["MemoryChannel", "PortChannel", "SwitchChannel", "ThreadBlockGroup", "BufferType", "ChannelType", "Chunk", "RankGroup", "ReduceOperationType", "SyncType"]


class _PairChannel:
    """From one rank to another one."""

    channel_type = ChannelType.none

    def __init__(self, dst_rank: int, src_rank: int) -> None:
        program = _core.get_program()
        self.dst_rank = program.checked_rank(dst_rank)
        self.src_rank = program.checked_rank(src_rank)
        self.channel_id = program.gpus[self.src_rank].add_channel(self.channel_type, self.dst_rank)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dst_rank={self.dst_rank}, src_rank={self.src_rank})"

    def _check(self, near: Chunk, far: list[Chunk]) -> None:
        if near.rank != self.src_rank:
            raise MisuseError(f"expected a chunk of rank {self.src_rank} at this end of the channel, found one of rank {near.rank}")
        for chunk in far:
            if chunk.rank != self.dst_rank:
                raise MisuseError(f"expected a chunk of rank {self.dst_rank} at the other end of the channel, found one of rank {chunk.rank}")
            if chunk.size != near.size:
                raise MisuseError(f"expected chunks of one size, found {near.size} and {chunk.size}")

    def _number(self, block: int) -> int:
        return _core.get_program().gpus[self.src_rank].block(block).channel(self.channel_type, self.channel_id)

    def _remote(self, block: int, chunk: Chunk) -> Operand:
        number = _core.get_program().gpus[self.src_rank].remote_buffer(block, chunk, self.channel_type)
        return Operand("buffer_id", chunk.buffer.value, chunk.index, chunk.size, number)

    def _add(self, block: int, operation: Operation) -> None:
        _core.get_program().add(self.src_rank, block, operation)

    def _synced(self, name: str, tb: int, data_sync: SyncType, relaxed: bool = False) -> None:
        for block, _ in shares(tb, None):
            operation = Operation("rlx" + name if relaxed else name, place_of_call(), channels=[self._number(block)], channel_type=self.channel_type.value, sync=checked_sync(data_sync))
            self._add(block, operation)
            if name != "flush":
                _core.get_program().count_signal(name == "wait", self.src_rank, self.dst_rank, self.channel_type, operation.place)

    def _put(self, name: str, dst: Chunk, src: Chunk, tb: Optional[int], tb_group: Optional[ThreadBlockGroup]) -> None:
        self._check(src, [dst])
        place = place_of_call()
        port = self.channel_type is ChannelType.port
        for block, part in shares(tb, tb_group):
            number = self._number(block)
            self._add(block, Operation(name, place, [local(src)], [self._remote(block, dst)], [number] if port else [], self.channel_type.value, group=part))
            if name in ("pws", "pwsf"):
                _core.get_program().count_signal(False, self.src_rank, self.dst_rank, self.channel_type, place)


class MemoryChannel(_PairChannel):
    """Memory of the other rank, read and written in place."""

    channel_type = ChannelType.memory

    def signal(self, tb: int, data_sync: SyncType = SyncType.both, relaxed: bool = False) -> None:
        self._synced("signal", tb, data_sync, relaxed)

    def wait(self, tb: int, data_sync: SyncType = SyncType.both, relaxed: bool = False) -> None:
        self._synced("wait", tb, data_sync, relaxed)

    def put(self, dst_chunk: Chunk, src_chunk: Chunk, tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None) -> None:
        self._put("put", dst_chunk, src_chunk, tb, tb_group)

    def get(self, dst_chunk: Chunk, src_chunk: Chunk, tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None) -> None:
        self._check(dst_chunk, [src_chunk])
        place = place_of_call()
        for block, part in shares(tb, tb_group):
            number = self._number(block)
            self._add(block, Operation("get", place, [self._remote(block, src_chunk)], [local(dst_chunk)], [number], "memory", group=part))

    def put_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None) -> None:
        expect_scratch(dst_chunk)
        self._put("ppkt", dst_chunk, src_chunk, tb, tb_group)

    def read_put_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None) -> None:
        expect_scratch(src_chunk)
        expect_scratch(dst_chunk)
        self._put("rppkt", dst_chunk, src_chunk, tb, tb_group)

    put_packet = put_packets
    read_put_packet = read_put_packets

    def reduce(self, local_src_chunk: Chunk, remote_src_chunks: list[Chunk], tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None,
               local_dst_chunk: Optional[Chunk] = None, reduce_op: ReduceOperationType = ReduceOperationType.sum) -> None:
        target = local_src_chunk if local_dst_chunk is None else local_dst_chunk
        others = list(remote_src_chunks)
        self._check(local_src_chunk, others)
        self._check(target, others)
        if not others:
            raise MisuseError("expected chunks to add, found none")
        place = place_of_call()
        for block, part in shares(tb, tb_group):
            sources = [local(local_src_chunk), *[self._remote(block, chunk) for chunk in others]]
            self._number(block)
            self._add(block, Operation("rre", place, sources, [local(target)], [], "memory", reduce_op=reduce_op, group=part))


class PortChannel(_PairChannel):
    """A proxy that copies memory to the other rank."""

    channel_type = ChannelType.port

    def signal(self, tb: int, data_sync: SyncType = SyncType.both) -> None:
        self._synced("signal", tb, data_sync)

    def wait(self, tb: int, data_sync: SyncType = SyncType.both) -> None:
        self._synced("wait", tb, data_sync)

    def flush(self, tb: int, data_sync: SyncType = SyncType.both) -> None:
        self._synced("flush", tb, data_sync)

    def put(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        self._put("put", dst_chunk, src_chunk, tb, None)

    def put_with_signal(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        self._put("pws", dst_chunk, src_chunk, tb, None)

    def put_with_signal_and_flush(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        self._put("pwsf", dst_chunk, src_chunk, tb, None)

    def put_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        expect_scratch(dst_chunk)
        self._put("ppkt", dst_chunk, src_chunk, tb, None)

    def read_put_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None) -> None:
        expect_scratch(src_chunk)
        expect_scratch(dst_chunk)
        self._put("rppkt", dst_chunk, src_chunk, tb, tb_group)

    put_packet = put_packets
    read_put_packet = read_put_packets


class SwitchChannel:
    """One place of all ranks of a group, which a switch can add up and write."""

    channel_type = ChannelType.switch

    def __init__(self, rank_list: list[int], buffer_type: BufferType) -> None:
        program = _core.get_program()
        ranks = [program.checked_rank(rank) for rank in rank_list]
        if not ranks or len(set(ranks)) != len(ranks):
            raise MisuseError(f"expected distinct ranks, found {ranks}")
        self.buffer_type = buffer_type
        self.rank_group = RankGroup(len(ranks), ranks)
        self.channel_ids = {rank: program.gpus[rank].add_switch(buffer_type, ranks) for rank in ranks}

    def at_rank(self, rank: int) -> "SwitchChannel.SwitchChannelRankView":
        self._checked(rank)
        return SwitchChannel.SwitchChannelRankView(self, rank)

    def reduce(self, rank: int, buffer_offset: int, size: int, dst_chunk: Chunk, tb: Optional[int] = None,
               reduce_op: ReduceOperationType = ReduceOperationType.sum, tb_group: Optional[ThreadBlockGroup] = None) -> None:
        self._add("glre", rank, buffer_offset, size, dst_chunk, tb, tb_group, reduce_op)

    def broadcast(self, rank: int, src_chunk: Chunk, buffer_offset: int, size: int, tb: Optional[int] = None,
                  tb_group: Optional[ThreadBlockGroup] = None) -> None:
        self._add("gstore", rank, buffer_offset, size, src_chunk, tb, tb_group)

    def broadcast_packets(self, rank: int, src_chunk: Chunk, buffer_offset: int, size: int, tb: Optional[int] = None,
                          tb_group: Optional[ThreadBlockGroup] = None) -> None:
        expect_scratch(src_chunk)
        if self.buffer_type is not BufferType.scratch:
            raise MisuseError(f"expected packets in scratch buffers, found a switch channel of {self.buffer_type.name} buffers")
        self._add("gstorepkt", rank, buffer_offset, size, src_chunk, tb, tb_group)

    def _checked(self, rank: int) -> None:
        if rank not in self.channel_ids:
            raise MisuseError(f"rank {rank} is not in the switch channel of the ranks {self.rank_group.ranks}")

    def _add(self, name: str, rank: int, first: int, size: int, chunk: Chunk, tb: Optional[int], tb_group: Optional[ThreadBlockGroup],
             reduce_op: Optional[ReduceOperationType] = None) -> None:
        self._checked(rank)
        program = _core.get_program()
        if chunk.rank != rank:
            raise MisuseError(f"expected a chunk of rank {rank}, found one of rank {chunk.rank}")
        if chunk.size != size:
            raise MisuseError(f"expected a chunk of the size {size}, found {chunk.size}")
        for member in self.rank_group.ranks:
            chunks = program.chunks_of(member, self.buffer_type)
            if first < 0 or first + size > chunks:
                raise MisuseError(f"chunks [{first}:{first + size}] are not in the {self.buffer_type.name} buffer of rank {member}, which has {chunks}")
        place = place_of_call()
        for block, part in shares(tb, tb_group):
            number = program.gpus[rank].block(block).channel(self.channel_type, self.channel_ids[rank])
            far = Operand("switch_channel_id", self.buffer_type.value, first, size, number)
            sources, targets = ([far], [local(chunk)]) if name == "glre" else ([local(chunk)], [far])
            program.add(rank, block, Operation(name, place, sources, targets, [], "switch", reduce_op=reduce_op, group=part))

    class SwitchChannelRankView:
        """The channel as one of its ranks uses it."""

        def __init__(self, channel: "SwitchChannel", rank: int) -> None:
            self._channel = channel
            self._rank = rank

        def reduce(self, buffer_offset: int, size: int, dst_chunk: Chunk, tb: Optional[int] = None,
                   reduce_op: ReduceOperationType = ReduceOperationType.sum, tb_group: Optional[ThreadBlockGroup] = None) -> None:
            self._channel.reduce(self._rank, buffer_offset, size, dst_chunk, tb, reduce_op, tb_group)

        def broadcast(self, src_chunk: Chunk, buffer_offset: int, size: int, tb: Optional[int] = None, tb_group: Optional[ThreadBlockGroup] = None) -> None:
            self._channel.broadcast(self._rank, src_chunk, buffer_offset, size, tb, tb_group)

        def broadcast_packets(self, src_chunk: Chunk, buffer_offset: int, size: int, tb: Optional[int] = None,
                              tb_group: Optional[ThreadBlockGroup] = None) -> None:
            self._channel.broadcast_packets(self._rank, src_chunk, buffer_offset, size, tb, tb_group)

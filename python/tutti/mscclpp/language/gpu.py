"""What a rank has: thread blocks with their operations, channels, remote buffers, semaphores. It becomes the plan's `gpu`."""

from typing import Any, Callable

from .operations import Operation, Place
from .replication import Placement
from .types import BufferType, ChannelType, Chunk


class Block:
    """A thread block. Its operations name channels and remote buffers by the order in which the block first used them."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._channels: dict[ChannelType, dict[int, int]] = {}
        self._buffers: dict[ChannelType, dict[int, int]] = {}

    def channel(self, kind: ChannelType, channel: int) -> int:
        numbers = self._channels.setdefault(kind, {})
        return numbers.setdefault(channel, len(numbers))

    def buffer(self, kind: ChannelType, buffer: int) -> int:
        numbers = self._buffers.setdefault(kind, {})
        return numbers.setdefault(buffer, len(numbers))

    def json(self, position: int, operations: list[Operation], place: Place, number: Callable[[int], int]) -> dict[str, Any]:
        return {
            "id": position,
            "ops": [operation.json(place, number) for operation in operations],
            "channels": [{"channel_type": kind.value, "channel_ids": [number(channel) for channel in numbers]} for kind, numbers in self._channels.items()],
            "remote_buffer_refs": [{"access_channel_type": kind.value, "remote_buffer_ids": list(numbers)} for kind, numbers in self._buffers.items()],
        }


class Gpu:
    def __init__(self, rank: int, input_chunks: int, output_chunks: int) -> None:
        self.rank = rank
        self.input_chunks = input_chunks
        self.output_chunks = output_chunks
        self.scratch_chunks = 0
        self.blocks: list[Block] = []
        self.semaphores: list[int] = []
        self._peers: dict[ChannelType, list[int]] = {}
        self._switches: list[tuple[BufferType, list[int]]] = []
        self._remote: dict[tuple[int, BufferType], tuple[int, list[ChannelType]]] = {}
        self._barriers: dict[tuple[int, ...], int] = {}

    def block(self, tb: int) -> Block:
        while len(self.blocks) <= tb:
            self.blocks.append(Block())
        return self.blocks[tb]

    def add_channel(self, kind: ChannelType, peer: int) -> int:
        peers = self._peers.setdefault(kind, [])
        peers.append(peer)
        return len(peers) - 1

    def add_switch(self, buffer: BufferType, ranks: list[int]) -> int:
        self._switches.append((buffer, ranks))
        return len(self._switches) - 1

    def remote_buffer(self, tb: int, chunk: Chunk, kind: ChannelType) -> int:
        key = (chunk.rank, chunk.buffer)
        number, kinds = self._remote.setdefault(key, (len(self._remote), []))
        if kind not in kinds:
            kinds.append(kind)
        return self.block(tb).buffer(kind, number)

    def barrier_number(self, blocks: tuple[int, ...]) -> int:
        return self._barriers.setdefault(blocks, len(self._barriers))

    def json(self, operations: list[list[Operation]], instances: int, placement: Placement) -> dict[str, Any]:
        """In each of the instances a thread block does its part of every chunk, over channels of its own."""
        def place(instance: int) -> Place:
            return lambda operand: placement.place(operand, instance, instances)

        def number(instance: int) -> Callable[[int], int]:
            return lambda value: value * instances + instance

        return {
            "id": self.rank,
            "input_chunks": self.input_chunks * instances,
            "output_chunks": self.output_chunks * instances,
            "scratch_chunks": self.scratch_chunks * instances,
            "threadblocks": [
                block.json(tb * instances + i, operations[tb], place(i), number(i)) for tb, block in enumerate(self.blocks) for i in range(instances)
            ],
            "channels": [
                *[{"channel_type": kind.value, "connected_to": [peer for peer in peers for _ in range(instances)]} for kind, peers in self._peers.items()],
                *[{"channel_type": "switch", "buffer_type": buffer.value, "rank_groups": [{"size": len(ranks), "ranks": ranks}]}
                  for buffer, ranks in self._switches for _ in range(instances)],
            ],
            "remote_buffers": [
                {"rank": rank, "type": buffer.value, "access_channel_types": [kind.value for kind in kinds]} for (rank, buffer), (_, kinds) in self._remote.items()
            ],
            "semaphores": [{"init_value": value} for value in self.semaphores for _ in range(instances)],
        }

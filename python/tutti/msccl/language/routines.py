"""Rings as parts of larger programs."""

from . import *
from . import lines_of_caller

__all__ = ["allgather_ring_inplace", "allreduce_ring_inplace"]


@lines_of_caller
def allgather_ring_inplace(gpus, gpu_offset=0, index_offset=0, ch=0):
    for rank in range(gpus):
        c = chunk(gpu_offset + rank, Buffer.input, 0)
        for step in range(1, gpus):
            c = c.copy((rank + step) % gpus + gpu_offset, Buffer.output, index_offset + rank, ch=ch)


@lines_of_caller
def allreduce_ring_inplace(gpus, gpu_offset=0, index_offset=0, ch=0):
    for rank in range(gpus):
        index = index_offset + rank
        c = chunk(gpu_offset + rank, Buffer.input, index)
        for step in range(1, gpus):
            c = chunk((rank + step) % gpus + gpu_offset, Buffer.input, index).reduce(c, ch=ch)
        for step in range(gpus - 1):
            c = c.copy((rank + step) % gpus + gpu_offset, Buffer.input, index, ch=ch)

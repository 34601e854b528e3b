#!/usr/bin/env python3
"""The chunk programs that scripts/bench lang measures, with the names that msccl-tools and tutti.msccl share.

usage: chunk_programs.py PROGRAM SIZE...      e.g.  tutti compile chunk_programs.py -o ring.xml -- ring 64
"""

import sys

from msccl.language import *
from msccl.language.collectives import AllReduce, AllToAll
from msccl.topologies import *


def reduce_around(ranks, index, first, count=1):
    """The sum of a chunk of those ranks, ending at the one of that position."""
    for step in range(1, len(ranks)):
        sender, receiver = (ranks[(first + step + k) % len(ranks)] for k in (0, 1))
        chunk(receiver, Buffer.input, index, count).reduce(chunk(sender, Buffer.input, index, count))


def copy_around(ranks, index, first, count=1):
    """A chunk of the rank of that position, to all the others."""
    x = chunk(ranks[first], Buffer.input, index, count)
    for step in range(1, len(ranks)):
        x = x.copy(ranks[(first + step) % len(ranks)], Buffer.input, index)


def ring_all_reduce(n):
    def write():
        for c in range(n):
            reduce_around(range(n), c, c)
        for c in range(n):
            copy_around(range(n), c, c)
    return MSCCLProgram("ring", fully_connected(n), AllReduce(n, n, True), 1), write


def halving_doubling(n):
    def write():
        half = n // 2
        while half >= 1:
            for rank in range(n):
                kept = rank // half * half
                chunk(rank, Buffer.input, kept, half).reduce(chunk(rank ^ half, Buffer.input, kept, half))
            half //= 2
        size = 1
        while size < n:
            for rank in range(n):
                chunk(rank, Buffer.input, rank // size * size, size).copy(rank ^ size, Buffer.input, rank // size * size)
            size *= 2
    return MSCCLProgram("halving-doubling", fully_connected(n), AllReduce(n, n, True), 1), write


def all_to_all(n):
    def write():
        for rank in range(n):
            for other in range(n):
                chunk(rank, Buffer.input, other).copy(other, Buffer.output, rank)
    return MSCCLProgram("all-to-all", fully_connected(n), AllToAll(n, 1, False), 1), write


def hierarchical(nodes, gpus):
    n = nodes * gpus
    inside = [[node * gpus + g for g in range(gpus)] for node in range(nodes)]
    across = [[node * gpus + g for node in range(nodes)] for g in range(gpus)]

    def write():
        # Chunk g * nodes + i is summed at GPU g of every node, then at node i, and goes back the same way.
        for ranks in inside:
            for c in range(n):
                reduce_around(ranks, c, c // nodes)
        for g, ranks in enumerate(across):
            for i in range(nodes):
                reduce_around(ranks, g * nodes + i, i)
        for g, ranks in enumerate(across):
            for i in range(nodes):
                copy_around(ranks, g * nodes + i, i)
        for ranks in inside:
            for c in range(n):
                copy_around(ranks, c, c // nodes)
    return MSCCLProgram("hierarchical", fully_connected(n), AllReduce(n, n, True), 1), write


def all_pairs(n):
    """Each rank sums n of n * n chunks, on n thread blocks."""
    def write():
        pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
        for a, b in pairs:
            chunk(a, Buffer.input, b * n, n).copy(b, "scratch", sendtb=b, recvtb=a, ch=0)
        for rank in range(n):
            for i in range(n * (n - 1)):
                chunk(rank, Buffer.input, rank * n + i % n).reduce(chunk(rank, "scratch", i), sendtb=i % n)
        for a, b in pairs:
            chunk(a, Buffer.input, a * n, n).copy(b, Buffer.input, a * n, sendtb=b, recvtb=a, ch=0)
    return MSCCLProgram("all-pairs", fully_connected(n), AllReduce(n, n * n, True), 1,
                        threadblock_policy=ThreadblockPolicy.manual), write


PROGRAMS = {"ring": ring_all_reduce, "halving-doubling": halving_doubling, "all-to-all": all_to_all, "hierarchical": hierarchical,
            "all-pairs": all_pairs}

if __name__ == "__main__":
    program, write = PROGRAMS[sys.argv[1]](*map(int, sys.argv[2:]))
    with program:
        write()
        XML()

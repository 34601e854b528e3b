from .topology import Topology

__all__ = ["dgx1", "dgx_a100"]

# NVLinks between the GPUs of a DGX-1 (NVIDIA DGX-1 With Tesla V100 System Architecture, 2017, figure 4), numbered along its two rings.
_DGX1_DOUBLE = [(0, 1), (1, 3), (3, 2), (0, 4), (2, 6), (4, 5), (5, 7), (7, 6)]
_DGX1_SINGLE = [(0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7), (5, 6)]


def dgx1():
    links = [[0] * 8 for _ in range(8)]
    for pairs, count in ((_DGX1_DOUBLE, 2), (_DGX1_SINGLE, 1)):
        for a, b in pairs:
            links[a][b] = links[b][a] = count
    return Topology("DGX1", links)


def dgx_a100():
    return Topology("DGX_A100", [[0 if a == b else 12 for a in range(8)] for b in range(8)])

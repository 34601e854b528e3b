from .topology import Topology

__all__ = ["Topology", "fully_connected", "hub_and_spoke", "ring", "line", "star"]


def _matrix(nodes, joined):
    return [[1 if src != dst and joined(src, dst) else 0 for src in range(nodes)] for dst in range(nodes)]


def fully_connected(num_nodes):
    return Topology(f"FullyConnected(n={num_nodes})", _matrix(num_nodes, lambda a, b: True))


def hub_and_spoke(num_nodes):
    ranks = range(num_nodes)
    switches = []
    for node in ranks:
        others = [rank for rank in ranks if rank != node]
        switches += [([node], others, 1, f"node_{node}_out"), (others, [node], 1, f"node_{node}_in")]
    return Topology(f"HubAndSpoke(n={num_nodes})", _matrix(num_nodes, lambda a, b: True), switches)


def ring(num_nodes):
    return Topology(f"Ring(n={num_nodes})", _matrix(num_nodes, lambda a, b: (a - b) % num_nodes in (1, num_nodes - 1)))


def line(num_nodes):
    return Topology(f"Line(n={num_nodes})", _matrix(num_nodes, lambda a, b: abs(a - b) == 1))


def star(num_nodes, non_blocking=True):
    points = list(range(1, num_nodes))
    switches = [] if non_blocking else [([0], points, 1, "to_points"), (points, [0], 1, "from_points")]
    return Topology(f"Star(n={num_nodes})", _matrix(num_nodes, lambda a, b: 0 in (a, b)), switches)

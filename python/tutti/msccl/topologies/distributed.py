from .topology import Topology

__all__ = ["distributed_fully_connected", "distributed_hub_and_spoke"]


def _copies(local, copies, remote_bw):
    nodes = local.num_nodes()
    ranks = range(nodes * copies)
    links = [[local.link(src % nodes, dst % nodes) if src // nodes == dst // nodes else remote_bw for src in ranks] for dst in ranks]
    switches = [([src + i * nodes for src in srcs], [dst + i * nodes for dst in dsts], bw, f"copy_{i}_{name}_local")
                for srcs, dsts, bw, name in local.switches for i in range(copies)]
    return links, switches


def distributed_fully_connected(local_topology, num_copies, remote_bw):
    links, switches = _copies(local_topology, num_copies, remote_bw)
    return Topology(f"DistributedFullyConnected(local={local_topology.name},copies={num_copies},bw={remote_bw})", links, switches)


def distributed_hub_and_spoke(local_topology, num_copies, remote_bw):
    links, switches = _copies(local_topology, num_copies, remote_bw)
    nodes = local_topology.num_nodes()
    for i in range(num_copies):
        here = [rank for rank in range(len(links)) if rank // nodes == i]
        there = [rank for rank in range(len(links)) if rank // nodes != i]
        switches += [(here, there, remote_bw, f"copy_{i}_out_remote"), (there, here, remote_bw, f"copy_{i}_in_remote")]
    return Topology(f"DistributedHubAndSpoke(local={local_topology.name},copies={num_copies},bw={remote_bw})", links, switches)

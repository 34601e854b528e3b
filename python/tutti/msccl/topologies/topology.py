"""A network as a matrix: links[dst][src] is not 0 where src can send to dst. Rows are lists or dicts."""


class Topology:
    def __init__(self, name, links, switches=()):
        for _, _, bandwidth, switch in switches:
            if bandwidth <= 0:
                raise ValueError(f"switch {switch}: expected a bandwidth above 0, found {bandwidth}")
        self.name = name
        self.links = links
        self.switches = list(switches)

    def link(self, src, dst):
        row = self.links[dst]
        return row.get(src, 0) if isinstance(row, dict) else row[src]

    def num_nodes(self):
        return len(self.links)

    def nodes(self):
        return range(self.num_nodes())

    def sources(self, dst):
        return (src for src in self.nodes() if self.link(src, dst) > 0)

    def destinations(self, src):
        return (dst for dst in self.nodes() if self.link(src, dst) > 0)

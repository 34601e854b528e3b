"""What a chunk program is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Collective:
    """A collective of `ranks` ranks whose shares have `chunks` chunks each; docs/chunk-programs.md has the buffers of each kind."""

    ranks: int
    chunks: int = 1
    in_place: bool = False
    root: int = 0
    kind: ClassVar[str] = ""


class AllReduce(Collective):
    """Input and output have `chunks` chunks; every output is the sum of all inputs."""

    kind = "all_reduce"


class AllGather(Collective):
    """The input has `chunks` chunks; the output has those of all ranks."""

    kind = "all_gather"


class ReduceScatter(Collective):
    """The input has `chunks` chunks for each rank; the output is the sum of those for it."""

    kind = "reduce_scatter"


class AllToAll(Collective):
    """Input and output have `chunks` chunks for and from each rank."""

    kind = "all_to_all"


class AllToNext(Collective):
    """Rank r + 1 gets the input of rank r."""

    kind = "all_to_next"


class Broadcast(Collective):
    """Every output is the input of `root`."""

    kind = "broadcast"


class Reduce(Collective):
    """The output of `root` is the sum of all inputs."""

    kind = "reduce"


class Gather(Collective):
    """The output of `root` has the inputs of all ranks."""

    kind = "gather"


class Scatter(Collective):
    """Rank r gets the r-th part of the input of `root`."""

    kind = "scatter"

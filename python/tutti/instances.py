"""Instances and topologies: read from files, or made of dicts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from tutti import _core
from tutti.errors import InputError
from tutti.files import PathLike, Size, file_name, json_text, optional_size


@dataclass(frozen=True)
class Links:
    """The links of a topology, a column for each fact; a link's number is its position.

    `alpha` and `beta` are in ticks. In physical units a tick is 1 ps, `beta` depends on the size of a chunk (it is 0 here) and `bandwidth` is in GB/s;
    in abstract units `bandwidth` is 0.
    """

    src: NDArray[np.uint32]
    dst: NDArray[np.uint32]
    alpha: NDArray[np.int64]
    beta: NDArray[np.int64]
    bandwidth: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.src)


class Topology:
    """A network. NPUs are the nodes 0 … npus - 1, switches those behind."""

    def __init__(self, core: _core.Topology) -> None:
        self._core = core

    @property
    def npus(self) -> int:
        return self._core.npus

    @property
    def switches(self) -> int:
        return self._core.switches

    @property
    def nodes(self) -> int:
        return self.npus + self.switches

    @property
    def is_physical(self) -> bool:
        """Whether links have bandwidths, and a tick is 1 ps."""
        return self._core.is_physical

    @cached_property
    def links(self) -> Links:
        return Links(*self._core.links())

    def matrix(self, what: str = "links") -> NDArray[np.float64]:
        """nodes x nodes: from row to column the number of "links", the sum of their "bandwidth" in GB/s, or the least "alpha" or "beta".

        Where there is no link it is 0 for links and bandwidth, infinite for alpha and beta.
        """
        links, shape = self.links, (self.nodes, self.nodes)
        if what in ("links", "bandwidth"):
            sums = np.zeros(shape)
            np.add.at(sums, (links.src, links.dst), 1.0 if what == "links" else links.bandwidth)
            return sums
        if what in ("alpha", "beta"):
            least = np.full(shape, np.inf)
            np.minimum.at(least, (links.src, links.dst), links.alpha if what == "alpha" else links.beta)
            return least
        raise InputError(f"expected links, bandwidth, alpha or beta; found {what!r}")

    def to_dict(self) -> dict[str, Any]:
        """In the format of instances, link by link."""
        return _dict(self._core.json())

    def save(self, path: PathLike) -> None:
        _write(path, self.to_dict())

    def file_in(self, folder: Path) -> str:
        """A file with it, for calls that take one."""
        file = folder / "topology.json"
        file.write_text(self._core.json())
        return str(file)

    def __repr__(self) -> str:
        return f"<Topology of {self.npus} NPUs, {self.switches} switches and {len(self.links)} links>"


class Instance:
    """A topology, process groups and collectives, and the demands that follow from them. It was checked and cannot be changed."""

    def __init__(self, core: _core.Instance) -> None:
        self._core = core

    @property
    def name(self) -> str:
        return self._core.name

    @cached_property
    def topology(self) -> Topology:
        return Topology(self._core.topology)

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """NPUs by rank."""
        groups: dict[str, list[int]] = self.to_dict().get("groups", {})
        return groups

    @cached_property
    def collectives(self) -> list[dict[str, Any]]:
        """As the file has them, with the defaults."""
        collectives: list[dict[str, Any]] = self.to_dict()["collectives"]
        return collectives

    @property
    def chunks(self) -> int:
        """How many chunks are to be routed."""
        return self._core.chunks

    @cached_property
    def _chunk_table(self) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.bool_]]:
        collective, size, reduction = self._core.chunk_table()
        return collective, size, reduction.astype(np.bool_)

    @property
    def chunk_collective(self) -> NDArray[np.uint32]:
        """The position of each chunk's collective."""
        return self._chunk_table[0]

    @property
    def chunk_bytes(self) -> NDArray[np.int64]:
        """The size of each chunk; 0 in abstract units where none is given."""
        return self._chunk_table[1]

    @property
    def chunk_is_reduction(self) -> NDArray[np.bool_]:
        """Whether each chunk is a sum of what its holders have."""
        return self._chunk_table[2]

    def holders(self, chunk: int) -> list[int]:
        return self._core.demand(chunk)[0]

    def receivers(self, chunk: int) -> list[int]:
        return self._core.demand(chunk)[1]

    def to_dict(self) -> dict[str, Any]:
        """In the format of instance files (instances/README.md), with every link listed."""
        return _dict(self._core.json())

    def save(self, path: PathLike) -> None:
        _write(path, self.to_dict())

    def file_in(self, folder: Path) -> str:
        """A file with it, for calls that take one."""
        file = folder / "instance.json"
        file.write_text(self._core.json())
        return str(file)

    @property
    def core(self) -> _core.Instance:
        """For the package's own calls."""
        return self._core

    def __repr__(self) -> str:
        return f"<Instance {self.name}: {self.topology.npus} NPUs, {self.chunks} chunks>"


InstanceLike = Union[Instance, Mapping[str, Any], PathLike]
TopologyLike = Union[Topology, Mapping[str, Any], PathLike]


def _dict(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value


def _write(path: PathLike, value: Any) -> None:
    beside = Path(f"{os.fspath(path)}.tmp")
    beside.write_text(json.dumps(value, indent=1) + "\n")
    beside.replace(path)


def instance(what: InstanceLike, *, chunks: int | None = None, bytes: Size | None = None) -> Instance:
    """An instance: from a file, or a dict with the same fields (instances/README.md), in which numpy arrays may stand for lists.

    A topology in it may be a `Topology`. `chunks` and `bytes` take the place of what it says: chunks of every collective, and the size of a call.
    """
    if isinstance(what, Instance):
        if chunks is None and bytes is None:
            return what
        what = what.to_dict()
    if isinstance(what, Mapping):
        text = json_text({"tutti": 1, **what})
        return Instance(_core.instance_in(text, str(what.get("name", "instance")), chunks, optional_size(bytes)))
    return Instance(_core.read_instance(file_name(what), chunks, optional_size(bytes)))


def topology(what: TopologyLike, **fields: Any) -> Topology:
    """A topology: a generator's kind with its fields (`topology("ring", npus=8)`; `topology_kinds()` lists them), a file in any format that
    `tutti topology` reads, or a dict.
    """
    if isinstance(what, Topology):
        return what
    if isinstance(what, Mapping):
        return Topology(_core.topology(json_text(what), []))
    return Topology(_core.topology(file_name(what), [(name, json_text(value)) for name, value in fields.items()]))


def topology_kinds() -> list[dict[str, Any]]:
    """All generators: kind, help, fields, and an example."""
    kinds: list[dict[str, Any]] = json.loads(_core.topology_kinds())["kinds"]
    return kinds

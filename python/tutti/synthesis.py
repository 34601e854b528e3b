"""Finding schedules, and how short they can be."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tutti import _core
from tutti.errors import InfeasibleError, LimitError
from tutti.files import PathLike, Progress, Size, file_name, new_folder, optional_size, scratch_folder
from tutti.instances import Instance, InstanceLike, instance as instance_of
from tutti.schedules import Schedule


@dataclass(frozen=True)
class Synthesis:
    """What a search found. Its schedule was verified."""

    status: str  #: "optimal", "feasible", "infeasible" or "unknown"
    makespan: int | None  #: in ticks; None where there is no schedule
    bound: int | None  #: no schedule is shorter
    bound_kind: str | None
    gap: float | None  #: (makespan - bound) / bound
    method: str  #: what made the schedule
    heuristic: str | None
    proof: str  #: why it is optimal, or why that is not known
    sends: int
    seconds: float
    stopped: bool  #: a longer search may find more
    error: str  #: why there is no schedule
    instance: Instance
    facts: Mapping[str, Any] = field(repr=False)  #: all that results/README.md lists
    _file: Path | None = field(repr=False, default=None)
    _folder: tempfile.TemporaryDirectory[str] | None = field(repr=False, default=None)

    @property
    def is_optimal(self) -> bool:
        return self.status == "optimal"

    @property
    def makespan_us(self) -> float | None:
        """In microseconds; None in abstract units."""
        return None if self.makespan is None or not self.instance.topology.is_physical else self.makespan / 1e6

    @cached_property
    def schedule(self) -> Schedule:
        """The sends. Read when it is first asked for: there may be very many. Raises InfeasibleError or LimitError where there is none."""
        if self._file is None:
            raise (InfeasibleError if self.status == "infeasible" else LimitError)(self.error)
        return Schedule.load(self._file, self.instance)


@dataclass(frozen=True)
class Bound:
    """A lower bound on the makespan, in ticks, with a certificate that docs/bounds.md explains."""

    kind: str
    value: int
    seconds: float
    certificate: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Bounds:
    """The lower bounds of an instance, the largest first."""

    best: Bound
    all: list[Bound]
    skipped: list[dict[str, str]] = field(repr=False)  #: which were not computed, and why
    stopped: bool  #: a longer search may prove more


def methods() -> dict[str, str]:
    """The methods of synthesize, with a sentence for each."""
    return dict(_core.methods())


def heuristics() -> dict[str, str]:
    """The heuristics that can run alone, with a sentence for each."""
    return dict(_core.heuristics())


def synthesize(
    instance: InstanceLike, *, time_limit: float | None = None, method: str = "auto", heuristic: str = "", chunks: int | None = None,
    bytes: Size | None = None, options: Mapping[str, float] | None = None, seed: int = 1, threads: int = 1, memory_limit: Size | None = None,
    output: PathLike | None = None, progress: Progress | None = None,
) -> Synthesis:
    """Finds a schedule, verifies it, and bounds how good it can be.

    `time_limit` is in seconds; `method` and `heuristic` are names of `methods()` and `heuristics()`; `options` are those of docs/options.md. `progress` is called
    with each line of the story. Ctrl-C ends the search and raises KeyboardInterrupt; what was found until then is in `output`, where that is given.
    That no schedule exists, or that none was found in time, is an answer: the `status` says it.
    """
    solved = instance_of(instance, chunks=chunks, bytes=bytes)
    folder: tempfile.TemporaryDirectory[str] | None = None
    if output is None:
        folder = new_folder(16 * solved.chunks * solved.topology.nodes)  # about a send for each chunk and node
        output = Path(folder.name) / "found.tsch"
    with scratch_folder() as scratch:
        text = _core.synthesize(solved.file_in(scratch), file_name(output), method, heuristic, dict(options or {}), seed, threads, time_limit,
                                optional_size(memory_limit), progress)
    facts: dict[str, Any] = json.loads(text)
    for path in ("file", "schedule"):
        facts.pop(path, None)
    found = facts.get("makespan") is not None
    return Synthesis(
        status=facts["status"], makespan=facts["makespan"], bound=facts["lower_bound"], bound_kind=facts["bound_kind"], gap=facts["gap"],
        method=facts["method"], heuristic=facts.get("heuristic"), proof=facts.get("proof") or "", sends=facts.get("sends") or 0, seconds=facts["seconds"],
        stopped=bool(facts.get("stopped")), error=facts.get("error") or "", instance=solved, facts=facts, _file=Path(output) if found else None, _folder=folder,
    )


def bound(
    instance: InstanceLike, *, time_limit: float | None = None, chunks: int | None = None, bytes: Size | None = None,
    options: Mapping[str, float] | None = None, progress: Progress | None = None,
) -> Bounds:
    """The lower bounds of an instance that are worth their time. Raises InfeasibleError where a receiver cannot be reached."""
    solved = instance_of(instance, chunks=chunks, bytes=bytes)
    with scratch_folder() as scratch:
        answer = json.loads(_core.bound(solved.file_in(scratch), dict(options or {}), time_limit, progress))
    bounds = [Bound(each["kind"], each["value"], each["seconds"], each["certificate"]) for each in answer["bounds"]]
    return Bounds(bounds[0], bounds, answer["skipped"], answer["stopped"])

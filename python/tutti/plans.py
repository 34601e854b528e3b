"""Plans: made by tutti.compile and tutti.convert, or read from files of any tool."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tutti import _core
from tutti.errors import InputError, PlanError
from tutti.files import PathLike, Progress, Size, file_name, optional_size, scratch_folder
from tutti.instances import Instance, InstanceLike, TopologyLike, instance as instance_of
from tutti.judging import Cost, Verdict, cost as cost_of, verify
from tutti.schedules import Schedule

_FORMAT_OF_SUFFIX = {".xml": "msccl-xml", ".chunks": "trace", ".json": "mscclpp-json"}
_SUFFIX_OF_FORMAT = {format: suffix for suffix, format in _FORMAT_OF_SUFFIX.items()}


def format_of(path: PathLike) -> str | None:
    """By the suffix."""
    return _FORMAT_OF_SUFFIX.get(Path(path).suffix)


def suffix_of(format: str) -> str:
    return _SUFFIX_OF_FORMAT.get(format, ".txt")


@dataclass(frozen=True)
class Plan:
    """A plan for a runtime. One that tutti made was verified for every interleaving."""

    text: str = field(repr=False)  #: what its file holds
    format: str  #: "msccl-xml", "mscclpp-json", …
    name: str
    collective: str | None
    ranks: int | None
    steps: int | None
    channels: int | None = None  #: None where the plan was read and not made
    thread_blocks: int | None = None
    condition: str | None = field(repr=False, default=None)  #: of a custom collective: the file that says what it must end with
    facts: Mapping[str, Any] = field(repr=False, default_factory=dict)
    compiled_from: Compiled | None = field(repr=False, default=None)

    @cached_property
    def verdict(self) -> Verdict:
        """Judged again when it is first asked for, by what the file says."""
        return verify(self)

    def save(self, path: PathLike, format: str | None = None) -> None:
        """Writes the plan in that format, or the one of the path's suffix (.xml: msccl-xml; .chunks: trace; .json: mscclpp-json).

        A format other than the plan's own is compiled from the program; raises InputError where there is none. What a custom collective must end with is written
        beside it, as NAME.condition.json.
        """
        wanted = format or format_of(path) or self.format
        plan = self if wanted == self.format else self._compiled_to(wanted)
        target = Path(path)
        if plan.condition is not None:
            _write(target.with_suffix(".condition.json"), plan.condition)
        _write(target, plan.text)

    def time(self, topology: TopologyLike, *, bytes: Size | None = None, group: Sequence[int] | None = None) -> Cost:
        """What it takes on a topology; `tutti.cost` takes several sizes."""
        return cost_of(self, topology, bytes=bytes, group=group)

    def run(
        self, arrays: Sequence[Any], op: str = "sum", *, out: Sequence[Any] | None = None, engine: str = "pieces", threads: int | None = None,
    ) -> None:
        """Calls the plan here, on numpy arrays of all its ranks: rank r's is `arrays[r]`.

        Without `out` the call is in place, and the arrays are the larger of a rank's two buffers: an all-gather's has room for all ranks. With `out` the arrays
        are the inputs and `out` gets the results. All are contiguous and of one type: float16, ml_dtypes.bfloat16, float32, float64, int8, uint8, int32, int64 or
        uint64. `op` is sum, prod, min, max or avg. Other threads of Python run meanwhile. Raises PlanError if the plan is wrong, InputError if arrays do not fit.
        """
        from tutti.running import run_on_arrays

        run_on_arrays(self, arrays, op, out, engine, threads)

    def file_in(self, folder: Path) -> str:
        """A file with it, for calls that take one."""
        file = folder / f"plan{suffix_of(self.format)}"
        self.save(file, self.format)
        return str(file)

    def _compiled_to(self, format: str) -> Plan:
        if self.compiled_from is None:
            raise InputError(f"the plan is in the format {self.format}, and only plans of programs can be written in another; expected no {format}")
        return self.compiled_from.compile(format)


class Compiled:
    """A program and how it was compiled, to compile it to another format."""

    def __init__(self, trace: bytes, options: Mapping[str, Any]) -> None:
        self._trace = trace
        self._options = dict(options)

    def compile(self, format: str) -> Plan:
        from tutti.programs import compile_trace

        return compile_trace(self._trace, format=format, **self._options)


def _write(path: Path, text: str) -> None:
    beside = path.with_name(path.name + ".tmp")
    beside.write_text(text)
    beside.replace(path)


def _plan_in(path: Path) -> Plan:
    verdict = verify(path)
    facts = verdict.facts
    if verdict.name == "malformed":
        raise InputError(str(facts.get("error", "")), str(path), str(facts.get("place", "")))
    beside = path.with_suffix(".condition.json")
    return Plan(path.read_text(), str(facts["format"]), str(facts["name"]), facts["collective"], facts["ranks"], facts["steps"],
                condition=beside.read_text() if beside.exists() else None, facts=facts)


def load(path: PathLike, instance: InstanceLike | None = None) -> Instance | Schedule | Plan:
    """What a file holds, told by its content. A schedule in generator form needs its instance. A plan of another tool may be wrong: its `verdict` says."""
    kind = _core.kind_of_file(file_name(path))
    if kind == "instance":
        return instance_of(path)
    if kind == "schedule":
        return Schedule.load(path, instance)
    return _plan_in(Path(path))


@dataclass(frozen=True)
class Conversion:
    """What became of a schedule."""

    files: list[Path]  #: what was written; empty where no output was named
    plans: list[Plan]  #: one for each collective; empty for formats that are no plans
    schedule_makespan: int | None  #: in ticks, and that of its plans together, where it was computed
    plan_makespan: int | None


def convert(
    instance: InstanceLike, schedule: Schedule | PathLike, to: str = "msccl-xml", *, output: PathLike | None = None, collective: str | None = None,
    target: str | None = None, protocol: str = "Simple", mode: str = "both", min_bytes: Size | None = None, max_bytes: Size | None = None, name: str = "",
    progress: Progress | None = None,
) -> Conversion:
    """A schedule as plans for a runtime ("msccl-xml", "mscclpp-json"), as steps ("sccl-json"), traces ("chakra", "perfetto", "goal"), C++ sources
    for NCCL and MPI ("nccl-p2p", "mpi-p2p"), or in our own formats ("json", "stream"). Each plan is verified as such. Raises PlanError if the schedule is invalid, InputError for what a format cannot express.
    """
    made_for = instance_of(instance)
    with scratch_folder(400 * len(schedule) if isinstance(schedule, Schedule) else None) as folder:
        file = schedule.file_in(folder) if isinstance(schedule, Schedule) else file_name(schedule)
        asked = file_name(output) if output is not None else str(folder / f"converted{suffix_of(to)}")
        answer = json.loads(_core.convert([made_for.file_in(folder), file], asked, "", to, collective, target, protocol, mode, optional_size(min_bytes),
                                          optional_size(max_bytes), name, progress))
        if answer["verdict"] != "valid":
            raise PlanError((answer.get("violations") or ["the schedule is invalid"])[0], verify(made_for, file))
        written = [plan["file"] for plan in answer.get("plans", [])] or [answer["schedule"]]
        plans = [_converted(plan, to) for plan in answer.get("plans", [])] if to in ("msccl-xml", "mscclpp-json", "sccl-json") else []
    return Conversion([Path(path) for path in written] if output is not None else [], plans, answer.get("schedule_makespan"), answer.get("plan_makespan"))


def _converted(facts: dict[str, Any], format: str) -> Plan:
    file, condition = Path(facts.pop("file")), facts.pop("condition")
    return Plan(file.read_text(), format, str(facts.get("collective", "")), facts.get("coll"), facts.get("ranks"), facts.get("steps"), facts.get("channels"),
                condition=None if condition is None else Path(condition).read_text(), facts=facts)

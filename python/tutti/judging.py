"""Verdicts on schedules and plans, and what plans take on a network."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union, overload

from tutti import _core
from tutti.errors import InputError, PlanError
from tutti.files import PathLike, Progress, Size, scratch_folder, sizes
from tutti.instances import Instance, InstanceLike, TopologyLike, instance as instance_of, topology as topology_of
from tutti.schedules import Schedule

if TYPE_CHECKING:
    from tutti.plans import Plan

PlanLike = Union["Plan", PathLike]
_ACCEPTABLE = ("valid", "valid-if-buffered", "structure-only")


@dataclass(frozen=True)
class Finding:
    """A broken rule or a warning: a stable code (src/verify/README.md, src/verify/plan/README.md), words, and where."""

    code: str
    message: str
    place: Mapping[str, Any] = field(repr=False)  #: gpu, tb, step, …; of a schedule tick, link, chunk, …

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a schedule or a plan. Of a plan it holds for every interleaving."""

    name: str  #: "valid", "valid-if-buffered", "structure-only", "invalid" or "malformed"
    violations: list[Finding]  #: the first ones
    violation_count: int
    warnings: list[Finding] = field(repr=False)
    makespan: int | None  #: of a valid schedule, in ticks
    bound: int | None
    bound_kind: str | None
    gap: float | None
    facts: Mapping[str, Any] = field(repr=False)  #: all that `tutti verify --json` prints

    @property
    def is_acceptable(self) -> bool:
        """No violation was found; where nothing says what a plan is for, only its structure was checked."""
        return self.name in _ACCEPTABLE

    def check(self) -> None:
        """Raises PlanError with the first violation, unless it is acceptable."""
        if not self.is_acceptable:
            raise PlanError(str(self.violations[0]) if self.violations else str(self.facts.get("error", self.name)), self)


@dataclass(frozen=True)
class Cost:
    """What a plan takes on a network (docs/plan-costs.md)."""

    makespan: int  #: in ticks
    makespan_us: float | None  #: None in abstract units
    bound: int | None  #: no plan for the same call is faster; None where nobody says what it is for
    bound_kind: str | None
    gap: float | None
    bytes: int | None  #: the size of the call
    algbw_GBps: float | None
    busbw_GBps: float | None
    facts: Mapping[str, Any] = field(repr=False)  #: also how busy each link is


def _findings(facts: Mapping[str, Any], key: str) -> list[Finding]:
    return [Finding(each["code"], each["message"], {name: value for name, value in each.items() if name not in ("code", "message")})
            for each in facts.get(key) or []]


def _verdict(facts: Mapping[str, Any]) -> Verdict:
    return Verdict(
        name=facts["verdict"], violations=_findings(facts, "violations"), violation_count=facts.get("violation_count") or 0, warnings=_findings(facts, "warnings"),
        makespan=facts.get("makespan"), bound=facts.get("lower_bound"), bound_kind=facts.get("bound_kind"), gap=facts.get("gap"), facts=facts,
    )


def _existing(path: PathLike) -> str:
    if not os.path.isfile(path):
        raise InputError("there is no such file", os.fspath(path))
    return os.fspath(path)


def _judge_plan(
    plan: PlanLike, collective: str | None, root: int | None, condition: PathLike | None, target: str | None, group: Sequence[int] | None,
    max_violations: int, topology: TopologyLike | None, bytes: list[int], progress: Progress | None,
) -> Mapping[str, Any]:
    with scratch_folder() as folder:
        network = None if topology is None else topology_of(topology).file_in(folder)
        file = _existing(plan) if isinstance(plan, (str, os.PathLike)) else plan.file_in(folder)
        lines = _core.judge([file], None, max_violations, False, collective, root, None if condition is None else os.fspath(condition), target,
                            None if group is None else list(group), network, bytes, progress)
    facts: dict[str, Any] = json.loads(lines[0])
    return facts


def verify(
    what: PlanLike | InstanceLike, schedule: Schedule | PathLike | None = None, *, collective: str | None = None, root: int | None = None,
    condition: PathLike | None = None, target: str | None = None, expand: bool = False, max_violations: int = 20, progress: Progress | None = None,
) -> Verdict:
    """The verdict on a plan (`verify(plan)`, `verify("ring.xml")`) or on a schedule of an instance (`verify(instance, schedule)`).

    Of plans: `collective` judges it as that one, whatever the file says, `root` is its root, `condition` a file that says what it must end with
    (docs/plan-conditions.md), `target` warns of what that runtime refuses. Of schedules: `expand` judges one in generator form send by send.
    """
    if schedule is None:
        if isinstance(what, (Instance, Mapping)):
            raise InputError("expected the schedule too: verify(instance, schedule)")
        return _verdict(_judge_plan(what, collective, root, condition, target, None, max_violations, None, [], progress))
    if not isinstance(what, (Instance, Mapping, str, os.PathLike)):
        raise InputError("expected an instance and its schedule, found a plan")
    with scratch_folder(100 * len(schedule) if isinstance(schedule, Schedule) else None) as folder:
        of = instance_of(what).file_in(folder)
        file = schedule.file_in(folder) if isinstance(schedule, Schedule) else _existing(schedule)
        lines = _core.judge([file], of, max_violations, expand, None, None, None, None, None, None, [], progress)
    return _verdict(json.loads(lines[0]))


def _cost(facts: Mapping[str, Any], is_physical: bool) -> Cost:
    if facts.get("makespan") is None:
        raise InputError(str(facts.get("not_timed") or "the plan cannot be timed"))
    ticks = int(facts["makespan"])
    return Cost(makespan=ticks, makespan_us=ticks / 1e6 if is_physical else None, bound=facts.get("lower_bound"), bound_kind=facts.get("bound_kind"),
                gap=facts.get("gap"), bytes=facts.get("bytes"), algbw_GBps=facts.get("algbw_GBps"), busbw_GBps=facts.get("busbw_GBps"), facts=facts)


@overload
def cost(plan: PlanLike, topology: TopologyLike, *, bytes: Size | None = None, group: Sequence[int] | None = None, collective: str | None = None,
         root: int | None = None, condition: PathLike | None = None, progress: Progress | None = None) -> Cost: ...
@overload
def cost(plan: PlanLike, topology: TopologyLike, *, bytes: list[Size] | tuple[Size, ...], group: Sequence[int] | None = None, collective: str | None = None,
         root: int | None = None, condition: PathLike | None = None, progress: Progress | None = None) -> list[Cost]: ...
def cost(
    plan: PlanLike, topology: TopologyLike, *, bytes: Size | list[Size] | tuple[Size, ...] | None = None, group: Sequence[int] | None = None,
    collective: str | None = None, root: int | None = None, condition: PathLike | None = None, progress: Progress | None = None,
) -> Cost | list[Cost]:
    """What a plan takes on a topology, beside the lower bound of its collective there; for a list of sizes, a list in ascending order.

    `bytes` is the size of the call, as nccl-tests counts it; topologies in abstract units have none. `group` has the NPU of each rank. The plan is judged first:
    raises PlanError with the verdict if it is wrong, InputError if it does not fit the topology.
    """
    network = topology_of(topology)
    several = isinstance(bytes, (list, tuple))
    asked = sizes(bytes)
    facts = _judge_plan(plan, collective, root, condition, None, group, 20, network, asked, progress)
    _verdict(facts).check()
    if not several:
        return _cost(facts, network.is_physical)
    each = facts["sizes"] if len(asked) > 1 else [facts]
    return [_cost(at, network.is_physical) for at in each]


def doctor() -> dict[str, Any]:
    """Which solvers are here and work, or why not: `backends`, as `tutti doctor --json` prints it."""
    answer: dict[str, Any] = json.loads(_core.doctor())
    return answer

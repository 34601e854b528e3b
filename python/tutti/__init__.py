"""tutti: collective-communication algorithms, synthesized, compiled and verified.

Everything below is loaded when it is first used, so that `import tutti` takes no time and `tutti.msccl` needs neither numpy nor the compiled part.
docs/python.md has an example of each.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tutti.errors import Error, InfeasibleError, InputError, InternalError, LimitError, OutputError, PlanError, ProgramError

if TYPE_CHECKING:
    from tutti._core import Program as Program, Ref as Ref
    from tutti.batches import Run as Run, batch as batch
    from tutti.collectives import (
        AllGather as AllGather, AllReduce as AllReduce, AllToAll as AllToAll, AllToNext as AllToNext, Broadcast as Broadcast,
        Collective as Collective, Gather as Gather, Reduce as Reduce, ReduceScatter as ReduceScatter, Scatter as Scatter,
    )
    from tutti.instances import Instance as Instance, Links as Links, Topology as Topology, instance as instance, topology as topology, topology_kinds as topology_kinds
    from tutti.jobs import Shared as Shared, shared as shared
    from tutti.judging import Cost as Cost, Finding as Finding, Verdict as Verdict, cost as cost, doctor as doctor, verify as verify
    from tutti.plans import Conversion as Conversion, Plan as Plan, convert as convert, load as load
    from tutti.programs import Algorithm as Algorithm, algorithm as algorithm, compile as compile
    from tutti.schedules import Schedule as Schedule
    from tutti.synthesis import Bound as Bound, Bounds as Bounds, Synthesis as Synthesis, bound as bound, heuristics as heuristics, methods as methods, synthesize as synthesize

_PLACES = {
    "_core": ("Program", "Ref"),
    "batches": ("Run", "batch"),
    "collectives": ("AllGather", "AllReduce", "AllToAll", "AllToNext", "Broadcast", "Collective", "Gather", "Reduce", "ReduceScatter", "Scatter"),
    "instances": ("Instance", "Links", "Topology", "instance", "topology", "topology_kinds"),
    "jobs": ("Shared", "shared"),
    "judging": ("Cost", "Finding", "Verdict", "cost", "doctor", "verify"),
    "plans": ("Conversion", "Plan", "convert", "load"),
    "programs": ("Algorithm", "algorithm", "compile"),
    "schedules": ("Schedule",),
    "synthesis": ("Bound", "Bounds", "Synthesis", "bound", "heuristics", "methods", "synthesize"),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "Error", "InfeasibleError", "InputError", "InternalError", "LimitError", "OutputError", "PlanError", "ProgramError",
    "Algorithm", "AllGather", "AllReduce", "AllToAll", "AllToNext", "Bound", "Bounds", "Broadcast", "Collective", "Conversion", "Cost",
    "Finding", "Gather", "Instance", "Links", "Plan", "Program", "Reduce", "ReduceScatter", "Ref", "Run", "Scatter", "Schedule", "Synthesis",
    "Topology", "Verdict", "algorithm", "batch", "bound", "compile", "convert", "cost", "doctor", "heuristics", "instance", "load", "methods", "shared",
    "synthesize", "topology", "topology_kinds", "verify",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = importlib.import_module("tutti._core").version()
    elif name in _MODULE_OF:
        value = getattr(importlib.import_module(f"tutti.{_MODULE_OF[name]}"), name)
    else:
        raise AttributeError(f"module 'tutti' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

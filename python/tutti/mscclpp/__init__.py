"""The names of the MSCCL++ DSL, so that its programs run unchanged: thread blocks, channels and signals, spelled out by the program.

`tutti compile program.py` runs a program with this package in place of `mscclpp`. A program can also import it itself: `from tutti.mscclpp.language import *`.
"""

import importlib
import sys
from typing import Any, Callable

from .language.core import CollectiveProgram
from .language.utils import AlgoSpec, ReplicationPolicy

__all__ = ["AlgoSpec", "CollectiveProgram", "ReplicationPolicy", "compile"]

_MODULES = ["channel", "collectives", "general", "internal", "internal.globals", "internal.operations", "internal.types", "loop", "program", "rank", "thread_block_group", "types", "utils"]


def compile(algo: Callable[..., CollectiveProgram], algo_spec: AlgoSpec, rank: int = 0, **arguments: Any) -> CollectiveProgram:
    """The program of that specification. MSCCL++ makes something of it that a GPU can run; here its plan is written and judged."""
    program = algo(algo_spec, **arguments)
    program.to_json()
    return program


def stand_in() -> None:
    """From now on, `import mscclpp` finds this package."""
    language = importlib.import_module(f"{__name__}.language")
    sys.modules["mscclpp"] = sys.modules[__name__]
    sys.modules["mscclpp.language"] = language
    for name in _MODULES:
        sys.modules[f"mscclpp.language.{name}"] = importlib.import_module(f"{__name__}.language.{name}")
    sys.modules["mscclpp.language.pipeline"] = sys.modules["mscclpp.language.loop"]  # as it was called

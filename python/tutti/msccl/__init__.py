"""The names of msccl-tools, so that its programs run unchanged: chunks that are copied and reduced.

`tutti compile program.py` runs a program with this package in place of `msccl`. A program can also import it itself:
`from tutti.msccl.language import *`.
"""

import importlib
import sys

_MODULES = [
    "language", "language.chunk", "language.buffer", "language.collectives", "language.ir", "language.routines", "language.types",
    "topologies", "topologies.topology", "topologies.generic", "topologies.distributed", "topologies.nvidia", "collectives",
]


def stand_in() -> None:
    """From now on, `import msccl` finds this package."""
    sys.modules["msccl"] = sys.modules[__name__]
    for name in _MODULES:
        sys.modules[f"msccl.{name}"] = importlib.import_module(f"{__name__}.{name}")

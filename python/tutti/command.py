"""The command `tutti`, which lies in the package."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

_HERE = Path(__file__).parent


def command() -> str:
    """The program: the one that TUTTI_COMMAND names, else the package's own, else the one of the PATH."""
    own = _HERE / "bin" / "tutti"
    found = os.environ.get("TUTTI_COMMAND") or (str(own) if own.exists() else shutil.which("tutti"))
    if found is None:
        raise FileNotFoundError("the command tutti is not found; TUTTI_COMMAND can name it")
    return found


def main() -> None:
    """Becomes the command. Programs for msccl-tools are run by this very Python, with this very package."""
    os.environ.setdefault("TUTTI_PYTHON", sys.executable)
    os.environ.setdefault("TUTTI_PYTHONPATH", str(_HERE.parent))
    os.execv(_HERE / "bin" / "tutti", ["tutti", *sys.argv[1:]])

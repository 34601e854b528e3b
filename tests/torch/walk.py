#!/usr/bin/env python3
"""docs/from-jax-to-torch.md is what happens: every command of its sessions is run, in order, in a copy of examples/from_jax, and prints the lines that stand there; numbers
may be others. "..." stands for lines that are left out. Skipped (77) where PyTorch or jax is not installed.

    PYTHONPATH=python python3 tests/torch/walk.py build/release/tutti
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/from-jax-to-torch.md"


def sessions():
    """(command, the lines that it is said to print)."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.splitlines()


def plain(line: str) -> str:
    return re.sub(r"-+", "-", re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "#", " ".join(line.split())))


def missing(expected: list[str], found: list[str]) -> str:
    """The first line that is not where it should be, or nothing."""
    at, skips = 0, False
    lines = [plain(line) for line in found]
    for line in expected:
        if line.strip() == "...":
            skips = True
            continue
        places = range(at, len(lines)) if skips else range(at, min(at + 1, len(lines)))
        place = next((place for place in places if lines[place] == plain(line)), None)
        if place is None:
            return line
        at, skips = place + 1, False
    return "" if skips or at == len(lines) else f"nothing more, found {found[at]}"


def main() -> int:
    if not all(importlib.util.find_spec(name) for name in ("torch", "jax")):
        print("skipped: PyTorch or jax is not installed")
        return 77
    count = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        shutil.copytree(ROOT / "examples", folder / "examples")
        (folder / "bin").mkdir()
        for name, target in (("tutti", Path(sys.argv[1]).resolve()), ("python3", sys.executable)):
            (folder / "bin" / name).write_text(f'#!/bin/sh\nexec "{target}" "$@"\n')
            (folder / "bin" / name).chmod(0o755)
        environment = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TUTTI_COMMAND": str(Path(sys.argv[1]).resolve()), "PYTHONPATH": str(ROOT / "python")}
        for command, expected in sessions():
            done = subprocess.run(command, shell=True, cwd=folder / "examples/from_jax", env=environment, capture_output=True, text=True)
            line = missing(expected, done.stdout.rstrip("\n").splitlines() if done.stdout.strip() else [])
            if done.returncode != 0 or line:
                print(f"FAILED: {command}: exit code {done.returncode}, expected the line: {line}\n{done.stdout}{done.stderr}")
                return 1
            count += 1
    print(f"{count} commands of docs/from-jax-to-torch.md print what it says")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())

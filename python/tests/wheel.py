#!/usr/bin/env python3
"""Makes a wheel with pip, installs it into a fresh environment and uses it there: the module and the command, first without the solvers, then with them.

`wheel.py SOURCES BUILD DEPS`: pip gets the build folder that is there, where everything is compiled already, and what it would download from DEPS. The solvers'
own wheels are not downloaded: links to what scripts/setup has unpacked of them stand where pip would put them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Where a solver's package puts what scripts/setup keeps of it: the folder in DEPS, and that below site-packages.
SOLVERS = {"z3": [("z3", "z3")], "highs": [("highs", "highsbox/highs_dist")], "cpsat": [("ortools/ortools", "ortools"), ("ortools/ortools.libs", "ortools.libs")]}
# Small, and the greedy schedule and the bounds do not meet: every exact method has to ask its solver.
INSTANCE, OPTIMUM = "instances/custom/custom-asymmetric-triangle.json", 16
PROGRAM = """from msccl.language import *
from msccl.topologies import *
from msccl.language.collectives import AllGather
with MSCCLProgram('direct', fully_connected(3), AllGather(3, 1, False), 1):
    for r in range(3):
        for to in range(3): chunk(r, Buffer.input, 0).copy(to, Buffer.output, r)
    XML()
"""


def run(*words: object, env: dict[str, str] | None = None, code: int = 0) -> str:
    done = subprocess.run([str(word) for word in words], env=env, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(condition: bool, message: str) -> None:
    if not condition:
        sys.exit(f"failed: {message}")


def doctor(words: Sequence[object], env: dict[str, str]) -> dict[str, Any]:
    return {entry["name"]: entry for entry in json.loads(run(*words, "doctor", "--json", env=env))["backends"]}


def main() -> None:
    sources, build, deps = (Path(word).resolve() for word in sys.argv[1:])
    # Nothing of the caller's but what every program needs.
    clean = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR")}
    with tempfile.TemporaryDirectory(prefix="tutti-wheel-") as name:
        scratch = Path(name)
        # Without it scikit-build-core does not see that another Python made the last wheel, for which it would forget how the folder was configured.
        (build / ".skbuild-info.json").unlink(missing_ok=True)
        run(sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", sources, "--no-build-isolation", "--no-deps", "--no-index",
            "--wheel-dir", scratch, "--config-settings", f"build-dir={build}", "--config-settings", "cmake.define.TUTTI_BUILD_TESTS=ON",
            *(f"--config-settings=cmake.define.TUTTI_WITH_{solver}=AUTO" for solver in ("CPSAT", "HIGHS", "Z3")))
        (wheel,) = scratch.glob("tutti-*.whl")
        version = f"cp{sys.version_info.major}{sys.version_info.minor}"
        check(("-cp312-abi3-" if sys.version_info >= (3, 12) else f"-{version}-{version}-") in wheel.name, f"the wheel is called {wheel.name}")
        inside = set(zipfile.ZipFile(wheel).namelist())
        for file in ("tutti/py.typed", "tutti/_core.pyi", "tutti/bin/tutti", "tutti/tutti-solver", "tutti/msccl/__init__.py", "tutti/programs.py"):
            check(file in inside, f"there is no {file} in the wheel")
        check(not [file for file in inside if "__pycache__" in file or "/tests/" in file or not file.startswith(("tutti/", "tutti-"))], f"the wheel has more than it should: {inside}")

        venv, python = scratch / "venv", scratch / "venv/bin/python"
        run(sys.executable, "-m", "venv", "--without-pip", venv, env=clean)
        run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--no-deps", "--no-index", wheel)
        (site,) = venv.glob("lib/python*/site-packages")
        for package in ("numpy", "numpy.libs"):
            (site / package).symlink_to(deps / "python" / package)
        tutti = venv / "bin/tutti"

        built = doctor([build / "tutti"], clean)
        ours = [solver for solver, entry in built.items() if entry["present"] and str(deps) in entry["file"]]
        without = doctor([tutti], clean)
        for solver in ours:
            check(not without[solver]["present"] and "cannot be loaded" in without[solver]["reason"], f"{solver} without its package: {without[solver]}")
        schedule = scratch / "schedule.json"
        run(tutti, "synth", sources / INSTANCE, "--method", "greedy", "-o", schedule, "--quiet", env=clean)
        run(tutti, "verify", sources / INSTANCE, schedule, env=clean)
        (scratch / "program.py").write_text(PROGRAM)
        run(tutti, "compile", scratch / "program.py", "-o", scratch / "plan.xml", env=clean)
        run(python, "-m", "tutti", "verify", scratch / "plan.xml", env=clean)
        run(tutti, "no-such-command", env=clean, code=2)
        run(site / "tutti/tutti-solver", env=clean, code=2)  # the helper is no program for people, and says so
        said = run(python, "-c", f"import tutti; print(tutti.__version__, tutti.synthesize({str(sources / INSTANCE)!r}, method='greedy').facts['verified'])", env=clean)
        check(said.split()[1] == "True" and said.split()[0] in wheel.name, f"the module says {said}")

        for solver in ours:
            for folder, place in SOLVERS[solver]:
                (site / place).parent.mkdir(exist_ok=True)
                (site / place).symlink_to(deps / folder)
        for words in ([tutti], [python, "-m", "tutti"]):
            for solver, entry in doctor(words, clean).items():
                check(solver not in ours or entry.get("works") is True, f"{solver} with its package: {entry}")
        for solver in ours:
            said = run(python, "-c", f"import tutti; print(tutti.synthesize({str(sources / INSTANCE)!r}, method={solver!r}).makespan)", env=clean)
            check(said == f"{OPTIMUM}\n", f"with {solver} the makespan is {said}")
    print(f"{wheel.name} works; with solvers: {', '.join(ours) or 'none'}")


if __name__ == "__main__":
    main()

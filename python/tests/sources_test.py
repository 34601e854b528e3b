"""The package without its compiled part, as `tutti compile program.py` uses it: in the sources, with nothing installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conftest import ROOT


def test_programs_for_msccl_tools_need_neither_numpy_nor_the_compiled_part(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError")
    program = "import sys, tutti, tutti.msccl.language; assert tutti.ProgramError and 'tutti._core' not in sys.modules and 'numpy' not in sys.modules"
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'python'}"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_a_program_for_msccl_tools_prints_its_plan_when_it_is_run_by_itself(tmp_path: Path) -> None:
    program = ("from tutti.msccl.language import *\nfrom tutti.msccl.topologies import *\nfrom tutti.msccl.language.collectives import AllGather\n"
               "with MSCCLProgram('direct', fully_connected(2), AllGather(2, 1, False), 1):\n"
               "    for r in range(2):\n        for to in range(2): chunk(r, Buffer.input, 0).copy(to, Buffer.output, r)\n    XML()\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("<algo name=\"direct\"")


def test_nothing_is_said_when_a_program_ends_that_still_holds_something() -> None:
    program = "import tutti, tutti._core; tutti._core.held = (tutti.Program(tutti.AllReduce(2)), tutti.topology('ring', npus=4))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""

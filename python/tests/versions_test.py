"""What is pinned in two places is pinned alike."""

from __future__ import annotations

import re

from conftest import ROOT


def pinned(file: str) -> set[str]:
    lines = (ROOT / file).read_text().splitlines()
    return {re.split(r"[ ;]", line)[0] for line in lines if line and not line.startswith("#")}


def test_the_extra_names_the_solvers_for_which_modules_are_built() -> None:
    extra = re.search(r"^solvers = \[(.*?)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert extra is not None
    assert set(re.findall(r'"(.*?)"', extra[1])) == pinned("scripts/solvers.lock")


def test_pip_builds_with_what_the_tests_build_with() -> None:
    requires = re.search(r"^requires = \[(.*?)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert requires is not None
    needed = set(re.findall(r'"(.*?)"', requires[1]))
    assert needed and needed <= pinned("scripts/python.lock")

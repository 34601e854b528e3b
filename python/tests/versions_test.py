"""What is pinned in two places is pinned alike."""

from __future__ import annotations

import re

from conftest import ROOT


def pinned(file: str) -> set[str]:
    lines = (ROOT / file).read_text().splitlines()
    return {re.split(r"[ ;]", line)[0] for line in lines if line and not line.startswith("#")}


def listed(key: str) -> set[str]:
    """The requirements of a list of pyproject.toml, without the machines that they are for."""
    found = re.search(rf"^{key} = \[(.*?)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return {word.split(";")[0] for word in re.findall(r'"(.*?)"', found[1])}


def test_the_extra_names_the_solvers_for_which_modules_are_built() -> None:
    extra = listed("solvers")
    assert extra == pinned("scripts/solvers.lock")


def test_pip_builds_with_what_the_tests_build_with() -> None:
    needed = listed("requires")
    assert needed <= pinned("scripts/python.lock") | pinned("scripts/solvers.lock")


def test_pip_brings_the_solvers_whose_headers_modules_need() -> None:
    names = {requirement.split("==")[0] for requirement in listed("requires")}
    assert {"z3-solver", "highsbox"} <= names

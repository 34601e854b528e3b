"""What pages and examples show is what happens."""

from __future__ import annotations

import linecache
import re
import runpy
from pathlib import Path

import pytest
from conftest import ROOT

EXAMPLES = sorted((ROOT / "python/examples").glob("*.py"))


def run_blocks(page: str) -> int:
    """Runs the Python of a page, one block after the other, and returns how many there are."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks, 1):
        file = f"{page}, block {number}"
        linecache.cache[file] = (len(block), None, block.splitlines(True), file)  # so that a failure shows its line
        exec(compile(block, file, "exec"), names)
    return len(blocks)


def test_the_examples_of_the_page_run_in_order(in_empty_folder: Path) -> None:
    assert run_blocks("docs/python.md") > 10


def test_the_example_of_the_readme_runs(in_empty_folder: Path) -> None:
    example = re.search(r"^Save as `corners.json`.*?^```json\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert example is not None
    (in_empty_folder / "corners.json").write_text(example[1])
    assert run_blocks("README.md") == 1


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path, in_empty_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_every_public_name_is_on_the_page() -> None:
    import tutti

    page = (ROOT / "docs/python.md").read_text()
    assert [name for name in tutti.__all__ if name not in page] == []
    assert all(getattr(tutti, name).__doc__ for name in tutti.__all__)

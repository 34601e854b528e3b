"""What tests share: the files of the repository, and an empty folder to work in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import tutti  # noqa: F401  # first, so that all tests have the package of the build folder

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def in_empty_folder(tmp_path: Path) -> Iterator[Path]:
    before = os.getcwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)

"""Between Python's values and the files and texts that the compiled part takes."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Union

from tutti import _core
from tutti.errors import InputError

PathLike = Union[str, "os.PathLike[str]"]
Size = Union[int, str]
Progress = Callable[[str], object]


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        yield Path(folder)


def size(value: Size) -> int:
    """A number of bytes: 67108864 or "64M"."""
    if isinstance(value, str):
        number = _core.size_in(value)
        if number is None:
            raise InputError(f"expected a number of bytes like 1048576, \"64K\" or \"1.5G\", found {value!r}")
        return number
    return int(value)


def optional_size(value: Size | None) -> int | None:
    return None if value is None else size(value)


def sizes(values: Size | Iterable[Size] | None) -> list[int]:
    """One size, or several in ascending order, each once."""
    if values is None:
        return []
    if isinstance(values, (int, str)) or hasattr(values, "__index__"):
        return [size(values)]  # type: ignore[arg-type]
    return sorted({size(value) for value in values})


def _plain(value: Any) -> Any:
    """What JSON has no form for: numpy's arrays and numbers, paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    raise InputError(f"expected what JSON can say, or numpy arrays; found {type(value).__name__}")


def json_text(value: Any) -> str:
    return json.dumps(value, default=_plain)

"""Between Python's values and the files and texts that the compiled part takes."""

from __future__ import annotations

import json
import os
import shutil
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


_MEMORY = "/dev/shm"
_MOST_IN_MEMORY = 16 << 20


def new_folder(most_bytes: int | None = None) -> tempfile.TemporaryDirectory[str]:
    """A folder until it is forgotten. In memory where it holds little: files are synced when they are written, for which a disk takes milliseconds."""
    little = most_bytes is not None and most_bytes <= _MOST_IN_MEMORY
    in_memory = little and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= 2 * _MOST_IN_MEMORY
    return tempfile.TemporaryDirectory(prefix="tutti-", dir=_MEMORY if in_memory else None)


@contextmanager
def scratch_folder(most_bytes: int | None = None) -> Iterator[Path]:
    """The same for as long as the block lasts."""
    with new_folder(most_bytes) as folder:
        yield Path(folder)


def file_name(path: PathLike) -> str:
    """For calls that would take "-" for standard input or output."""
    name = os.fspath(path)
    if name == "-":
        raise InputError("expected a file; ./- is one called -", name)
    return name


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

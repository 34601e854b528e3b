"""Many instances at once: the command's batches, whose tasks are processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tutti.command import command
from tutti.errors import Error, InputError
from tutti.files import PathLike, Progress, Size, size


@dataclass(frozen=True)
class Run:
    """What a batch did. `rows` has a dict for each task, with the keys of results/README.md; a failure is a row, too."""

    folder: Path
    instances: int
    verified: int
    optimal: int
    failed: int
    mean_gap: float | None
    complete: bool
    rows: list[dict[str, Any]] = field(repr=False)


def _pass_on(lines: IO[str], progress: Progress | None, said: list[str]) -> None:
    for line in lines:
        said.append(line.rstrip("\n"))
        if progress is not None:
            progress(line.rstrip("\n"))


def batch(
    paths: PathLike | Sequence[PathLike] = (), *, results: PathLike, time_limit: float | None = None, methods: Sequence[str] = (),
    heuristics: Sequence[str] = (), chunks: Sequence[int] = (), bytes: Sequence[Size] = (), seeds: Sequence[int] = (), jobs: int | None = None,
    threads: int | None = None, memory_limit: Size | None = None, run: PathLike | None = None, resume: bool = False, report: bool = True,
    progress: Progress | None = None,
) -> Run:
    """Solves every instance of files and folders, each task in a process of its own with its limits; docs/batch.md explains all of it.

    The results folder is as `tutti batch` leaves it: after Ctrl-C, which raises KeyboardInterrupt, `resume=True` does what is missing. `progress` is called with
    each line that the command says, in a thread of its own.
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    words = [command(), "batch", *(os.fspath(path) for path in several), "--results", os.fspath(results), "--json"]
    options = {"time-limit": time_limit, "jobs": jobs, "threads": threads, "memory-limit": None if memory_limit is None else size(memory_limit),
               "run": None if run is None else os.fspath(run), "method": ",".join(methods) or None, "heuristic": ",".join(heuristics) or None,
               "chunks": ",".join(map(str, chunks)) or None, "bytes": ",".join(str(size(value)) for value in bytes) or None,
               "seeds": ",".join(map(str, seeds)) or None}
    words += [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
    words += ["--resume"] * resume + ["--no-report"] * (not report)
    # A session of its own, so that Ctrl-C comes to it once: from here.
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    assert child.stdout is not None and child.stderr is not None
    said: list[str] = []
    listener = threading.Thread(target=_pass_on, args=(child.stderr, progress, said))
    listener.start()
    try:
        text = child.stdout.read()
        child.wait()
    except BaseException:
        child.send_signal(signal.SIGINT)
        child.wait()
        raise
    finally:
        listener.join()
        child.stdout.close()
        child.stderr.close()
    try:
        answer = json.loads(text)
    except ValueError:
        raise Error("\n".join(said[-5:]) or f"the command ended with exit code {child.returncode}") from None
    if "results" not in answer:
        raise InputError(str(answer.get("error", "")), str(answer.get("file", "")), str(answer.get("place", "")))
    return Run(Path(answer["results_folder"]), answer["instances"], answer["verified"], answer["optimal"], answer["failed"], answer["mean_gap"],
               answer["complete"], answer["results"])

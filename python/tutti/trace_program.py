"""python -m tutti.trace_program FOLDER PROGRAM [ARGUMENTS]: runs a program for msccl-tools with tutti.msccl in its place, or one for MSCCL++ with tutti.mscclpp.

The traces of its plans are written to FOLDER/1.chunks, FOLDER/2.chunks, …; plans of MSCCL++ to FOLDER/1.json, …, each with the lines of its operations. What goes wrong is told on standard error, and in FOLDER/error: a code, a place and a
message, a line each.
"""

import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any, Container, TextIO

from tutti.errors import ProgramError


def place_of(error: BaseException, program: str) -> str:
    """The last line of the program itself that the error went through."""
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if os.path.abspath(frame.filename) == os.path.abspath(program):
            place = f"{program}:{frame.lineno}"
    return place


def print_traceback(error: BaseException, program: str) -> None:
    """As Python would, from the program's first line on."""
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if os.path.abspath(frame.filename) == os.path.abspath(program)), len(frames))
    if first < len(frames):
        print("Traceback (most recent call last):", *traceback.format_list(frames[first:]), sep="\n", end="", file=sys.stderr)
    print(*traceback.format_exception_only(error), sep="", end="", file=sys.stderr)


class WithoutPlans:
    """Standard output, but for plans: programs for MSCCL++ print theirs, and the command writes it."""

    def __init__(self, output: TextIO, plans: Container[str]) -> None:
        self._output = output
        self._plans = plans
        self._dropped = False

    def write(self, text: str) -> int:
        ends_plan = self._dropped and text == "\n"
        self._dropped = text in self._plans
        if not self._dropped and not ends_plan:
            self._output.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._output, name)


def tell(folder: Path, code: str, place: str, message: str) -> None:
    (folder / "error").write_text(f"{code}\n{place}\n{message}", errors="replace")


def main() -> int:
    folder, program = Path(sys.argv[1]), sys.argv[2]
    from tutti import msccl, mscclpp
    from tutti.msccl import language
    from tutti.mscclpp.language import core

    msccl.stand_in()
    language.write_traces_to(folder)
    mscclpp.stand_in()
    core.write_plans_to(folder)
    sys.stdout = WithoutPlans(sys.stdout, core.texts)
    sys.argv = sys.argv[2:]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    try:
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as ended:
            if ended.code not in (None, 0):
                raise
        core.write_remaining()
    except ProgramError as error:
        tell(folder, error.code, error.place or place_of(error, program), error.message)
        return 1
    except SystemExit as error:
        tell(folder, "program-error", place_of(error, program), f"the program ended with {error.code}")
        return 2
    except BaseException as error:  # whatever the program raises is told, KeyboardInterrupt too
        print_traceback(error, program)
        words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        tell(folder, "program-error", place_of(error, program), words)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

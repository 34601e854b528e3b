"""What goes wrong, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tutti.judging import Verdict


class Error(Exception):
    """Any error of tutti's own."""


class InputError(Error):
    """A file or an argument is wrong, and you can correct it.

    `file` is the file and `place` the JSON path ("/topology/links/3/beta") or "line:column" in it; each is empty where it is not known.
    """

    def __init__(self, message: str, file: str = "", place: str = "") -> None:
        super().__init__(f"{file}: " * bool(file) + f"at {place}: " * bool(place) + message)
        self.message = message
        self.file = file
        self.place = place


class OutputError(InputError):
    """Something cannot be written: the disk is full, or permission is missing."""


class ProgramError(Error):
    """A chunk program is wrong: a verb that cannot be meant, or an end that is not what the collective wants.

    `code` is "check-failed" or "counted-twice" where the program ran but does not do what its collective wants, else "program-error"; `place` is the line of the
    program, "ring.py:12", if it is known, and `file` and `line` are its parts.
    """

    def __init__(self, message: str, code: str = "program-error", place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.code = code
        self.place = place

    @property
    def file(self) -> str:
        """Empty where the place is not known."""
        return self.place.rpartition(":")[0]

    @property
    def line(self) -> int:
        """0 where the place is not known."""
        line = self.place.rpartition(":")[2]
        return int(line) if line.isdigit() else 0


class PlanError(Error):
    """A plan or schedule was judged wrong where a right one is needed; `verdict` says everything that is known of it."""

    def __init__(self, message: str, verdict: Verdict | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.verdict = verdict


class InfeasibleError(Error):
    """No schedule can satisfy the instance: a receiver cannot be reached."""


class LimitError(Error):
    """A limit (time, memory) was reached before there was any answer."""


class InternalError(Error):
    """A bug in tutti."""

"""Chunk programs: traced verb by verb, checked, and compiled to plans that are verified."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tutti import _core
from tutti.collectives import Collective
from tutti.errors import InputError, ProgramError
from tutti.files import PathLike, Progress, Size, optional_size, scratch_folder
from tutti.plans import Compiled, Plan, suffix_of



def _default_format(target: str | None) -> str:
    return "mscclpp-json" if target == "mscclpp" else "msccl-xml"


def _plan(facts: dict[str, Any], format: str, compiled: Compiled | None) -> Plan:
    file, condition = Path(facts.pop("file")), facts.pop("condition")
    return Plan(file.read_text(), format, facts["name"], facts["collective"], facts["ranks"], facts["steps"], facts["channels"], facts["thread_blocks"],
                None if condition is None else Path(condition).read_text(), facts, compiled)


def _compile_file(
    program: str, folder: Path, format: str, target: str | None, min_bytes: Size | None, max_bytes: Size | None, instances: int | None, as_custom: bool,
    compiled: Compiled | None, arguments: Sequence[str] = (), ranks: int = 0, collective: str = "all_reduce", in_place: bool | None = None, root: int = 0,
    parameters: Mapping[str, int] | None = None, progress: Progress | None = None,
) -> list[Plan]:
    """Raises ProgramError with the first finding."""
    answer = json.loads(_core.compile(
        program, list(arguments), str(folder / f"plan{suffix_of(format)}"), format, target if format == "msccl-xml" else None, optional_size(min_bytes),
        optional_size(max_bytes), instances, as_custom, ranks, collective, in_place, root, dict(parameters or {}), progress))
    for finding in answer["findings"]:
        raise ProgramError(finding["message"], finding["code"], finding["place"])
    return [_plan(facts, format, compiled) for facts in answer["plans"]]


def compile_trace(
    trace: bytes, *, format: str | None = None, target: str | None = None, min_bytes: Size | None = None, max_bytes: Size | None = None,
    instances: int | None = None, as_custom: bool = False, progress: Progress | None = None,
) -> Plan:
    """The plan of a program that was traced."""
    options = {"target": target, "min_bytes": min_bytes, "max_bytes": max_bytes, "instances": instances, "as_custom": as_custom}
    with scratch_folder(16 * len(trace)) as folder:
        file = folder / "program.chunks"
        file.write_bytes(trace)
        try:
            return _compile_file(str(file), folder, format or _default_format(target), target, min_bytes, max_bytes, instances, as_custom,
                                 Compiled(trace, options), progress=progress)[0]
        except InputError as error:
            if error.file != str(file):
                raise
            raise ProgramError(error.message, place=error.place) from None


def compile_all(
    program: PathLike, *, arguments: Sequence[str] = (), ranks: int = 0, collective: str = "all_reduce", in_place: bool | None = None, root: int = 0,
    parameters: Mapping[str, int] | None = None, format: str | None = None, target: str | None = None, min_bytes: Size | None = None,
    max_bytes: Size | None = None, instances: int | None = None, as_custom: bool = False, progress: Progress | None = None,
) -> list[Plan]:
    """As `compile`, for files whose programs describe several plans."""
    if os.fspath(program).endswith(".py"):  # is run by this very Python, with this very package
        os.environ.setdefault("TUTTI_PYTHON", sys.executable)
        os.environ.setdefault("TUTTI_PYTHONPATH", str(Path(__file__).parent.parent))
    with scratch_folder() as folder:
        return _compile_file(os.fspath(program), folder, format or _default_format(target), target, min_bytes, max_bytes, instances, as_custom, None, arguments,
                             ranks, collective, in_place, root, parameters, progress)


def compile(
    program: _core.Program | PathLike, *, arguments: Sequence[str] = (), ranks: int = 0, collective: str = "all_reduce", in_place: bool | None = None,
    root: int = 0, parameters: Mapping[str, int] | None = None, format: str | None = None, target: str | None = None, min_bytes: Size | None = None,
    max_bytes: Size | None = None, instances: int | None = None, as_custom: bool = False, progress: Progress | None = None,
) -> Plan:
    """The plan of a program: a `Program`, a Python program for msccl-tools (with its `arguments`), a trace file (.chunks), or with `ranks` an algorithm of the
    library by its name (with `collective`, `in_place`, `root` and `parameters`).

    It is checked, compiled, and verified for every interleaving. Raises ProgramError, with the line, where the program does not do what its collective wants.
    `format` is "msccl-xml", "trace" (or what else the command's --to has), `target` the runtime whose limits count, `instances` how many copies of the program
    share the data; with `as_custom` what the program ends with is what is wanted.
    """
    if isinstance(program, _core.Program):
        return compile_trace(program.trace(), format=format, target=target, min_bytes=min_bytes, max_bytes=max_bytes, instances=instances, as_custom=as_custom,
                             progress=progress)
    plans = compile_all(program, arguments=arguments, ranks=ranks, collective=collective, in_place=in_place, root=root, parameters=parameters, format=format,
                        target=target, min_bytes=min_bytes, max_bytes=max_bytes, instances=instances, as_custom=as_custom, progress=progress)
    if len(plans) != 1:
        raise ProgramError(f"the program describes {len(plans)} plans, expected one; tutti.programs.compile_all returns all of them")
    return plans[0]


class Algorithm:
    """A function that writes a program, made by `@tutti.algorithm`; its arguments but the first are the algorithm's parameters."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self.signature = inspect.signature(function)
        own = set(inspect.signature(self.compile).parameters) & set(list(self.signature.parameters)[1:])
        if own:
            raise InputError(f"{self.name}: a parameter cannot be called {', '.join(sorted(own))}: compile() has that name for itself")

    def __call__(self, program: _core.Program, *arguments: object, **parameters: object) -> object:
        """Writes its verbs to the program, so that algorithms can be parts of others."""
        return self.function(program, *arguments, **parameters)

    def trace(
        self, collective: Collective, *, protocol: str = "Simple", instances: int = 1, interleaved: bool = True, policy: str = "auto", fusion: bool = True,
        **parameters: object,
    ) -> _core.Program:
        """The program, not checked yet."""
        program = _core.Program(collective, self.name, protocol, instances, interleaved, policy, fusion)
        try:
            self.signature.bind(program, **parameters)
        except TypeError as error:
            raise InputError(f"{self.name}: {error}") from None
        self.function(program, **parameters)
        return program

    def compile(
        self, collective: Collective, *, target: str | None = None, format: str | None = None, protocol: str = "Simple", instances: int = 1,
        interleaved: bool = True, policy: str = "auto", fusion: bool = True, min_bytes: Size | None = None, max_bytes: Size | None = None,
        progress: Progress | None = None, **parameters: object,
    ) -> Plan:
        """The plan of the program with these parameters, as `tutti.compile` makes it.

        `policy` "manual" leaves it to the verbs' sendtb, recvtb and ch what runs where; `interleaved` says how `instances` share a chunk.
        """
        program = self.trace(collective, protocol=protocol, instances=instances, interleaved=interleaved, policy=policy, fusion=fusion, **parameters)
        return compile(program, target=target, format=format, min_bytes=min_bytes, max_bytes=max_bytes, progress=progress)

    def __repr__(self) -> str:
        return f"<Algorithm {self.name}>"


def algorithm(function: Callable[..., object]) -> Algorithm:
    """Makes an `Algorithm` of a function that writes a program:

        @tutti.algorithm
        def ring(p: tutti.Program, channels: int = 1) -> None: …
    """
    return Algorithm(function)

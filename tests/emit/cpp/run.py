#!/usr/bin/env python3
"""Emitted C++ programs (convert --to cpp) are compiled, run, and give the reference numbers on every rank within 1e-9: programs of tests/data/tensor, as written and by
schedules that split, slice, fuse and overlap them. With --cases also those of tutti_random_programs (tests/emit/random_programs.cpp), many compiled in one go.

    python3 tests/emit/cpp/run.py build/release/tutti [--include src] [--compiler g++] [--all] [--only adam] [--cases FILE]
"""

from __future__ import annotations

import argparse
import array
import itertools
import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
DATA = ROOT / "tests/data/tensor"
# A compiler takes a second or two for each; --all is every legal schedule, on every mesh that there are numbers of.
CHOSEN = {("adam", "fuse(RS-C-AG)"), ("lamb", "RS-C-AG, sliced state"), ("matmul_block", None), ("mlp_block", "RS-C-AG"), ("moe", "reachable 0"), ("pipeline_step", None)}


def cases(every: bool, only: str, chosen=frozenset(CHOSEN)):
    """(name, program at the sizes of the numbers, steps, numbers)."""
    schedules = [json.loads(line) for line in (DATA / "legal.jsonl").read_text().splitlines()]
    for path in sorted((DATA / "numbers").glob("*.json")):
        numbers = json.loads(path.read_text())
        program = json.loads((DATA / "programs" / f"{numbers['program']}.json").read_text())
        program = program | {"mesh": {"axes": [[axis, numbers["mesh"][axis]] for axis, _ in program["mesh"]["axes"]]}, "sizes": numbers["sizes"]}
        mine = [one for one in schedules if one["program"] == numbers["program"]]
        if not every:  # the smallest mesh that has two ranks, and one schedule; where none is named, the last, which is the longest
            mine = [one for one in mine if (one["program"], one["name"]) in chosen] or [one for one in mine if (one["program"], None) in chosen][-1:]
            if path != smallest(numbers["program"]):
                continue
        for schedule in mine:
            if only in f"{path.stem}, {schedule['name']}":
                yield f"{path.stem}, {schedule['name']}", program, schedule["steps"], numbers


def smallest(program: str) -> Path:
    def ranks(path: Path) -> tuple[int, str]:
        count = math.prod(json.loads(path.read_text())["mesh"].values())
        return (count if count > 1 else 1 << 20, path.name)
    return min((DATA / "numbers").glob(f"{program}-*.json"), key=ranks)


def flat(numbers):
    return list(itertools.chain.from_iterable(map(flat, numbers))) if isinstance(numbers, list) else [float(numbers)]


def part(whole, shape, layout, axes, place):
    """A rank's elements of an array with a dimension for each axis, then its own: flat."""
    ahead = []
    for axis, _ in axes:
        ahead.append(place[axis] if len(whole) > 1 else 0)
        whole = whole[ahead[-1]]
    bounds = []
    for dim, size in enumerate(shape):
        begin, end, nominal = 0, size, size
        for axis, count in axes:
            if layout.get(axis) == {"sliced": dim}:
                nominal = -(-nominal // count)
                begin = min(begin + nominal * place[axis], end)
                end = min(begin + nominal, end)
        bounds.append((begin, end))

    def taken(numbers, dims):
        return [float(numbers)] if not dims else list(itertools.chain.from_iterable(taken(one, dims[1:]) for one in numbers[slice(*dims[0])]))
    return taken(whole, bounds)


def shape_of(numbers, dims):
    shape = []
    while isinstance(numbers, list):
        shape.append(len(numbers))
        numbers = numbers[0] if numbers else 0
    return shape[dims:]


def compiled_once(options, folder: Path, headers: list[str], flags: list[str]) -> list[str]:
    """Where programs find the first of these headers of src/emit, which is compiled here once for all of them (by GCC; others read it anew): a third of the time, with the 192 programs of --all."""
    (folder / "emit").mkdir()
    for header in headers:
        shutil.copy(Path(options.include) / "emit" / header, folder / "emit" / header)
    subprocess.run([options.compiler, *flags, f"-I{folder}", "-x", "c++-header", folder / "emit" / headers[0], "-o", folder / "emit" / f"{headers[0]}.gch"], capture_output=True)
    return [f"-I{folder}", f"-I{options.include}"]


def written(folder: Path, program, steps) -> list[Path]:
    """The files of a program and its schedule."""
    files = [folder / "program.json"]
    files[0].write_text(json.dumps(program))
    if steps:
        files.append(folder / "schedule.json")
        files[1].write_text(json.dumps({"tutti_tensor_schedule": 1, "program": program["name"], "steps": steps}))
    return files


def converted(options, folder: Path, files: list[Path], suffix: str) -> str:
    """Writes step.SUFFIX, and step.program beside it."""
    for target in (suffix, "program"):
        done = subprocess.run([options.tutti, "convert", *files, "--to", {"cu": "cuda"}.get(target, target), "-q", "-o", folder / f"step.{target}"], capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr
    return ""


def write_inputs(folder: Path, numbers) -> None:
    for name, numbers_of in numbers["inputs"].items():
        (folder / f"{name}.f64").write_bytes(array.array("d", flat(numbers_of)).tobytes())


def flags(options) -> list[str]:
    return ["-std=c++20", "-O0", *numbers_flag(options), "-Wall", "-Wextra", "-pthread"]


def numbers_flag(options) -> list[str]:
    return [] if options.declared else ["-DTUTTI_F64"]


def wrong(options, folder: Path, includes: list[str], program, steps, numbers) -> str:
    """What is wrong with a case, or nothing."""
    files = written(folder, program, steps)
    words = converted(options, folder, files, "cpp")
    if words:
        return words
    judged = subprocess.run([options.tutti, "verify", *files, "--json", "-q"] if steps else [options.tutti, "verify", files[0], files[0], "--json", "-q"], capture_output=True, text=True)
    if judged.returncode != 0:
        return judged.stderr
    done = subprocess.run([options.compiler, *flags(options), "-Werror", *includes, folder / "step.cpp", "-o", folder / "step"], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr[:3000]
    write_inputs(folder, numbers)
    done = subprocess.run([folder / "step", folder, "2"], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return done.stderr
    return difference(folder, json.loads((folder / "step.program").read_text()), numbers, tolerance=tolerance(options, program))


def tolerance(options, program) -> float:
    """How far numbers may be off, relative to the largest: anything, where there are halves in a program."""
    if not options.declared:
        return 1e-9
    return math.inf if any(value.get("dtype") in ("f16", "bf16") for value in program["values"]) else 1e-3


def difference(folder: Path, after, numbers, layouts=(), tolerance=1e-9) -> str:
    """What is wrong with the numbers in a folder. `layouts`: of the outputs, where they are known."""
    axes = [tuple(axis) for axis in after["mesh"]["axes"]]
    for rank, at in enumerate(itertools.product(*(range(size) for _, size in axes))):
        place = dict(zip((axis for axis, _ in axes), at))
        for name, whole, layout in itertools.zip_longest(after["outputs"], numbers["outputs"].values(), layouts):
            if any("root" in on and place[axis] != on["root"] for axis, on in (layout or {}).items() if isinstance(on, dict)):
                continue  # others have it
            path = folder / f"{name}.{rank}.f64"
            found = array.array("d")
            found.frombytes(path.read_bytes())
            candidates = possible(after, name) if layout is None else [layout]
            expected = [part(whole, shape_of(whole, len(axes)), layout, axes, place) for layout in candidates]
            scale = max(1.0, max(map(abs, flat(whole)), default=0))
            fits = [one for one in expected if len(one) == len(found) and all(abs(a - b) <= tolerance * scale or tolerance == math.inf for a, b in zip(one, found))]
            if not fits:
                return f"{name} on rank {rank} is {list(found[:4])}, expected {expected[0][:4]}"
    return ""


def possible(after, name):
    """The layout of an output: of a state, as it is stored; else as the operation says."""
    values = {value["id"]: value for value in after["values"]}
    value = values[name]
    if value["op"] == "update":
        state = values[value["args"][0]]
        return [after.get("resharded", {}).get(state["id"], state.get("layout", {}))]
    return [{}, *({axis: {"sliced": dim}} for axis, _ in after["mesh"]["axes"] for dim in range(3))]


TOGETHER = 24  # programs that are compiled as one


def wrong_of_given(options, suffix: str, compiler: list, includes: list[str], run):
    """What is wrong with each case of the file that --cases names; programs are compiled together, each in a namespace of its own. `run(program, folder, case)` says what is wrong with a run."""
    cases = [json.loads(line) for line in Path(options.cases).read_text().splitlines()]
    cases = [case for case in cases if options.only in case["name"]]
    for begin in range(0, len(cases), TOGETHER):
        with tempfile.TemporaryDirectory() as temporary:
            written_to = {}
            for number, case in enumerate(cases[begin:begin + TOGETHER]):
                folder = Path(temporary) / str(number)
                folder.mkdir()
                words = converted(options, folder, written(folder, case["program"], case["steps"]), suffix)
                if words:
                    yield case["name"], words
                    continue
                write_inputs(folder, case["numbers"])
                written_to[folder] = case
            program = Path(temporary) / "all"
            is_one = not compiled_together(program, list(written_to), suffix, compiler, includes)
            for folder, case in written_to.items():
                words = ""
                if not is_one:  # which of them?
                    program = folder / "all"
                    words = compiled_together(program, [folder], suffix, compiler, includes)
                words = words or run([program, folder.name, folder], folder, case)
                yield case["name"], words or difference(folder, json.loads((folder / "step.program").read_text()), case["numbers"], case["layouts"], tolerance(options, case["program"]))


def compiled_together(program: Path, cases: list[Path], suffix: str, compiler: list, includes: list[str]) -> str:
    """Makes a program whose first argument says which case to run."""
    text = {"cpp": '#include "emit/rank_program.hpp"\n', "cu": '#include "emit/gpu_program.hpp"\n'}[suffix] + "#include <cstdlib>\n"
    for case in cases:
        text += f'namespace case_{case.name} {{\n#include "{case}/step.{suffix}"\n}}\n'
    text += "int main(int count, char** words) {\n    switch (std::atoi(words[1])) {\n"
    for case in cases:
        text += f"        case {case.name}: return case_{case.name}::main(count - 1, words + 1);\n"
    program.with_suffix(".cpp").write_text(text + "    }\n}\n")
    done = subprocess.run([*compiler, "-Werror", "-Wno-tautological-compare", *includes, program.with_suffix(".cpp"), "-o", program], capture_output=True, text=True)
    return done.stderr[:3000]


def ran(command: list, folder: Path, case) -> str:
    try:
        done = subprocess.run([*command, "2"], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "not over in 60 s"
    return done.stderr or (f"exit code {done.returncode}" if done.returncode else "")


def report(results) -> int:
    count = failed = 0
    for name, words in results:
        count += 1
        failed += bool(words)
        if words:
            print(f"FAILED: {name}: {words}", flush=True)
    print(f"{count - failed} of {count} programs are compiled, run, and right")
    return 1 if failed or not count else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutti")
    parser.add_argument("--include", default=str(ROOT / "src"))
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cases")
    parser.add_argument("--declared", action="store_true", help="in the types that programs have, within 1e-3")
    options = parser.parse_args()

    def results(includes):
        for name, program, steps, numbers in cases(options.all, options.only):
            with tempfile.TemporaryDirectory() as folder:
                yield name, wrong(options, Path(folder), includes, program, steps, numbers)
    with tempfile.TemporaryDirectory() as once:
        includes = compiled_once(options, Path(once), ["rank_program.hpp"], flags(options))
        given = wrong_of_given(options, "cpp", [options.compiler, *flags(options)], includes, ran) if options.cases else []
        return report(itertools.chain(results(includes), given))


if __name__ == "__main__":
    sys.exit(main())

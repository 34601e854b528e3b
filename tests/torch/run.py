#!/usr/bin/env python3
"""Emitted PyTorch modules give the reference numbers on every rank: each program of tests/data/tensor, as written and under its legal
schedules, on gloo, in f64 within 1e-12. Skipped (77) where PyTorch is not installed; never a dependency. --parse only looks whether they
are Python.

    python3 tests/torch/run.py build/release/tutti [--parse] [--programs adam,moe] [--ranks 4] [--compile]
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

torch = dist = None  # imported by main
DATA = Path(__file__).resolve().parent.parent / "data" / "tensor"
TOLERANCE = 1e-12


def cases(programs: list[str] | None, ranks: int):
    """(name, program at the sizes of the numbers, steps, numbers)."""
    schedules = [json.loads(line) for line in (DATA / "legal.jsonl").read_text().splitlines()]
    for path in sorted((DATA / "numbers").glob("*.json")):
        numbers = json.loads(path.read_text())
        if math.prod(numbers["mesh"].values()) > ranks or (programs and numbers["program"] not in programs):
            continue
        program = json.loads((DATA / "programs" / f"{numbers['program']}.json").read_text())
        program["mesh"] = {"axes": [[axis, numbers["mesh"][axis]] for axis, _ in program["mesh"]["axes"]]}
        program["sizes"] = numbers["sizes"]
        yield f"{path.stem}, as written", program, None, numbers
        for schedule in schedules:
            if schedule["program"] == numbers["program"] and schedule["steps"]:
                yield f"{path.stem}, {schedule['name']}", program, schedule["steps"], numbers


def convert(tutti: str, folder: Path, number: int, program, steps) -> tuple[Path | None, str]:
    """The module, or what the command said against it."""
    files = [folder / f"{number}.program.json"]
    files[0].write_text(json.dumps(program))
    if steps:
        files.append(folder / f"{number}.schedule.json")
        files[1].write_text(json.dumps({"tutti_tensor_schedule": 1, "program": program["name"], "steps": steps}))
    module = folder / f"m{number}.py"
    run = subprocess.run([tutti, "convert", *files, "--to", "torch", "-q", "-o", module], capture_output=True, text=True)
    return (module if run.returncode == 0 else None), run.stderr.strip()


def import_torch() -> bool:
    global torch, dist
    try:
        torch = importlib.import_module("torch")
        dist = importlib.import_module("torch.distributed")
    except (ImportError, OSError, ValueError) as error:
        print(f"skipped: PyTorch is not installed ({error})")
        return False
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    return True


def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def own_part(module, name: str, array, coords):
    """Of an array as the numbers have it: a dimension for each axis, then the tensor's own."""
    whole = torch.tensor(array, dtype=torch.float64)
    for axis in module.AXES:
        whole = whole[coords[axis] if whole.shape[0] > 1 else 0]
    return module.own_part(name, whole, coords)


def check(module, numbers, compiled: bool) -> float:
    """The largest error of this rank's outputs, relative to the largest element."""
    groups, coords = module.make_groups(), module.coordinates()
    inputs = {name: own_part(module, name, array, coords) for name, array in numbers["inputs"].items()}
    step = torch.compile(module.step) if compiled else module.step
    outputs = step(inputs, groups, coords, floats=torch.float64)
    worst = 0.0
    for array, (name, output) in zip(numbers["outputs"].values(), outputs.items()):  # a schedule may rename outputs: out, out.ag
        if output is None:
            continue
        expected = own_part(module, name, array, coords)
        if output.shape != expected.shape:
            raise AssertionError(f"{name} has shape {tuple(output.shape)}, expected {tuple(expected.shape)}")
        if expected.numel():
            scale = max(1.0, torch.tensor(array, dtype=torch.float64).abs().max().item())
            worst = max(worst, (output - expected).abs().max().item() / scale)
    module.store(inputs, outputs)
    return worst


def rank_main(rank: int, size: int, folder: Path, modules, compiled: bool) -> int:
    """All modules for this many ranks, in one process for each rank."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet{size}", rank=rank, world_size=size)
    for name, path, numbers in modules:
        try:
            error = check(load(path), numbers, compiled)
            if not error <= TOLERANCE:
                raise AssertionError(f"off by {error}")
        except Exception:
            traceback.print_exc()
            print(f"FAILED on rank {rank} of {size}: {name} ({path})", flush=True)
            return 1
    dist.destroy_process_group()
    return 0


def run_ranks(size: int, folder: Path, modules, compiled: bool) -> bool:
    children = []
    for rank in range(size):
        child = os.fork()
        if child == 0:
            os._exit(rank_main(rank, size, folder, modules, compiled))
        children.append(child)
    failed = False
    for _ in range(size):
        child, status = os.wait()
        children.remove(child)
        if status != 0 and not failed:
            failed = True
            for other in children:
                os.kill(other, 9)  # they wait for a rank that is gone
    return not failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutti")
    parser.add_argument("--programs", type=lambda text: text.split(","))
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--compile", action="store_true", help="through torch.compile")
    parser.add_argument("--parse", action="store_true", help="without PyTorch")
    parser.add_argument("--keep", type=Path, help="a folder for the modules, which stay")
    options = parser.parse_args()
    if not options.parse and not import_torch():
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        by_size: dict[int, list] = {}
        for number, (name, program, steps, numbers) in enumerate(cases(options.programs, options.ranks)):
            module, words = convert(options.tutti, folder, number, program, steps)
            if module is None:
                print(f"FAILED: {name} is not converted: {words}")
                return 1
            if options.parse:
                ast.parse(module.read_text())
            by_size.setdefault(math.prod(numbers["mesh"].values()), []).append((name, module, numbers))
        for size, modules in sorted(by_size.items()):
            if options.parse:
                continue
            if not run_ranks(size, folder, modules, options.compile):
                return 1
            print(f"{size} ranks: {len(modules)} modules within {TOLERANCE}")
    if options.parse:
        print(f"{sum(map(len, by_size.values()))} modules are Python")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Emitted PyTorch modules give the reference numbers on every rank: each program of tests/data/tensor, as written and under its legal
schedules, and the examples, as written and by their schedules and in pieces, on gloo with 1 to 4 ranks, in f64 within 1e-12; and overlaps
compute while their collectives are under way. Skipped (77) where PyTorch is not installed; never a dependency. --parse only looks whether
they are Python. --cases runs programs of tutti_random_programs (tests/emit/random_programs.cpp) instead.

    python3 tests/torch/run.py build/release/tutti [--parse] [--programs adam,moe] [--ranks 4] [--compile BACKEND] [--legal FILE] [--cases FILE]
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import traceback
from datetime import timedelta
from pathlib import Path

torch = dist = None  # imported by main
ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data/tensor"
sys.path.insert(0, str(ROOT / "python/tests"))  # tensor_meaning
TOLERANCE = 1e-12


def cases(programs: list[str] | None, ranks: int, legal: Path):
    """(name, program at the sizes of the numbers, steps, numbers)."""
    schedules = [json.loads(line) for line in legal.read_text().splitlines()]
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


def given_cases(path: Path, ranks: int):
    for line in path.read_text().splitlines():
        case = json.loads(line)
        if math.prod(case["numbers"]["mesh"].values()) <= ranks:
            yield case["name"], case["program"], case["steps"], case["numbers"]


# More than their schedules, for the examples: what else tuning finds for them, and overlaps.
MORE = {
    "matmul_block": [[("split", "sum"), ("reorder", "sum.ag"), ("overlap", ["mm", "sum.rs"], 3)], [("overlap", ["mm", "sum", "biased"], 5)]],
    "mlp": [[("fuse", ["biased", "out"]), ("overlap", ["mm2", "sum", "fused.biased"], 4)]],
    "pipeline_step": [[("split", "sum"), ("reorder", "sum.ag"), ("overlap", ["mm", "sum.rs", "stage_out", "sent", "sent.ag"], 3)]],
    "moe": [[("overlap", ["mm2", "combine"], 4)], [("overlap", ["mm2", "combine", "out"], 2)]],
}


def example_cases(programs: list[str] | None, ranks: int):
    """The same of the examples; numbers by numpy."""
    import numpy as np
    from tensor_meaning import evaluate

    for path in sorted((ROOT / "examples/tensor").glob("*.schedule.json")):
        name = path.name.removesuffix(".schedule.json")
        whole = json.loads(path.with_name(f"{name}.json").read_text())
        schedules = [None, json.loads(path.read_text())["steps"], *([step(*words) for words in steps] for steps in MORE.get(name, []))]
        axes = [axis for axis, _ in whole["mesh"]["axes"]]
        for mesh in ([(2,), (3,), (4,)] if len(axes) == 1 else [(1, 2), (3, 1), (2, 2)]):
            if math.prod(mesh) > ranks or (programs and name not in programs):
                continue
            sizes = {size: 12 if size in ("E", "A", "P", "C") else 103 if size == "N" else 24 + len(size) for size in whole["sizes"]}
            program = whole | {"mesh": {"axes": [list(pair) for pair in zip(axes, mesh)]}, "sizes": sizes}
            random = np.random.default_rng(len(name) + sum(mesh))
            at_sizes = [value | ({"shape": [sizes.get(size, size) for size in value["shape"]]} if "shape" in value else {}) for value in whole["values"]]
            arrays = {value["id"]: random.uniform(0.1, 1, ahead(value, program) + value["shape"]) * (1 if value.get("positive") else random.choice([-1, 1], ahead(value, program) + value["shape"]))
                      for value in at_sizes if value["op"] == "input"}
            outputs = [np.asarray(output, float) for output in evaluate(program | {"values": at_sizes}, arrays)[0]]
            numbers = {"mesh": dict(zip(axes, mesh)), "sizes": sizes, "inputs": {key: array.tolist() for key, array in arrays.items()},
                       "outputs": {key: array.tolist() for key, array in zip(program["outputs"], outputs)}}
            for number, steps in enumerate(schedules):
                yield f"example {name} on {'x'.join(map(str, mesh))}, schedule {number}", program, steps, numbers


def ahead(value, program) -> list[int]:
    """The dimensions of an array before the tensor's own: a rank for each, where the value is local."""
    return [size if value.get("layout", {}).get(axis) == "local" else 1 for axis, size in program["mesh"]["axes"]]


def step(do: str, what, pieces: int = 0):
    if do == "split":
        return {"do": do, "op": what, "into": "rs_ag", "dim": 0}
    if do == "fuse":
        return {"do": do, "ops": what}
    return {"do": do, "gather": what, "ops": "all"} if do == "reorder" else {"do": do, "chain": what, "pieces": pieces}


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


def overlapped(module, inputs, groups, coords) -> int:
    """How many collectives of a step were under way while something was computed."""
    from torch.distributed._functional_collectives import AsyncCollectiveTensor as Async
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    def storage(tensor):
        return (tensor.elem if isinstance(tensor, Async) else tensor).untyped_storage().data_ptr()

    class Watch(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.flying, self.hidden = {}, 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            made = function(*args, **(kwargs or {}))
            name = str(function)
            if "c10d_functional" in name and "wait_tensor" not in name:
                self.flying[storage(made)] = False
            elif not isinstance(made, Async):  # views of what is under way do not wait for it
                for used in tree_leaves((args, kwargs)):
                    if isinstance(used, Async):
                        self.hidden += self.flying.pop(storage(used), False)
                if any(word in name for word in ("aten.mm", "aten.bmm", "aten.add", "aten.mul", "aten.sub", "aten.div", "aten.maximum")):
                    self.flying = dict.fromkeys(self.flying, True)
            return made
    with Watch() as watch:
        for output in module.step(inputs, groups, coords, floats=torch.float64).values():
            del output
    return watch.hidden


def pieces_of(path: Path) -> int:
    """Of the overlaps in a module that have a dimension to cut; those with one rank have nothing to send."""
    text = path.read_text()
    return sum(int(found) - 1 for found in re.findall(r"# overlapped: .*\n(?:(?! +for turn).*\n)*? +for turn in range\(\d+\):\n +if turn < (\d+):", text))


def check(module, numbers, options) -> float:
    """The largest error of this rank's outputs, relative to the largest element. Pieces of overlaps must compute while collectives are under way; those of random programs may have nothing to compute."""
    groups, coords = module.make_groups(), module.coordinates()
    inputs = {name: own_part(module, name, array, coords) for name, array in numbers["inputs"].items()}
    step = torch.compile(module.step, backend=options.compile) if options.compile else module.step
    pieces = pieces_of(Path(module.__file__))
    if pieces and not options.cases and not options.compile and dist.get_world_size() > 1:
        hidden = overlapped(module, inputs, groups, coords)
        if hidden < pieces:
            raise AssertionError(f"{hidden} collectives are under way while something is computed, expected {pieces}")
    outputs = step(inputs, groups, coords, floats=None if options.declared else torch.float64)
    worst = 0.0
    for array, name in zip(numbers["outputs"].values(), numbers.get("names", outputs)):  # a schedule may rename outputs: out, out.ag
        output = outputs[name]
        layout = module.OUTPUTS[name][2]
        elsewhere = any(str(on).startswith("root") and int(on.split()[1]) != coords[axis] for axis, on in layout.items())
        if (output is None) != elsewhere:
            raise AssertionError(f"{name} is {output} where its layout is {layout}")
        if elsewhere:
            continue
        expected = own_part(module, name, array, coords)
        if output.shape != expected.shape:
            raise AssertionError(f"{name} has shape {tuple(output.shape)}, expected {tuple(expected.shape)}")
        if expected.numel():
            scale = max(1.0, torch.tensor(array, dtype=torch.float64).abs().max().item())
            worst = max(worst, (output.double() - expected).abs().max().item() / scale)
    module.store(inputs, outputs)
    return worst


def has_halves(module) -> bool:
    return bool(re.search(r"floats or torch\.b?float16", Path(module.__file__).read_text()))


def rank_main(rank: int, size: int, folder: Path, modules, options) -> int:
    """All modules for this many ranks, in one process for each rank."""
    failed = False
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet{size}", rank=rank, world_size=size, timeout=timedelta(seconds=120))
    made, new_group = {}, dist.new_group
    dist.new_group = lambda members: made.get(tuple(members)) or made.setdefault(tuple(members), new_group(members))  # connecting takes long
    for name, path, numbers in modules:
        words = ""
        try:
            error = check(module := load(path), numbers, options)
            if not error <= (TOLERANCE if not options.declared else math.inf if has_halves(module) else 1e-3):
                raise AssertionError(f"off by {error}")
        except Exception:
            words = traceback.format_exc()
            print(f"FAILED on rank {rank} of {size}: {name} ({path}): {words}", flush=True)
        on_all = [""] * size
        dist.all_gather_object(on_all, words)  # the next only together
        failed = failed or any(on_all)
    dist.destroy_process_group()
    return 1 if failed else 0


def run_ranks(size: int, folder: Path, modules, options) -> bool:
    children = []
    (folder / f"meet{size}").unlink(missing_ok=True)  # of a run before
    for rank in range(size):
        child = os.fork()
        if child == 0:
            os._exit(rank_main(rank, size, folder, modules, options))
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
    parser.add_argument("--compile", default="", metavar="BACKEND", help="through torch.compile: eager, aot_eager or inductor")
    parser.add_argument("--legal", type=Path, default=DATA / "legal.jsonl", help="schedules of the programs of tests/data/tensor")
    parser.add_argument("--cases", type=Path, help="programs with schedules and numbers, instead of those of tests/data/tensor and the examples")
    parser.add_argument("--declared", action="store_true", help="in the types that programs have, within 1e-3")
    parser.add_argument("--match", default="", help="only cases with this in their name")
    parser.add_argument("--examples", action="store_true", help="only the examples")
    parser.add_argument("--parse", action="store_true", help="without PyTorch")
    parser.add_argument("--keep", type=Path, help="a folder for the modules, which stay")
    options = parser.parse_args()
    if not options.parse and not import_torch():
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        failed, by_size = False, {}
        all_cases = itertools.chain([] if options.examples else cases(options.programs, options.ranks, options.legal), [] if options.parse else example_cases(options.programs, options.ranks))
        for number, (name, program, steps, numbers) in enumerate(given_cases(options.cases, options.ranks) if options.cases else all_cases):
            if options.match not in name:
                continue
            module, words = convert(options.tutti, folder, number, program, steps)
            if module is None:
                print(f"FAILED: {name} is not converted: {words}")
                failed = True
                continue
            if options.parse:
                ast.parse(module.read_text())
            by_size.setdefault(math.prod(numbers["mesh"].values()), []).append((name, module, numbers))
        for size, modules in sorted(by_size.items()):
            if options.parse:
                continue
            if not run_ranks(size, folder, modules, options):
                failed = True
                continue
            print(f"{size} ranks: {len(modules)} modules within {1e-3 if options.declared else TOLERANCE}")
    if options.parse:
        print(f"{sum(map(len, by_size.values()))} modules are Python")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Emitted PyTorch modules, exported by torch.export and imported again, are proven equivalent to the programs that they were made of (`tutti verify`): the examples, as
written and by their schedules, and the programs of tests/data/tensor. Skipped (77) where PyTorch is not installed.

    PYTHONPATH=python python3 tests/torch/round_trip.py build/release/tutti [--only adam]
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
from run import convert, load  # noqa: E402

torch = None  # imported by main
# Meshes and sizes at which every rank has parts of one size; what a graph says of unequal parts is padding.
MESHES = {"data": 2, "tensor": 2, "pipeline": 2, "expert": 2, "stage": 2}
# Why these do not come back: what an exported graph has instead.
CANNOT = {
    "random": "random numbers are integer arithmetic there, which tensor programs have not",
    "shift": "a rank that gets nothing has another graph",
    "pieces": "pieces of overlaps are slices at fixed places",
}


def cases():
    """(name, program, steps)."""
    for path in sorted((ROOT / "examples/tensor").glob("*.schedule.json")):
        name = path.name.removesuffix(".schedule.json")
        program = json.loads(path.with_name(f"{name}.json").read_text())
        yield f"{name}, as written", program, []
        yield f"{name}, its schedule", program, json.loads(path.read_text())["steps"]
    data = ROOT / "tests/data/tensor"
    programs = {path.stem: json.loads(path.read_text()) for path in (data / "programs").glob("*.json")}
    for line in (data / "legal.jsonl").read_text().splitlines():
        case = json.loads(line)
        yield f"dev {case['program']}, {case['name']}", programs[case["program"]], case["steps"]


def small(program):
    """With sizes that divide, as numbers: names of sizes do not come back."""
    axes = [[axis, MESHES[axis]] for axis, _ in program["mesh"]["axes"]]
    values = [value | {"shape": [16 if isinstance(size, str) else size for size in value["shape"]]} if "shape" in value else value for value in program["values"]]
    return program | {"mesh": {"axes": axes}, "sizes": {}, "values": values}


def reason(program, steps) -> str:
    """Why a module cannot come back, or nothing."""
    ops = {value["op"] for value in program["values"]}
    kinds = {step["do"] for step in steps}
    return "random" if "uniform" in ops else "shift" if "shift" in ops else "pieces" if "overlap" in kinds else ""


def imported(module, given):
    from tutti import torch_export

    names = list(module.INPUTS)

    def make(rank: int):
        groups, coords = module.make_groups(), module.coordinates()

        class Step(torch.nn.Module):
            def forward(self, *parts):
                return tuple(module.step(dict(zip(names, parts)), groups, coords).values())
        shapes = [(getattr(torch, {"f32": "float32", "f16": "float16", "f64": "float64", "bf16": "bfloat16", "i32": "int32"}[dtype]), shape) for dtype, shape, _ in module.INPUTS.values()]
        return Step(), tuple(module.own_part(name, torch.ones(shape, dtype=dtype), coords).clone() for name, (dtype, shape) in zip(names, shapes))
    ranks = 1
    for size in module.AXES.values():
        ranks *= size
    graphs = torch_export.export_ranks(make, ranks)
    seen = [spec.arg.name for spec in graphs[0].program.graph_signature.input_specs]
    layouts = {mine: layout for mine, (_, _, layout) in zip(seen, module.INPUTS.values())}
    returned = list(module.OUTPUTS)
    program = torch_export.from_torch(graphs, module.AXES, layouts, module.NAME,
                                      {seen[names.index(state)]: returned.index(output) for state, output in module.STATES.items()}).to_dict()
    return renamed(program, dict(zip(seen, names)), given)


def renamed(program, inputs, given):
    """With the inputs' own names, and what only their caller knows."""
    taken = {value["id"] for value in program["values"]} - inputs.keys()
    new = {name: inputs.get(name, f"_{name}" if name in inputs.values() and name in taken else name) for name in [value["id"] for value in program["values"]]}
    flags = {value["id"]: {key: value[key] for key in ("fixed", "positive", "state") if key in value} for value in given["values"] if value["op"] == "input"}
    values = [value | flags.get(new[value["id"]], {}) | {"id": new[value["id"]]} | ({"args": [new[arg] for arg in value["args"]]} if "args" in value else {}) for value in program["values"]]
    return program | {"values": values, "outputs": [new[name] for name in program["outputs"]]}


def main() -> int:
    global torch
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutti")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path, help="a folder for the modules and programs, which stay")
    options = parser.parse_args()
    os.environ["TUTTI_COMMAND"] = options.tutti
    try:
        torch = importlib.import_module("torch")
    except (ImportError, OSError, ValueError) as error:
        print(f"skipped: PyTorch is not installed ({error})")
        return 77
    from tutti import InputError

    proven, named, wrong = 0, 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for number, (name, whole, steps) in enumerate(cases()):
            if options.only not in name:
                continue
            program, why = small(whole), reason(whole, steps)
            path, words = convert(options.tutti, folder, number, program, steps)
            if path is None:
                print(f"FAILED: {name} is not converted: {words}")
                return 1
            try:
                made = imported(load(path), program)
            except InputError as error:
                named += bool(why)
                wrong += not why
                if not why:
                    print(f"FAILED: {name}: {error}")
                continue
            after = subprocess.run([options.tutti, "convert", *[file for file in (folder / f"{number}.program.json", folder / f"{number}.schedule.json") if file.exists()], "--to", "program",
                                    "-q", "-o", "-"], capture_output=True, text=True, check=True)
            made |= {key: json.loads(after.stdout)[key] for key in ("resharded",) if key in json.loads(after.stdout)}  # which a graph does not say
            back = folder / f"{number}.imported.json"
            back.write_text(json.dumps(made))
            judged = subprocess.run([options.tutti, "verify", folder / f"{number}.program.json", back], capture_output=True, text=True)
            if judged.returncode != 0 and not why:
                print(f"FAILED: {name}: {judged.stdout}{judged.stderr}")
                wrong += 1
            proven += judged.returncode == 0
            named += judged.returncode != 0 and bool(why)
    print(f"{proven} imported modules are proven equivalent; {named} do not come back ({'; '.join(CANNOT.values())})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

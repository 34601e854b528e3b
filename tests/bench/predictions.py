#!/usr/bin/env python3
"""What the tuner predicts beside what is measured: predictions.py TUTTI [--only NAME] [--schedules N] [--rounds N] [--calls N]

Calibrates this machine, and tunes programs of examples/tensor for two ranks of it on an emulated link. Of all schedules
that the tuner finds for a program, some are run, evenly spread over the predicted order, in rounds: the best and the
worst always. Prints, as Markdown, for each program and for all: how far predictions are off (quartiles), and Spearman's
correlation between the predicted and the measured order."""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Sizes, the axis with two ranks (others have one), and the link in GB/s, over which messages take about as long as computing.
PROGRAMS = {
    "sgd": ({"N": 4_000_000}, "data", 4), "adam": ({"N": 4_000_000}, "data", 4), "adam, in cache": ({"N": 300_000}, "data", 4), "lamb": ({"N": 2_000_000}, "data", 4),
    "matmul_block": ({"B": 768, "H": 768, "K": 2048}, "tensor", 0.2), "mlp": ({"B": 256, "H": 768, "F": 2048}, "tensor", 0.2),
    "attention": ({"S": 256, "H": 512, "A": 8, "D": 64}, "tensor", 0.2), "pipeline_step": ({"B": 512, "H": 768, "K": 1024}, "tensor", 0.2),
    "moe": ({"P": 2, "E": 4, "C": 128, "H": 512, "F": 1024}, "expert", 0.4),
}
LATENCY_US = 10


def output_of(command):
    result = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {result.stderr or result.stdout}")
    return json.loads(result.stdout)


def places(numbers):
    """The place of each in order, from 0; equal ones share the middle of theirs."""
    order = sorted(numbers)
    return [(order.index(number) + len(order) - 1 - order[::-1].index(number)) / 2 for number in numbers]


def spearman(a, b):
    return statistics.correlation(places(a), places(b)) if len(set(a)) > 1 and len(set(b)) > 1 else 1.0


def spread(items, count):
    """So many of them, the first and the last among them."""
    if len(items) <= count:
        return items
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


def words(steps):
    fused = [step for step in steps if step["do"] == "fuse"]
    others = {"split": lambda s: f"split {s['op']}", "reorder": lambda s: f"reorder {s['gather']}", "as_slice": lambda s: f"slice {s['tensor']}",
              "overlap": lambda s: f"overlap {' '.join(s['chain'])} in {s['pieces']}"}
    named = [others[step["do"]](step) for step in steps if step["do"] in others]
    if fused:
        named.append(f"fuse {len(fused)}")
    return ", ".join(named) or "as written"


def measured(options, folder, device, name):
    """Predicted and measured milliseconds of some schedules, and what they are."""
    sizes, axis, bandwidth = PROGRAMS[name]
    program = json.loads((ROOT / f"examples/tensor/{name.split(',')[0]}.json").read_text())
    program["sizes"].update(sizes)
    program["mesh"]["axes"] = [[of, 2 if of == axis else 1] for of, _ in program["mesh"]["axes"]]
    for value in program["values"]:
        if name == "attention" and value["id"] == "c1":
            value["value"] *= 1e-4  # scores near each other, as trained weights make them; exp of what is far below them takes three times as long
    file, topology = folder / "program.json", folder / "pair.json"
    file.write_text(json.dumps(program))
    topology.write_text(json.dumps({"kind": "ring", "npus": 2, "latency_ns": LATENCY_US * 1000, "bandwidth_GBps": bandwidth}))
    tuned = output_of([options.tutti, "tune", file, "--topology", topology, "--device", device, "--top", 1000, "--json", "--quiet"])
    found = sorted(tuned["schedules"], key=lambda one: one["predicted_us"])
    chosen = spread(found, options.schedules)
    times = [[] for _ in chosen]
    predicted = [0.0] * len(chosen)
    for _ in range(options.rounds):
        for i, one in enumerate(chosen):
            schedule = folder / "schedule.json"
            schedule.write_text(json.dumps({"tutti_tensor_schedule": 1, "program": program["name"], "steps": one["steps"]}))
            answer = output_of([options.tutti, "run", file, schedule, "--topology", topology, "--device", device, "--kernels", "compiled", "--iterations", options.calls,
                                "--no-reference", "--json", "--quiet"])
            times[i].append(answer["seconds"] * 1e3)
            predicted[i] = answer["predicted_seconds"] * 1e3
    return predicted, [statistics.median(of) for of in times], [words(one["steps"]) for one in chosen], len(found)


def quartiles(errors):
    low, middle, high = statistics.quantiles(errors, n=4, method="inclusive")
    return f"{100 * low:+.0f} % / {100 * middle:+.0f} % / {100 * high:+.0f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutti")
    parser.add_argument("--only", default="")
    parser.add_argument("--schedules", default=10, type=int)
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--calls", default=10, type=int)
    parser.add_argument("--each", action="store_true", help="print every schedule")
    options = parser.parse_args()
    print("Two ranks, an emulated link of 10 us; compiled kernels; medians of "
          f"{options.rounds} rounds of {options.calls} calls. Errors are predicted / measured - 1: a quarter is below the first, half below the second, a quarter above the third.\n")
    print("| program | schedules run, of | ms | off | within 20 % | rank correlation |\n| --- | --- | --- | --- | --- | --- |")
    errors, correlations, lines = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        device = folder / "here.json"
        subprocess.run([options.tutti, "run", "--calibrate", "-o", device, "--quiet"], check=True)
        for program in PROGRAMS:
            if options.only not in program:
                continue
            predicted, times, what, count = measured(options, folder, device, program)
            off = [p / t - 1 for p, t in zip(predicted, times)]
            errors += off
            correlations.append(spearman(predicted, times))
            print(f"| {program} | {len(off)}, {count} | {min(times):.2f} to {max(times):.2f} | {quartiles(off)} | {sum(abs(e) <= 0.2 for e in off)} | {correlations[-1]:.2f} |", flush=True)
            lines += [f"| {program} | {w} | {t:.2f} | {p:.2f} | {100 * e:+.0f} % |" for w, t, p, e in zip(what, times, predicted, off)]
        made = json.loads(device.read_text())
    print(f"| all | {len(errors)} | | {quartiles(errors)} | {sum(abs(e) <= 0.2 for e in errors)} | {statistics.median(correlations):.2f} in the middle, {min(correlations):.2f} at least |\n")
    print(f"The device, as calibrated: `{json.dumps(made)}`.\n")
    if options.each:
        print("| program | schedule | ms | predicted | off |\n| --- | --- | --- | --- | --- |")
        print("\n".join(lines))


main()

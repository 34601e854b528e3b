#!/usr/bin/env python3
"""The tensor programs of examples/tensor, tuned for a DGX-1, an A100 node and a cluster of 32 H100 on rails: predicted times as written, with fused computation only,
and of the best schedule, as a table for results/examples.md.

    scripts/bench examples [--only NAME] [--time-limit SECONDS]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples/tensor"
# The topology, the device, the ranks.
CLUSTERS = {"DGX-1": ("dgx1", "v100-device", 8), "8 x A100": ("a100", "a100-device", 8), "4 x 8 H100 on rails": ("rails", "h100-device", 32)}
# Sizes as in practice: 340 million parameters, or one layer of a large model.
N = {"N": 340_000_000}
PROGRAMS = {
    "sgd": (N, ["data"]), "adam": (N, ["data"]), "adam_f16": (N, ["data"]), "lamb": (N, ["data"]),
    "matmul_block": ({"B": 8192, "H": 3072, "K": 3072}, ["tensor"]),
    "mlp": ({"B": 8192, "H": 4096, "F": 16384}, ["data", "tensor"]),
    "attention": ({"S": 2048, "H": 4096, "A": 32, "D": 128}, ["tensor"]),
    "pipeline_step": ({"B": 4096, "H": 12288, "K": 12288}, ["pipeline", "tensor"]),
    "moe": ({"E": 64, "C": 128, "H": 2048, "F": 8192}, ["expert"]),
}


def at_scale(name: str, ranks: int) -> dict:
    """The example with these sizes and so many ranks: on two axes, four or eight in the inner one."""
    program = json.loads((EXAMPLES / f"{name}.json").read_text())
    sizes, axes = PROGRAMS[name]
    inner = 8 if ranks == 32 else 4
    mesh = [[axes[0], ranks]] if len(axes) == 1 else [[axes[0], ranks // inner], [axes[1], inner]]
    return program | {"mesh": {"axes": mesh}, "sizes": program["sizes"] | sizes | ({"P": ranks} if "P" in program["sizes"] else {})}


def short(steps: list[dict]) -> str:
    """Its steps, without the values that they move."""
    words, fused = [], sum(step["do"] == "fuse" for step in steps)
    for step in steps:
        if step["do"] == "split":
            words.append(f"split {step['op']}")
        elif step["do"] == "reorder":
            words.append(f"reorder {step['gather']}")
        elif step["do"] == "as_slice":
            words.append(f"slice {step['tensor']}")
        elif step["do"] == "overlap":
            words.append(f"overlap {' '.join(step['chain'])} in {step['pieces']}")
    if fused:
        words.insert(len(words) - sum(step["do"] == "overlap" for step in steps), f"fuse {fused} kernel{'s' if fused > 1 else ''}")
    return ", ".join(words) or "as written"


def milliseconds(us: float) -> str:
    return f"{us / 1000:.3g}" if us < 1e5 else f"{us / 1000:.0f}"


def row(name: str, cluster: str, answer: dict) -> str:
    best = answer["schedules"][answer["best"]]
    compute = [one["predicted_us"] for one in answer["schedules"] if all(step["do"] == "fuse" for step in one["steps"])]
    gaps = [call["gap"] for call in answer["collectives"] if call["gap"] is not None]
    return " | ".join(["", name, cluster, milliseconds(answer["unscheduled_us"]), milliseconds(min(compute)) if compute else "", milliseconds(best["predicted_us"]),
                       f"{answer['unscheduled_us'] / best['predicted_us']:.2f}", f"{100 * max(gaps, default=0):.1f} %", f"{best['state_bytes'] / 1e9:.2f}", short(best["steps"]),
                       f"{answer['seconds']:.1f}", ""]).strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutti")
    parser.add_argument("--only", default="")
    parser.add_argument("--time-limit", type=float, default=60)
    options = parser.parse_args()
    print("| program | cluster | as written, ms | fused, ms | best, ms | gain | gap | state, GB | best schedule | search, s |\n|---|---|---:|---:|---:|---:|---:|---:|---|---:|")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            if options.only not in name:
                continue
            for cluster, (topology, device, ranks) in CLUSTERS.items():
                path = Path(folder) / f"{name}.json"
                path.write_text(json.dumps(at_scale(name, ranks)))
                words = [options.tutti, "tune", path, "--topology", EXAMPLES / f"clusters/{topology}.json", "--device", EXAMPLES / f"clusters/{device}.json", "--top", "1000",
                         "--time-limit", str(options.time_limit), "--json", "--quiet"]
                done = subprocess.run(words, capture_output=True, text=True)
                if done.returncode != 0:
                    print(f"{name} on {cluster}: {done.stderr.strip() or done.stdout.strip()}", file=sys.stderr)
                    failed = 1
                    continue
                print(row(name, cluster, json.loads(done.stdout)), flush=True)
    print("\nGain: as written / best. Fused: pointwise values as few kernels, nothing else changed. Gap: of the collective that is farthest from its lower bound. State: of a rank.")
    return failed


if __name__ == "__main__":
    sys.exit(main())

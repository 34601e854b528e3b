#!/usr/bin/env python3
"""All-reduce: is `tutti synth` ever longer than a textbook algorithm?

For networks, numbers of ranks and sizes, each named heuristic is run alone and `tutti synth` with a time limit. On full
networks and cut-through stars the algorithms' times are known in closed form, so these are compared as well, which does
not depend on our own implementation of them. Prints a Markdown table; exit code 1 if synth was longer anywhere.

usage: textbook.py TUTTI [--ranks 8,16] [--sizes 1K,...] [--networks ring,...] [--time-limit 5]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from math import log2
from pathlib import Path

HEURISTICS = ["ring", "two-levels", "crossbar-rounds", "switch-sums", "recursive-doubling", "recursive-multiplying",
              "all-pairs", "direct-exchange", "halving-doubling", "two-way-ring", "double-trees", "two-level-trees",
              "grown-trees"]
WIRE = {"latency_ns": 500, "bandwidth_GBps": 50}
SLOW = {"latency_ns": 1500, "bandwidth_GBps": 25}
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def grid(ranks):
    """The two sides of a grid that is as square as powers of two can be."""
    side = 1 << (ranks.bit_length() // 2)
    return [ranks // side, side]


NETWORKS = {
    "ring": lambda n: {"kind": "ring", "npus": n, **WIRE},
    "torus": lambda n: {"kind": "torus", "dims": grid(n), **WIRE},
    "mesh": lambda n: {"kind": "mesh", "dims": grid(n), **WIRE},
    "hypercube": lambda n: {"kind": "hypercube", "dimensions": int(log2(n)), **WIRE},
    "full": lambda n: {"kind": "full", "npus": n, **WIRE},
    "star": lambda n: {"kind": "star", "npus": n, **WIRE},
    "star-cut-through": lambda n: {"kind": "star", "npus": n, "cut_through": True, **WIRE},
    "star-copies": lambda n: {"kind": "star", "npus": n, "cut_through": True, "copy": True, **WIRE},
    "star-sums": lambda n: {"kind": "star", "npus": n, "cut_through": True, "copy": True, "reduce": True, **WIRE},
    "rail": lambda n: {"kind": "rail", "nodes": n // 4, "npus_per_node": 4, "node_wire": WIRE, "rail_wire": SLOW,
                       "cut_through": True},
    "fat-tree": lambda n: {"kind": "fat_tree", "k": 4 if n in (16, 64) else 2,
                           "n": {16: 2, 64: 3}.get(n, int(log2(n))), "cut_through": True, **WIRE},
    "dgx1": lambda n: {"kind": "dgx1", **WIRE} if n == 8 else
    {"kind": "cluster", "nodes": n // 8, "node": {"kind": "dgx1", **WIRE}, "network": {"kind": "star", **SLOW}},
}


def bytes_of(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def run(tutti, path, *options):
    """The makespan in ticks; None if there is no schedule."""
    done = subprocess.run([tutti, "synth", path, "--json", "-q", "-o", "/dev/null", *options], capture_output=True,
                          text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if done.returncode in (2, 3, 4):  # it does not apply, found nothing
        return None
    sys.exit(f"{path} {' '.join(options)}: exit {done.returncode}\n{done.stderr}")


def formulas(network, ranks, chunk):
    """The algorithms' times in ticks, where latency and the ports are all that counts."""
    if network not in ("full", "star-cut-through"):
        return {}
    star = network != "full"
    alpha = 500_000 * (2 if star else 1)
    beta = -(-chunk * 1000 // 50)
    rounds = ranks.bit_length() - 1
    others = (ranks - 1) * beta if star else beta  # one chunk to or from each of the others
    return {
        "recursive doubling": rounds * (alpha + ranks * beta),
        "halving and doubling": 2 * rounds * alpha + 2 * (ranks - 1) * beta,
        "ring": 2 * (ranks - 1) * (alpha + beta),
        "direct": 2 * (alpha + others),
        "all pairs": alpha + ranks * others,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tutti")
    parser.add_argument("--ranks", default="8,16")
    parser.add_argument("--sizes", default="1K,16K,256K,4M,64M,1G")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--time-limit", default="5")
    args = parser.parse_args()
    worse = 0
    print("| network | ranks | size | synth (us) | by | gap | best alone (us) | by | shortest in closed form |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for network in args.networks.split(","):
            for ranks in map(int, args.ranks.split(",")):
                for size in args.sizes.split(","):
                    chunk = max(1, bytes_of(size) // ranks)
                    path = Path(folder, f"{network}{ranks}-{size}.json")
                    path.write_text(json.dumps({
                        "tutti": 1, "name": path.stem, "topology": {"generate": NETWORKS[network](ranks)},
                        "collectives": [{"kind": "all_reduce", "chunk_bytes": chunk}]}))
                    found = run(args.tutti, str(path), "--time-limit", args.time_limit)
                    if found is None:
                        sys.exit(f"{path.stem}: no schedule")
                    alone = {}
                    for name in HEURISTICS:
                        result = run(args.tutti, str(path), "--heuristic", name)
                        if result:
                            alone[name] = result["makespan"]
                    best = min(alone, key=alone.get) if alone else None
                    books = formulas(network, ranks, chunk)
                    book = min(books, key=books.get) if books else None
                    # Messages of one chunk that pass a switch at one tick are told apart by a tick of 1 ps.
                    slack = ranks**3
                    limit = alone[best] if best else found["makespan"]
                    if book:
                        limit = min(limit, books[book] + slack)
                    late = found["makespan"] > limit
                    worse += late
                    print(f"| {network} | {ranks} | {size} | {found['makespan'] / 1e6:.3f} | "
                          f"{found.get('heuristic') or found['method']} | {100 * (found['gap'] or 0):.1f} % | "
                          f"{f'{alone[best] / 1e6:.3f}' if best else ''} | {best} | "
                          f"{f'{books[book] / 1e6:.3f} {book}' if book else ''} |{' LONGER' if late else ''}", flush=True)
    print(f"\n{worse} longer than a textbook algorithm")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())

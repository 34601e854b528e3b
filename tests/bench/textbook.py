#!/usr/bin/env python3
"""All-reduce: is `tutti synth` ever longer than a textbook algorithm?

For networks, numbers of ranks and sizes, each named heuristic is run alone and `tutti synth` with a time limit. On most
networks the times of some algorithms (ring, halving and doubling, recursive doubling, direct, all pairs, trees,
hierarchical) are known in closed form, so these are compared as well, which does not depend on our own implementation of
them. Where synth meets its bound nothing can be shorter, and no heuristic is run alone. Networks that do not exist with so
many ranks are left out. Prints a Markdown table; exit code 1 if synth was longer anywhere.

usage: textbook.py TUTTI [--ranks 8,16,32,64] [--sizes 1K,...] [--networks ring,...] [--time-limit 5]
                   [--screen SECONDS] [--formulas]
--screen: synth has less time first, and all of it only where it was longer. --formulas: closed forms only, no heuristic is
run alone. Both together take minutes where the whole takes hours.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from math import log2
from pathlib import Path

HEURISTICS = ["ring", "two-levels", "crossbar-rounds", "switch-sums", "recursive-doubling", "recursive-multiplying",
              "folded-exchange", "dimension-exchange", "all-pairs", "direct-exchange", "halving-doubling", "two-way-ring",
              "double-trees", "two-level-trees", "grown-trees"]
WIRE = {"latency_ns": 500, "bandwidth_GBps": 50}
SLOW = {"latency_ns": 1500, "bandwidth_GBps": 25}
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def grid(ranks):
    """The two sides of a grid that is nearly square; powers of two for such numbers of ranks."""
    side = 1 << (ranks.bit_length() // 2)
    while ranks % side:
        side -= 1
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


def exists(network, ranks):
    """Whether the network can have so many ranks."""
    power = ranks & (ranks - 1) == 0
    return {"hypercube": power, "fat-tree": power, "rail": ranks % 4 == 0, "dgx1": ranks % 8 == 0}.get(network, True)


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
    alpha, slow_alpha = 500_000, 1_500_000
    beta, slow_beta = -(-chunk * 1000 // 50), -(-chunk * 1000 // 25)
    rounds, steps = ranks.bit_length() - 1, ranks - 1

    def ring(hops):
        return 2 * steps * (hops * alpha + beta)

    def halving_doubling(hops):
        return 2 * rounds * hops * alpha + 2 * steps * beta

    if ranks & steps:  # some are for powers of two only
        if network == "ring":
            return {"ring": ring(1)}
        if network == "star":
            return {"ring": 2 * steps * 2 * (alpha + beta), "direct": 2 * (2 * alpha + beta + steps * beta)}
        if network != "full" and not network.startswith("star"):
            return {}
        hops, others = (1, beta) if network == "full" else (2, steps * beta)
        return {"ring": ring(hops), "direct": 2 * (hops * alpha + others), "all pairs": hops * alpha + ranks * others}
    if network in ("ring", "mesh", "dgx1"):
        return {"ring": ring(1)} if network == "ring" else {}
    if network == "torus":
        a, b = grid(ranks)
        return {"ring in each dimension": 2 * ((b - 1) * (alpha + a * beta) + (a - 1) * (alpha + beta))}
    if network == "hypercube":
        return {"ring": ring(1), "halving and doubling": halving_doubling(1),
                "recursive doubling": rounds * (alpha + ranks * beta)}
    if network == "rail":  # hierarchical: in the nodes, along the rails, in the nodes
        nodes = ranks // 4
        inner = 2 * alpha + 3 * nodes * beta
        outer = 4 * (nodes.bit_length() - 1) * slow_alpha + 2 * (nodes - 1) * slow_beta
        return {"hierarchical": 2 * inner + outer}
    if network == "fat-tree":
        tree = NETWORKS[network](ranks)
        return {"ring": ring(2 * tree["n"]), "halving and doubling": halving_doubling(2 * tree["n"])}
    if network == "star":  # it stores: the bytes are paid on both links of a message
        return {"ring": 2 * steps * 2 * (alpha + beta), "direct": 2 * (2 * alpha + beta + steps * beta)}
    hops = 1 if network == "full" else 2
    others = beta if network == "full" else steps * beta  # one chunk to or from each of the others
    depth = 2 * rounds
    return {
        "recursive doubling": rounds * (hops * alpha + ranks * beta),
        "halving and doubling": halving_doubling(hops),
        "ring": ring(hops),
        "direct": 2 * (hops * alpha + others),
        "all pairs": hops * alpha + ranks * others,
        "binomial tree": depth * (hops * alpha + ranks * beta),
        "two binary trees": 2 * depth * (hops * alpha + beta) + 2 * ranks * beta,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tutti")
    parser.add_argument("--ranks", default="8,16,32,64")
    parser.add_argument("--sizes", default="1K,16K,256K,4M,64M,1G")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--time-limit", default="5")
    parser.add_argument("--screen")
    parser.add_argument("--formulas", action="store_true")
    args = parser.parse_args()
    worse = 0
    print("| network | ranks | size | synth (us) | by | gap | best alone (us) | by | shortest in closed form |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for network in args.networks.split(","):
            for ranks in filter(lambda n: exists(network, n), map(int, args.ranks.split(","))):
                for size in args.sizes.split(","):
                    chunk = max(1, bytes_of(size) // ranks)
                    path = Path(folder, f"{network}{ranks}-{size}.json")
                    path.write_text(json.dumps({
                        "tutti": 1, "name": path.stem, "topology": {"generate": NETWORKS[network](ranks)},
                        "collectives": [{"kind": "all_reduce", "chunk_bytes": chunk}]}))
                    books = formulas(network, ranks, chunk)
                    book = min(books, key=books.get) if books else None
                    alone = best = None
                    for seconds in dict.fromkeys(filter(None, (args.screen, args.time_limit))):
                        found = run(args.tutti, str(path), "--time-limit", seconds)
                        if found is None:
                            sys.exit(f"{path.stem}: no schedule")
                        if alone is None and found["gap"] and not args.formulas:
                            alone = {name: result["makespan"] for name in HEURISTICS
                                     if (result := run(args.tutti, str(path), "--heuristic", name))}
                            best = min(alone, key=alone.get) if alone else None
                        # Messages of one chunk that pass a switch at one tick are told apart by a tick of 1 ps.
                        slack = ranks**3
                        limit = alone[best] if best else found["makespan"]
                        if book:
                            limit = min(limit, books[book] + slack)
                        late = found["makespan"] > limit
                        if not late:
                            break
                    worse += late
                    print(f"| {network} | {ranks} | {size} | {found['makespan'] / 1e6:.3f} | "
                          f"{found.get('heuristic') or found['method']} | {100 * (found['gap'] or 0):.1f} % | "
                          f"{f'{alone[best] / 1e6:.3f}' if best else ''} | {best or ''} | "
                          f"{f'{books[book] / 1e6:.3f} {book}' if book else ''} |{' LONGER' if late else ''}", flush=True)
    print(f"\n{worse} longer than a textbook algorithm")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())

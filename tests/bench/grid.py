#!/usr/bin/env python3
"""How far from their bounds are schedules on clusters?

Writes a grid of instances (rails, NVSwitch nodes on fat trees, fat trees, dragonflies, stars; every kind of collective, in
one chunk or several; jobs that share a cluster) and runs `tutti synth` on each, with a time limit and on one thread. Prints
a line for each and the mean gap by family and kind as Markdown tables. The numbers are those of datasheets: H100 nodes with
450 GB/s inside and 50 GB/s to each rail, A100 nodes with 300 and 25, trees that are non-blocking (nb) or halve the
bandwidth above the leaves (os2).

usage: grid.py TUTTI [--slice 1/4] [--only REGEX] [--time-limit 10] [--write FOLDER] [--list]
--slice i/n takes one of n parts, each spread over all families and kinds; --write keeps the instances.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

KIB, MIB = 1 << 10, 1 << 20
KINDS = {"ag": "all_gather", "rs": "reduce_scatter", "ar": "all_reduce", "a2a": "all_to_all", "bc": "broadcast"}
# What a rank's share, a root's buffer or a pair's message is cut into.
CHUNKS = {"ag": (1, 4), "rs": (1, 4), "ar": (1, 4), "a2a": (1, 4), "bc": (1, 4, 16)}


def wire(latency, bandwidth):
    return {"latency_ns": latency, "bandwidth_GBps": bandwidth}


def rail(nodes, inner, outer, **rules):
    return {"kind": "rail", "nodes": nodes, "npus_per_node": 8, "node_wire": wire(*inner), "rail_wire": wire(*outer),
            "cut_through": True, **rules}


def fat_tree(k, n, latency, upper):
    levels = [50] + [upper] * (n - 1)
    return {"kind": "fat_tree", "k": k, "n": n, "latency_ns": latency, "bandwidth_GBps": levels, "cut_through": True}


def nodes_on_fat_tree(nodes, upper):
    """Eight planes would be rails: all NICs are hosts of one tree."""
    k = {2: 4, 8: 8}[nodes]  # a tree of two levels has k^2 hosts
    return {"kind": "cluster", "nodes": nodes, "planes": "shared",
            "node": {"kind": "star", "npus": 8, **wire(400, 450), "cut_through": True},
            "network": fat_tree(k, 2, [1000, 500], upper)}


def dragonfly(groups, routers, npus, links):
    return {"kind": "dragonfly", "groups": groups, "routers_per_group": routers, "npus_per_router": npus,
            "global_links_per_router": links, **wire(300, 50), "global_wire": wire(1500, 50), "cut_through": True}


def networks():
    """(family, name, topology, bytes of a share, of a broadcast)"""
    for nodes in (2, 4, 8, 16, 32):
        yield "rails", f"h100x{nodes}", rail(nodes, (400, 450), (1000, 50)), 4 * MIB, 16 * MIB
    for nodes in (2, 4, 8, 16):
        yield "rails", f"a100x{nodes}", rail(nodes, (500, 300), (1500, 25)), 4 * MIB, 16 * MIB
    for spine, upper in (("nb", 50), ("os2", 25)):
        for nodes in (2, 8):
            yield "ft", f"ft{nodes}x8-{spine}", nodes_on_fat_tree(nodes, upper), 4 * MIB, 16 * MIB
        for k, n in ((4, 2), (8, 2), (4, 3)):
            tree = fat_tree(k, n, [500] * n, upper)
            yield f"fat-{spine}", f"fat{k}x{n}-{spine}", tree, MIB, 16 * MIB
    yield "df", "df5x4x2", dragonfly(5, 4, 2, 1), MIB, 4 * MIB
    yield "df", "df9x4x2", dragonfly(9, 4, 2, 2), MIB, 4 * MIB
    for npus in (8, 16, 32):
        for name, cut_through in (("star", True), ("starsf", False)):
            star = {"kind": "star", "npus": npus, **wire(600, 50), "cut_through": cut_through}
            yield "star", f"{name}{npus}", star, 256 * KIB, 4 * MIB


def instance(name, topology, collectives, groups=None):
    value = {"tutti": 1, "name": name, "topology": {"generate": topology}, "collectives": collectives}
    if groups:
        value["groups"] = groups
    return value


def collective_grid():
    for family, network, topology, share, whole in networks():
        for kind in KINDS:
            if family == "star" and kind in ("rs", "a2a"):
                continue
            for chunks in CHUNKS[kind]:
                size = {"bc": whole, "a2a": 256 * KIB}.get(kind, share) // chunks
                collective = {"id": kind, "kind": KINDS[kind], "chunk_bytes": size, "chunks": chunks}
                name = f"{network}-{kind}-c{chunks}"
                yield family, kind, instance(name, topology, [collective])


def experts(npus, seed):
    """Tokens of each rank for each expert: some experts are popular."""
    rng = random.Random(seed)
    favour = [rng.choice((1, 2, 3, 6, 12)) for _ in range(npus)]
    return [[0 if u == v else max(0, favour[v] + rng.randint(-2, 2)) for v in range(npus)] for u in range(npus)]


def jobs():
    """Tensor- and data-parallel groups at once, MoE, and a job on half of each node."""
    for network, inner, outer in (("h100", (400, 450), (1000, 50)), ("a100", (500, 300), (1500, 25))):
        for nodes in (4, 8, 16):
            mesh = {"mesh": {"axes": [["dp", nodes], ["tp", 8]]}}
            groups = {axis: {**mesh, "along": axis} for axis in ("tp", "dp")}
            topology = rail(nodes, inner, outer)
            both = [{"id": axis, "kind": "all_reduce", "group": axis, "chunk_bytes": 4 * MIB} for axis in ("tp", "dp")]
            yield "jobs", "tp+dp", instance(f"{network}x{nodes}-tp-ar-dp-ar", topology, both, groups)
        moe = [{"id": "moe", "kind": "all_to_all_v", "counts": experts(32, 1), "chunk_bytes": 32 * KIB}]
        yield "jobs", "moe", instance(f"{network}x4-moe-a2av", rail(4, inner, outer), moe)
        half = {"half": [8 * node + npu for node in range(8) for npu in range(4)]}
        for kind in ("ar", "ag"):
            job = [{"id": kind, "kind": KINDS[kind], "chunk_bytes": 4 * MIB, "group": "half"}]
            yield "jobs", "half", instance(f"{network}x8-half-{kind}", rail(8, inner, outer), job, half)


def chosen(args):
    part, parts = map(int, args.slice.split("/"))
    rows = defaultdict(list)
    for family, kind, value in [*collective_grid(), *jobs()]:
        if not args.only or re.search(args.only, value["name"]):
            rows[family, kind].append(value)
    for number, ((family, kind), values) in enumerate(rows.items()):
        # In their own order a slice would have one chunk count only.
        mixed = random.Random(1).sample(values, len(values))
        for turn, value in enumerate(mixed, start=number):
            if turn % parts == part % parts:
                yield family, kind, value


def table(gaps):
    kinds = list(dict.fromkeys(kind for _, kind in gaps))
    print("\n| mean gap in % (instances) |", " | ".join(kinds), "| all |")
    print("| --- |" + " --- |" * (len(kinds) + 1))
    for family in [*dict.fromkeys(family for family, _ in gaps), "all"]:
        cells = []
        for kind in [*kinds, "all"]:
            found = [gap for (f, k), some in gaps.items() for gap in some
                     if family in (f, "all") and kind in (k, "all")]
            cells.append(f"{100 * sum(found) / len(found):.1f} ({len(found)})" if found else "")
        print(f"| {family} |", " | ".join(cells), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tutti")
    parser.add_argument("--slice", default="1/1")
    parser.add_argument("--only")
    parser.add_argument("--time-limit", default="10")
    parser.add_argument("--write")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    gaps = defaultdict(list)
    if not args.list:
        print("| instance | makespan (us) | bound (us) | gap in % | bound by | schedule by |")
        print("| --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(args.write or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for family, kind, value in chosen(args):
            if args.list:
                print(family, kind, value["name"])
                continue
            path = folder / f"{value['name']}.json"
            path.write_text(json.dumps(value))
            done = subprocess.run([args.tutti, "synth", str(path), "--json", "-q", "-o", "/dev/null", "--threads", "1",
                                   "--time-limit", args.time_limit], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{path.stem}: exit {done.returncode}\n{done.stderr}")
            found = json.loads(done.stdout)
            gaps[family, kind].append(found["gap"])
            print(f"| {path.stem} | {found['makespan'] / 1e6:.3f} | {found['lower_bound'] / 1e6:.3f} | "
                  f"{100 * found['gap']:.2f} | {found['bound_kind']} | {found.get('heuristic') or found['method']} |",
                  flush=True)
    if gaps:
        table(gaps)


if __name__ == "__main__":
    main()

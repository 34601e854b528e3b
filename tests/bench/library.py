#!/usr/bin/env python3
"""Is `tutti synth` ever longer than a hand-written algorithm of the library?

For networks, numbers of ranks, kinds of collectives and sizes, `tutti algorithms` times the library with its best
parameters. The fastest program whose chunks are those of an instance is held against `tutti synth` on that instance, in
chunks of the same size. Prints a Markdown table; exit code 1 if synth was longer anywhere. The column `by` says what made
the schedule of synth: `library NAME` where it was an algorithm of the library that the heuristics had not reached.

usage: library.py TUTTI [--ranks 8,16] [--sizes 1K,1M,1G] [--networks ring,...] [--kinds all_reduce,...] [--time-limit 5]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from textbook import NETWORKS, bytes_of


def run(command):
    """What the command prints as JSON; None where it says that it cannot be."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if done.returncode in (2, 3, 4):
        return None
    sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")


def best_program(compared, size, ranks):
    """The fastest program that cuts the data as an instance does: (makespan, name, chunks of a rank's share)."""
    found = None
    for program in compared["algorithms"]:
        chunks = program["chunks"]
        shares = chunks // ranks if chunks % ranks == 0 else 1 if ranks % chunks == 0 else None
        time = next(row["makespan"] for row in program["sizes"] if row["bytes"] == size)
        if shares and (found is None or time < found[0]):
            found = (time, program["name"], shares)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tutti")
    parser.add_argument("--ranks", default="8,16,32,64")
    parser.add_argument("--sizes", default="1K,64K,1M,64M,1G")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--kinds", default="all_reduce,all_gather,reduce_scatter,all_to_all")
    parser.add_argument("--time-limit", default="5")
    args = parser.parse_args()
    longer = rows = 0
    print("| network | ranks | collective | size | library (us) | which | synth (us) | by | gap |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for network in args.networks.split(","):
            for ranks in map(int, args.ranks.split(",")):
                topology = Path(folder, f"{network}{ranks}.json")
                topology.write_text(json.dumps(NETWORKS[network](ranks)))
                for kind in args.kinds.split(","):
                    compared = run([args.tutti, "algorithms", "--topology", str(topology), "--bytes", args.sizes,
                                    "--collective", kind, "--json", "-q"])
                    instance = Path(folder, f"{network}{ranks}-{kind}.json")
                    instance.write_text(json.dumps({
                        "tutti": 1, "name": instance.stem, "topology": {"generate": NETWORKS[network](ranks)},
                        "collectives": [{"kind": kind, "chunk_bytes": 1}]}))
                    for size in args.sizes.split(","):
                        best = compared and best_program(compared, bytes_of(size), ranks)
                        if not best:
                            continue
                        time, name, shares = best
                        found = run([args.tutti, "synth", str(instance), "--json", "-q", "-o", str(Path(folder, "schedule.json")),
                                     "--time-limit", args.time_limit, "--bytes", str(bytes_of(size)),
                                     "--chunks", str(shares)])
                        # Messages of one chunk that pass a switch at one tick are told apart by a tick of 1 ps.
                        late = found is None or found["makespan"] > time + ranks**3
                        longer += late
                        rows += 1
                        print(f"| {network} | {ranks} | {kind} | {size} | {time / 1e6:.3f} | {name} | "
                              + (f"{found['makespan'] / 1e6:.3f} | {found.get('heuristic') or found['method']} | "
                                 f"{100 * (found['gap'] or 0):.1f} % |" if found else "none | | |")
                              + (" LONGER" if late else ""), flush=True)
    print(f"\n{longer} of {rows} longer than a program of the library")
    return 1 if longer else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Plans on real data: data.py TUTTI [--ranks 2,4,8] [--bytes LIST] [--rounds N]

Prints, as Markdown, engine 1 beside a loop that reads every input and writes every output once (the limit of memory),
with one thread and with all, and both engines beside MPI_Allreduce in as many processes: medians and quartiles of
ratios of paired rounds. Every element is checked. Without MPI only the first."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def size_text(size):
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def ratio(variant):
    return "{median:.2f} [{q1:.2f}-{q3:.2f}]".format(**variant["ratio"])


def measured(command):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    result = subprocess.run([*map(str, command), "--json", "--quiet"], capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {result.stderr}")
    return json.loads(result.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutti")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--bytes", default="4K,64K,1M,16M,64M")
    parser.add_argument("--rounds", default=9, type=int)
    options = parser.parse_args()
    tutti = Path(options.tutti).resolve()
    ranks = [int(number) for number in options.ranks.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        plans = {}
        for algorithm in ("ring", "all-pairs"):
            for number in ranks:
                plans[algorithm, number] = file = Path(folder) / f"{algorithm}-{number}.xml"
                subprocess.run([tutti, "compile", algorithm, "--ranks", str(number), "--mode", "in-place", "-o", file, "--quiet"], check=True)
        common = ["--bytes", options.bytes, "--rounds", options.rounds]

        print("All ranks in one process, all-reduce of f32 in place: time / that of a loop that reads every input and writes every output once, median [quartiles].\n")
        print("| plan | ranks | threads | size | limit (us) | pieces (us) | pieces / limit | ns per op |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
        for (algorithm, number), file in plans.items():
            for threads in sorted({1, os.cpu_count()}):
                for row in measured([tutti, "bench", file, "--against", "memory", "--threads", threads, *common])["rows"]:
                    pieces = row["variants"]["pieces"]
                    print(f"| {algorithm} | {number} | {threads} | {size_text(row['bytes'])} | {row['yardstick_us']:.1f} | {pieces['median_us']:.1f} | {ratio(pieces)} "
                          f"| {1000 * pieces['median_us'] / row['steps']:.1f} |", flush=True)
        if not shutil.which("mpirun"):
            print("\nThere is no mpirun here.")
            return
        print()
        for position, ((algorithm, number), file) in enumerate(plans.items()):
            table = measured(["mpirun", "-n", number, tutti, "bench", file, "--against", "mpi", *common])
            if position == 0:
                print(f"One process for each rank, all-reduce of f32 in place: time of MPI_Allreduce ({table['yardstick']}) / ours, median [quartiles]; every rank rewrites its buffers "
                      "before each call.\n")
                print("| plan | ranks | size | MPI (us) | pieces | streams | private arrays |\n| --- | --- | --- | --- | --- | --- | --- |")
            for row in table["rows"]:
                variants = row["variants"]
                print(f"| {algorithm} | {number} | {size_text(row['bytes'])} | {row['yardstick_us']:.1f} | {ratio(variants['pieces'])} | {ratio(variants['streams'])} "
                      f"| {ratio(variants['private'])} |", flush=True)


main()
